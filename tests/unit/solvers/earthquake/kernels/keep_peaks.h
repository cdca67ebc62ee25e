// Peaks of stresses as the update of stresses keeps them: for test_plasticity_kernels.py.
#pragma once
#include "solvers/earthquake/kernels/tile_peaks.h"

// Of the cells of a row from `first_i` on, for each row a block.
KERNEL keep_peaks(Peak* peaks, const real* sxx, const real* syy, const real* szz, const real* sxy,
                  const real* sxz, const real* syz, index_t first_i, index_t count_i,
                  index_t blocks) {
  const TilePeaks all{PEAK_MEMBERS};
  FOR_BLOCKS(e, blocks) {
    const int i = first_i + threadIdx.x, j = e % NY, k = e / NY;
    const index_t c = cell_at(i, j, k);
    if (i < first_i + count_i) all.keep({sxx[c], syy[c], szz[c], sxy[c], sxz[c], syz[c]}, i, j, k);
  }
}
