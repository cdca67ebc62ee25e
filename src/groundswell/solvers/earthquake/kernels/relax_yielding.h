// Relaxation of stresses where cells yield; see plasticity.h.
#pragma once
#include "box.h"
#include "yield_condition.h"

// Stresses of a cell, and the parts that they lose.
struct Relaxation {
  real *xx, *yy, *zz, *xy, *xz, *yz;
  const real *lost, *initial;

  // All reads are before all writes, so that they are in flight together.
  METHOD void relax(index_t c, int k) const {
    const real own = lost[c], west = lost[c - STEP_X], north = lost[c - STEP_Y],
               up = lost[c - STEP_Z];
    const bool moves = !(FREE_SURFACE && k == 0);  // sxz and syz are 0 on the surface
    const real part_xy = (own + west) + (north + lost[c - STEP_X - STEP_Y]),
               part_xz = moves ? (own + west) + (up + lost[c - STEP_X - STEP_Z]) : REAL(0),
               part_yz = moves ? (own + north) + (up + lost[c - STEP_Y - STEP_Z]) : REAL(0);
    const bool normal = own != 0;
    const real x = value(xx, c, normal), y = value(yy, c, normal), z = value(zz, c, normal);
    const real s_xy = value(xy, c, part_xy != 0), s_xz = value(xz, c, part_xz != 0),
               s_yz = value(yz, c, part_yz != 0);
    const real* const from = initial_at(initial, k);
    const real mean = (x + y + z) * REAL(1.0 / 3.0), quarter = REAL(-0.25);
    set(xx, c, FMA(-own, x - mean + from[XX], x), normal);
    set(yy, c, FMA(-own, y - mean + from[YY], y), normal);
    set(zz, c, FMA(-own, z - mean + from[ZZ], z), normal);
    set(xy, c, FMA(quarter * part_xy, s_xy + from[XY], s_xy), part_xy != 0);
    set(xz, c, FMA(quarter * part_xz, s_xz + from[FACE_XZ], s_xz), part_xz != 0);
    set(yz, c, FMA(quarter * part_yz, s_yz + from[FACE_YZ], s_yz), part_yz != 0);
  }
  // Values that lose nothing are neither read nor written, so that they keep their bits.
  METHOD real value(const real* s, index_t c, bool loses) const { return loses ? s[c] : REAL(0); }
  METHOD void set(real* s, index_t c, real value, bool loses) const {
    if (loses) s[c] = value;
  }
};

// Whether a cell of a tile, or one that shares a shear stress with it, yields.
INLINE bool is_near(const Flag* RESTRICT flags, int t, int j, int k) {
  Flag any = 0;
  for (int m = 0; m < 4; ++m) {
    const index_t tile = tile_at(t, j - m % 2, k - m / 2);
    any |= flags[tile] | flags[tile - 1];
  }
  return any != 0;
}

// A tile of a box, numbered along its rows.
struct TileOfBox {
  int t, j, k;
};
struct TilesOfBox {
  Box box;
  int first, count;  // of a row

  METHOD index_t total() const { return static_cast<index_t>(count) * box.nj * box.nk; }
  METHOD TileOfBox at(index_t n) const {
    const index_t row = n / count;
    return {first + static_cast<int>(n % count), box.j + static_cast<int>(row % box.nj),
            box.k + static_cast<int>(row / box.nj)};
  }
};

INLINE TilesOfBox tiles_of(const Box& box) {
  const int first = box.i / TILE + 1, last = (box.i + box.ni - 1) / TILE + 1;
  return {box, first, last - first + 1};
}

INLINE void relax_tile(const Relaxation& all, const Box& box, const TileOfBox& at) {
  const int first = first_of(at.t), end = box.i + box.ni;
  FOR_LANES(n, TILE) {
    const int i = first + n;
    if (i >= box.i && i < end) all.relax(cell_at(i, at.j, at.k), at.k);
  }
}

#ifdef __CUDACC__

// The lanes of a warp find out which of its tiles are near; then the warp relaxes one after another.
INLINE void relax_tiles(const Relaxation& all, const TilesOfBox& tiles, const Flag* RESTRICT flags,
                        index_t first) {
  const index_t own = first + threadIdx.x % WARP_TILES;
  bool near = false;
  if (own < tiles.total()) {
    const TileOfBox at = tiles.at(own);
    near = is_near(flags, at.t, at.j, at.k);
  }
  for (Mask left = __ballot_sync(~0u, near); left; left &= left - 1)
    relax_tile(all, tiles.box, tiles.at(first + __ffs(static_cast<int>(left)) - 1));
}

#else

inline void relax_tiles(const Relaxation& all, const TilesOfBox& tiles, const Flag* RESTRICT flags,
                        index_t first) {
  for (index_t n = first; n < first + WARP_TILES && n < tiles.total(); ++n) {
    const TileOfBox at = tiles.at(n);
    if (is_near(flags, at.t, at.j, at.k)) relax_tile(all, tiles.box, at);
  }
}

#endif

KERNEL relax_yielding(real* sxx, real* syy, real* szz, real* sxy, real* sxz, real* syz,
                      const real* RESTRICT lost, const Flag* RESTRICT flags,
                      const real* RESTRICT initial, BOX_ARGUMENTS, index_t blocks) {
  const Relaxation all{sxx, syy, szz, sxy, sxz, syz, lost, initial};
  const TilesOfBox tiles = tiles_of(BOX);
  FOR_BLOCKS(e, blocks) {
    FOR_WARPS(w, BLOCK_WARPS) {
      relax_tiles(all, tiles, flags, (e * BLOCK_WARPS + w) * WARP_TILES);
    }
  }
}
