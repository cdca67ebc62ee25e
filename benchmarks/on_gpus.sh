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
ranks="benchmarks/earthquake_ranks.py"
{
  $python $ranks --cells 160 160 2048
  $mpirun -n "$GPUS" $python $ranks --cells 160 160 $((2048 * GPUS)) --transports fused direct peer nccl
  $python $ranks --cells 512 512 512
  $mpirun -n "$GPUS" $python $ranks --cells 512 512 512 --transports fused direct peer nccl mpi
} 2>&1 | tee "$OUT/ranks.txt"
$mpirun -n "$GPUS" $python -m groundswell bench exchange --backend cuda --output "$OUT"
