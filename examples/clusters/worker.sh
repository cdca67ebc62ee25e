#!/bin/bash
# Each task of a job array is one worker of an ensemble:
#     sbatch --array=0-7 requeue.sbatch bash worker.sh plan.toml
exec groundswell ensemble work "$1" \
    --worker "$SLURM_ARRAY_TASK_ID" --workers "$SLURM_ARRAY_TASK_COUNT"
