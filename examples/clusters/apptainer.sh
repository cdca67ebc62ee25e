#!/bin/bash
# Run groundswell in a container, as a task of a job:
#     sbatch requeue.sbatch bash apptainer.sh run case.toml --resume=auto
# The image is read-only, so compiled kernels go to the user's cache folder on the host.
cache=${GROUNDSWELL_CACHE:-$HOME/.cache/groundswell}
mkdir -p "$cache"
exec apptainer run --nv --bind "$PWD,$cache" --env GROUNDSWELL_CACHE="$cache" \
    "${GROUNDSWELL_IMAGE:-groundswell.sif}" "$@"
