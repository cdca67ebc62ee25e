"""The script of a Slurm job array whose tasks are workers of one ensemble."""

from __future__ import annotations

import shlex
from pathlib import Path

from groundswell.ensembles.plan import load_plan

_SCRIPT = """\
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --array=0-{last}
#SBATCH --time=04:00:00
#SBATCH --gpus=1                        # or --cpus-per-task, for cases on CPUs
#SBATCH --signal=B:TERM@120             # to this script, two minutes before the time limit
#SBATCH --requeue
#SBATCH --open-mode=append

worker= stop=
pass_on() {{ stop=yes; [ -z "$worker" ] || {{ kill -TERM "$worker"; stop=; }}; }}
trap pass_on TERM                       # the worker writes completed runs and checkpoints

groundswell ensemble work {plan} --worker "$SLURM_ARRAY_TASK_ID" --workers {tasks} &
worker=$!
[ -z "$stop" ] || pass_on               # the signal came before the worker had started
wait "$worker"; code=$?
while [ $code -gt 128 ] && kill -0 "$worker" 2> /dev/null; do   # a signal interrupted only the wait
  wait "$worker"; code=$?
done
if [ $code -eq 130 ]; then              # stopped by the signal: requeue the task to continue
  scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID"
fi
exit $code
"""


def job_script(plan: Path, tasks: int) -> str:
    """The script for `sbatch`.

    Args:
        plan: path of the plan.
        tasks: number of tasks of the array.

    Raises:
        InputError: the plan is invalid.
    """
    tasks = min(tasks, len(load_plan(plan).rows))
    name = shlex.quote(plan.stem)
    return _SCRIPT.format(name=name, last=tasks - 1, tasks=tasks, plan=shlex.quote(str(plan)))
