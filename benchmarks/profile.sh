#!/bin/sh
# Hardware counters of the hot kernels: what a thread waits for, and how many bytes really move.
set -u
OUT=${OUT:-results}
python=${PYTHON:-python3}
sections="--section SpeedOfLight --section MemoryWorkloadAnalysis --section Occupancy --section WarpStateStats --section LaunchStats"
metrics="dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum,l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed,lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_write.sum"
for variant in "$@"; do
  name=$(echo "$variant" | tr ' ' '_')
  ncu --clock-control none --kernel-name regex:update_ --launch-count 2 $sections --metrics $metrics \
    $python benchmarks/earthquake_kernels.py --times 1 $variant > "$OUT/ncu$name.txt" 2>&1
  echo "== $variant"
  grep -E "update_|Duration|Throughput|bytes_(read|write)|t_bytes|wavefronts|Registers Per|Achieved Occ|Theoretical Occ|Hit Rate|Stall|No Eligible|cycles being stalled|sectors_src|Max Bandwidth" "$OUT/ncu$name.txt" | cut -c1-150
done
