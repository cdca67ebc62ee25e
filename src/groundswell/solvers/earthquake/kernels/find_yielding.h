// Search for cells that yield; see plasticity.h.
#pragma once
#include "yield_condition.h"

// All that `find_yielding` reads and writes.
//
//   lost: the part of the deviator that each cell loses; 0 in tiles without a flag
//   strain: accumulated plastic strain
//   flags, may_yield: of tiles; whether a cell yields, and a bit for each cell that can
//   peaks, limits: of tiles; largest magnitude of a stress, and the one below which no cell yields
struct Search {
  Stresses s;
  Modulus compliance;
  Rock rock;
  const real* initial;
  const Mask* may_yield;
  const Peak* peaks;
  const float* limits;
  real *lost, *strain;
  Flag* flags;

  METHOD Loss evaluate(const Around& a, const Sums& above, index_t c, int k) const {
    return loss_of(a, above, initial_at(initial, k), rock.at(c, k));
  }
  // Of a cell of this rank; ghosts are another's.
  METHOD void strain_by(const Loss& loss, index_t c, bool own) const {
    if (own && loss.part != 0) strain[c] += REAL(0.5) * compliance[c] * loss.stress;
  }
};

// Tiles, rows and planes from the first up to the ends.
struct TileBox {
  int t, j, k, end_t, end_j, end_k;
};

INLINE int least(int a, int b) { return a < b ? a : b; }
// The part of a box for a block of threads.
INLINE TileBox block_of(const TileBox& box, index_t e) {
  const int across = (box.end_t - box.t + BLOCK_TILES - 1) / BLOCK_TILES,
            rows = (box.end_j - box.j + BLOCK_ROWS - 1) / BLOCK_ROWS;
  const int t = box.t + static_cast<int>(e % across) * BLOCK_TILES,
            j = box.j + static_cast<int>(e / across % rows) * BLOCK_ROWS,
            k = box.k + static_cast<int>(e / across / rows) * BLOCK_PLANES;
  return {t,
          j,
          k,
          least(t + BLOCK_TILES, box.end_t),
          least(j + BLOCK_ROWS, box.end_j),
          least(k + BLOCK_PLANES, box.end_k)};
}

#ifdef __CUDACC__

INLINE float larger(float a, Peak b) { return fmaxf(a, float_of(b)); }

// Whether a cell of a tile may yield, or has yielded. Shear stresses around it are also in the next
// tile, row and plane.
INLINE bool must_search(const Search& all, int t, int j, int k) {
  if (all.flags[tile_at(t, j, k)]) return true;
#if PEAKS
  float peak = 0;
  for (int m = 0; m < 4; ++m) {
    const Peak* const at = all.peaks + peak_at(t, j + m % 2, k + m / 2);
    peak = larger(larger(peak, at[0]), at[1]);
  }
  return !(peak < all.limits[tile_at(t, j, k)]);
#else
  return true;
#endif
}

// Planes are those of a lane each.
INLINE Mask planes_to_search(const Search& all, int t, int j, int k, int end_k) {
  const int own = k + threadIdx.x % TILE;
  return __ballot_sync(~0u, own < end_k && must_search(all, t, j, own));
}

// What a warp reads of a tile before it works on it.
struct Ahead {
  Around stresses;
  Mask may;
  Flag flag;
};

INLINE Ahead look_ahead(const Search& all, index_t c, index_t tile, bool inside) {
  return {inside ? around(all.s, c) : Around{}, all.may_yield[tile], all.flags[tile]};
}

// A warp walks through the planes of a column of tiles. It loads what it needs of the next plane
// before it works on this one.
INLINE void search_column(const Search& all, int t, int j, int k, int end_k) {
  const int lane = threadIdx.x % TILE, i = first_of(t) + lane;
  const bool inside = i >= -1 && i < NX;
  Mask planes = planes_to_search(all, t, j, k, end_k);
  if (!planes) return;
  const int skipped = __ffs(static_cast<int>(planes)) - 1;
  k += skipped, planes >>= skipped;
  index_t c = cell_at(i, j, k), tile = tile_at(t, j, k);
  Ahead next = look_ahead(all, c, tile, inside);
  Sums above = inside ? sums_above(all.s, c) : Sums{};
  for (; planes; planes >>= 1, ++k, c += STEP_Z, tile += static_cast<index_t>(NY + 1) * TILES) {
    const Ahead now = next;
    if (planes >> 1) next = look_ahead(all, c + STEP_Z, tile + (NY + 1) * TILES, inside);
    const Loss loss = now.may >> lane & 1 ? all.evaluate(now.stresses, above, c, k) : Loss{};
    above = sums_below(now.stresses);
    const bool yields = __ballot_sync(~0u, loss.part != 0) != 0;
    if (yields || now.flag) {
      if (inside) all.lost[c] = loss.part;
      all.strain_by(loss, c, i >= 0 && j >= 0 && k >= 0);
      if (lane == 0) all.flags[tile] = yields;
    }
  }
}

