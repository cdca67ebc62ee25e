#!/bin/sh
# Everything that is measured on a GPU, in one go: prints tables, leaves full logs in $OUT.
set -u
OUT=${OUT:-results}
mkdir -p "$OUT"
python=${PYTHON:-python3}
export PYTHONUNBUFFERED=1
bench="$python benchmarks/earthquake_kernels.py"
B="64x4x1 32x4x2 32x4x4 32x2x8 32x8x4 64x2x4 64x4x4 32x4x8 160x2x2"
$bench --blocks $B --tiles 32x4x4 32x8x4 32x4x8 32x8x8 32x8x16 32x4x16 32x8x32 64x4x8 2>&1 | tee "$OUT/tiles.txt"
$bench --no-layers --blocks 64x4x1 32x4x2 32x4x4 32x8x4 64x2x4 --tiles 32x4x8 32x8x8 32x8x16 2>&1 | tee "$OUT/no_layers.txt"
$bench --cells 64 64 64 --blocks 64x4x1 32x4x2 32x4x4 --tiles 32x8x8 --times 200 2>&1 | tee "$OUT/64.txt"
