#!/bin/bash
# Submit three jobs, each of which waits for the one before: check a case, run it, write the report.
#     bash chain.sh case.toml results
set -e
case=$1 results=$2
one="--ntasks=1 --time=00:15:00"
check=$(sbatch --parsable $one --wrap "groundswell check '$case' --ranks 4")
run=$(sbatch --parsable --dependency=afterok:"$check" --kill-on-invalid-dep=yes \
    requeue.sbatch groundswell run "$case" --output "$results" --resume=auto)
report=$(sbatch --parsable --dependency=afterok:"$run" --kill-on-invalid-dep=yes $one \
    --wrap "groundswell report '$results'")
echo "check $check, run $run, report $report"
