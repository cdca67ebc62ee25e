#!/bin/sh
# Everything that is measured on several GPUs of one host, after the tests that need them.
#
#   GPUS=4 MPIRUN="mpirun --oversubscribe" benchmarks/on_gpus.sh
set -u
OUT=${OUT:-results}
GPUS=${GPUS:-$(nvidia-smi --list-gpus | wc -l)}
python=${PYTHON:-python3}
mpirun=${MPIRUN:-mpirun}
mkdir -p "$OUT"
export PYTHONUNBUFFERED=1 NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}
$python -m pytest -q -m gpu tests/equivalence
ranks="benchmarks/solver_ranks.py"
{
  $python $ranks earthquake --cells 160 160 2048
  $mpirun -n "$GPUS" $python $ranks earthquake --cells 160 160 $((2048 * GPUS)) --transports fused direct peer nccl
  $python $ranks earthquake --cells 512 512 512
  $mpirun -n "$GPUS" $python $ranks earthquake --cells 512 512 512 --transports fused direct peer nccl mpi
  for cells in "256 256 256" "512 512 512"; do
    $python $ranks cavity --cells $cells
    $mpirun -n "$GPUS" $python $ranks cavity --cells $cells --transports direct peer nccl
  done
  $mpirun -n "$GPUS" $python $ranks cavity --cells 512 512 $((512 * GPUS)) --transports direct peer nccl
  for ranks in 1 "$GPUS"; do
    $mpirun -n "$ranks" $python benchmarks/multigrid_ranks.py 255 511
    $mpirun -n "$ranks" $python benchmarks/poisson_multigrid.py 48 36 36 --coarse auto direct
    $mpirun -n "$ranks" $python benchmarks/poisson_iterations.py 7:8,20,48 15:22 3:110
  done
} 2>&1 | tee "$OUT/ranks.txt"
$mpirun -n "$GPUS" $python -m groundswell bench poisson --full --backend cuda --output "$OUT"
for subject in cavity dgwave earthquake exchange; do
  $mpirun -n "$GPUS" $python -m groundswell bench $subject --backend cuda --output "$OUT"
done
