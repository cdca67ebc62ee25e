#!/bin/sh
# Everything that is measured on a GPU, in one go: prints tables, leaves full logs in $OUT.
set -u
OUT=${OUT:-results}
mkdir -p "$OUT"
python=${PYTHON:-python3}
export PYTHONUNBUFFERED=1
$python -c "from groundswell.bench import run_bench; run_bench('earthquake', output='$OUT')"
$python -m groundswell bench dgwave --backend cuda --output "$OUT"
$python -m groundswell bench poisson --full --backend cuda --output "$OUT"
$python benchmarks/poisson_variants.py 2>&1 | tee "$OUT/poisson_variants.txt"
bench="$python benchmarks/earthquake_kernels.py"
{
  $bench
  $bench --sides periodic
  $bench --elastic
  $bench --cells 512 512 512
  $bench --precision double
  $bench --cells 64 64 64
} 2>&1 | tee "$OUT/kernels.txt"
