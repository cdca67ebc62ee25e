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
#include "box.h"
#include "materials.h"
#include "seismology/kernels/drucker_prager.h"
#include "tiles.h"

typedef unsigned char Flag;
typedef unsigned int Mask;  // a bit for each cell of a tile

// --- the yield condition --------------------------------------------------------------------------

// Initial stress by depth row, from row -1, Pa: its deviator and the mean plus fluid pressure at
// cell centres, then sxz and syz at the upper faces of cells.
enum Initial { XX, YY, ZZ, XY, XZ, YZ, MEAN, FACE_XZ, FACE_YZ, INITIAL };

INLINE const real* initial_at(const real* RESTRICT initial, int k) {
  return initial + static_cast<index_t>(INITIAL) * (k + 1);
}

// Strength of cells: of depth rows (from row -1), of classes of cells, or of each cell.
struct Rock {
  const real *table, *sine;
  const Class* classes;

  METHOD Strength at(index_t c, int k) const {
#if STRENGTH == 0
    return {table[2 * (k + 1)], table[2 * (k + 1) + 1]};
#elif STRENGTH == 1
    return {table[2 * static_cast<int>(classes[c])], table[2 * static_cast<int>(classes[c]) + 1]};
#else
    return {table[c], sine[c]};
#endif
  }
};

struct Stresses {
  const real *xx, *yy, *zz, *xy, *xz, *yz;
};

// The stresses around a cell, without sxz and syz above it.
struct Around {
  real xx, yy, zz, xy[4], xz[2], yz[2];
};

INLINE Around around(const Stresses& s, index_t c) {
  const index_t b = c + STEP_Z;
  return {s.xx[c],
          s.yy[c],
          s.zz[c],
          {s.xy[c], s.xy[c + STEP_X], s.xy[c + STEP_Y], s.xy[c + STEP_X + STEP_Y]},
          {s.xz[b], s.xz[b + STEP_X]},
          {s.yz[b], s.yz[b + STEP_Y]}};
}

// Sums of sxz and of syz on a face of a cell normal to z.
struct Sums {
  real xz, yz;
};

INLINE Sums sums_above(const Stresses& s, index_t c) {
  return {s.xz[c] + s.xz[c + STEP_X], s.yz[c] + s.yz[c + STEP_Y]};
}
INLINE Sums sums_below(const Around& a) { return {a.xz[0] + a.xz[1], a.yz[0] + a.yz[1]}; }

// The part of its deviator that a cell loses, and sqrt(J2) of what it loses, Pa.
struct Loss {
  real part, stress;
};

INLINE Loss loss_of(const Around& a, const Sums& above, const real* RESTRICT initial,
                    const Strength& rock) {
  const Sums below = sums_below(a);
  const real mean = (a.xx + a.yy + a.zz) * REAL(1.0 / 3.0), quarter = REAL(0.25);
  const real xx = a.xx - mean + initial[XX], yy = a.yy - mean + initial[YY],
             zz = a.zz - mean + initial[ZZ];
  const real xy = FMA(quarter, (a.xy[0] + a.xy[1]) + (a.xy[2] + a.xy[3]), initial[XY]),
             xz = FMA(quarter, above.xz + below.xz, initial[XZ]),
             yz = FMA(quarter, above.yz + below.yz, initial[YZ]);
  const real normal = FMA(xx, xx, FMA(yy, yy, zz * zz));
  const real tau = sqrt(FMA(REAL(0.5), normal, FMA(xy, xy, FMA(xz, xz, yz * yz))));
  const real part = yielded_part(tau, yield_strength(mean + initial[MEAN], rock), REMEMBERED);
  return {part, part * tau};
}

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

// --- relaxation -----------------------------------------------------------------------------------

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

KERNEL clear_peaks(Peak* peaks, index_t count) {
  FOR_ITEMS(n, count) { peaks[n] = 0; }
}
