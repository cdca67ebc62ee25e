#!/bin/sh
# Everything that is measured on a GPU, in one go: prints tables, leaves full logs in $OUT.
set -u
OUT=${OUT:-results}
mkdir -p "$OUT"
python=${PYTHON:-python3}
export PYTHONUNBUFFERED=1
bench="$python benchmarks/earthquake_kernels.py"
V="32x4x2:1 32x4x2:2 32x4x1:2 32x8x1:2 32x4x2:3 32x4x2:4 32x8x1:4 64x2x1:4 64x4x1:2 32x2x2:2 64x2x2:2 32x2x4:2"
$bench --variants $V 2>&1 | tee "$OUT/variants.txt"
$bench --no-layers --variants $V 2>&1 | tee "$OUT/no_layers.txt"
$bench --cells 64 64 64 --variants 32x4x2:1 32x4x2:2 --times 200 2>&1 | tee "$OUT/64.txt"
$bench --precision double --variants 32x4x2:1 32x4x2:2 32x4x1:2 32x8x1:1 2>&1 | tee "$OUT/double.txt"
