// Yield of rock on the staggered grid: Drucker-Prager, after the update of stresses.
//
// `find_yielding` evaluates the yield condition at cell centres, with the means of the four shear
// stresses around each, and stores the part of the deviator that is lost. `relax_yielding` takes it
// from the normal stresses, and the mean of the four adjacent parts from each shear stress (the
// scheme EP2 of Roten et al., SC16, 2016). Each part is in [0, 1], so that the deviator of the whole
// stress never grows.
//
// Rows are cut into tiles of 32 cells, a warp each. Where no cell of a tile yields, nothing is
// written; `relax_yielding` skips all tiles that are not next to such a cell. If the initial stress
// is that of its depth and nothing yields, a step moves the bytes of six stresses more.
//
// At a fault that breaks by itself, fields hold the means of the two sides. The rock yields by these
// means, and the jumps across the fault stay as they are.
//
// On a GPU, the update of stresses keeps the largest magnitude of each tile. Where it is so small
// that no cell can yield, the search reads no stress: |s| <= M bounds sqrt(J2) by sqrt(13/3) M.
//
// plasticity/rank.py sets the sizes of blocks of threads: of BLOCK_TILES tiles in BLOCK_ROWS rows, a
// warp each, and BLOCK_PLANES planes, or of BLOCK_WARPS warps, each of which reads the flags of
// WARP_TILES tiles at once.
#pragma once
#include "find_yielding.h"
#include "relax_yielding.h"

KERNEL clear_peaks(Peak* peaks, index_t count) {
  FOR_ITEMS(n, count) { peaks[n] = 0; }
}
