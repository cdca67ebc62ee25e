#!/bin/bash
# Each task of a job array runs one line of variants.txt: a name, followed by settings.
#     sbatch --array=1-3%2 requeue.sbatch bash variant.sh
read -r name settings <<< "$(sed -n "${SLURM_ARRAY_TASK_ID}p" variants.txt)"
if [ -z "$name" ]; then
    echo "variants.txt has no line $SLURM_ARRAY_TASK_ID" >&2
    exit 2
fi
options=()
for setting in $settings; do
    options+=(--set "$setting")
done
# exec replaces the shell, so that signals from Slurm reach the run.
exec groundswell run case.toml --output "results/$name" --resume=auto "${options[@]}"
