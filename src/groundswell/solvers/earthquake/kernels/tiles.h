// Tiles of rows: cells for a warp, with a bit each in a word. Tile 0 has the ghost before cell 0.
// There is also one row before row 0, and one plane before plane 0. plasticity/rank.py sets TILE.
#pragma once
#include "narrow_floats.h"

#define TILES ((NX + TILE - 1) / TILE + 1)

INLINE int first_of(int t) { return TILE * (t - 1); }
INLINE index_t tile_at(int t, int j, int k) {
  return (static_cast<index_t>(k + 1) * (NY + 1) + (j + 1)) * TILES + t;
}

// Largest magnitude of a stress in each tile, as the bits of a float. Beyond the last tile, row and
// plane there is one more, which stays 0.
typedef bits32 Peak;

INLINE index_t peak_at(int t, int j, int k) {
  return (static_cast<index_t>(k + 1) * (NY + 2) + (j + 1)) * (TILES + 1) + t;
}
