#!/bin/sh
# Everything that is measured on a GPU, in one go: prints tables, leaves full logs in $OUT.
set -u
OUT=${OUT:-results}
mkdir -p "$OUT"
python=${PYTHON:-python3}
export PYTHONUNBUFFERED=1
bench="$python benchmarks/earthquake_kernels.py"
$bench --portable --tiles 32x8x64 32x8x128 32x8x256 32x8x512 32x4x128 64x4x128 32x16x128 2>&1 | tee "$OUT/tiles.txt"
$bench --no-layers --portable 2>&1 | tee "$OUT/no_layers.txt"
$bench --elastic --portable 2>&1 | tee "$OUT/elastic.txt"
$bench --cells 512 512 512 --portable 2>&1 | tee "$OUT/512.txt"
$bench --precision double --portable --tiles 32x8x128 32x4x128 2>&1 | tee "$OUT/double.txt"
$bench --cells 64 64 64 --portable --times 200 2>&1 | tee "$OUT/64.txt"