INLINE void search_block(const Search& all, const TileBox& box) {
  FOR_WARPS(w, BLOCK_ROWS) {
    if (box.j + w < box.end_j) search_column(all, box.t, box.j + w, box.k, box.end_k);
  }
}

#else

// The losses of a tile. Vector loops call functions without local arrays.
struct TileLoss {
  real part[TILE], stress[TILE];

  METHOD void set(int n, const Loss& loss, bool can) {
    part[n] = can ? loss.part : REAL(0);
    stress[n] = can ? loss.stress : REAL(0);
  }
  METHOD bool any(int begin, int end) const {
    int found = 0;
    for (int n = begin; n < end; ++n) found |= part[n] != 0;
    return found != 0;
  }
};

INLINE void search_cell(const Search& all, TileLoss& loss, int n, index_t c, int k, Mask may) {
  loss.set(n, all.evaluate(around(all.s, c), sums_above(all.s, c), c, k), may >> n & 1);
}

__attribute__((noinline)) void search_cells(const Search& all, TileLoss& loss, int begin, int end,
                                            index_t c, int k, Mask may) {
  PRAGMA(omp simd)
  for (int n = begin; n < end; ++n) search_cell(all, loss, n, c + n, k, may);
}

inline void search_tile(const Search& all, int t, int j, int k) {
  const int first = first_of(t), begin = first < -1 ? -1 - first : 0,
            end = NX - first < TILE ? static_cast<int>(NX) - first : TILE;
  const index_t tile = tile_at(t, j, k), c = cell_at(first, j, k);
  const Mask may = all.may_yield[tile];
  TileLoss loss;
  if (may) search_cells(all, loss, begin, end, c, k, may);
  const bool yields = may && loss.any(begin, end);
  if (!yields && !all.flags[tile]) return;
  for (int n = begin; n < end; ++n) {
    all.lost[c + n] = yields ? loss.part[n] : REAL(0);
    const bool own = yields && first + n >= 0 && j >= 0 && k >= 0;
    all.strain_by({loss.part[n], loss.stress[n]}, c + n, own);
  }
  all.flags[tile] = yields;
}

inline void search_block(const Search& all, const TileBox& box) {
  const FlushDenormals flush;
  for (int k = box.k; k < box.end_k; ++k)
    for (int j = box.j; j < box.end_j; ++j)
      for (int t = box.t; t < box.end_t; ++t) search_tile(all, t, j, k);
}

#endif

// Tiles from `first_t`, rows from `first_j` and planes from `first_k` up to the ends.
KERNEL find_yielding(real* lost, real* strain, Flag* flags, const Mask* RESTRICT may_yield,
                     const real* RESTRICT sxx, const real* RESTRICT syy, const real* RESTRICT szz,
                     const real* RESTRICT sxy, const real* RESTRICT sxz, const real* RESTRICT syz,
                     const real* RESTRICT compliance, const Class* RESTRICT classes,
                     const real* RESTRICT strength, const real* RESTRICT sine,
                     const Class* RESTRICT kinds, const real* RESTRICT initial,
                     const Peak* RESTRICT peaks, const float* RESTRICT limits, index_t first_t,
                     index_t first_j, index_t first_k, index_t end_t, index_t end_j, index_t end_k,
                     index_t blocks) {
  const Search all{{sxx, syy, szz, sxy, sxz, syz},
                   {compliance, classes},
                   {strength, sine, kinds},
                   initial,
                   may_yield,
                   peaks,
                   limits,
                   lost,
                   strain,
                   flags};
  const TileBox whole{static_cast<int>(first_t), static_cast<int>(first_j),
                      static_cast<int>(first_k), static_cast<int>(end_t),
                      static_cast<int>(end_j),   static_cast<int>(end_k)};
  FOR_BLOCKS(e, blocks) { search_block(all, block_of(whole, e)); }
}
