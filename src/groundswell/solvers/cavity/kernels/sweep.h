// Loops over a box of points: calls `take(c, state, waves, nodes, rates)` once for each point.
#pragma once
#include "box.h"
#include "flow.h"

INLINE int along_heat(int i, int j, int k) {
  return HEAT_AXIS == 0 ? START_X + i : HEAT_AXIS == 1 ? START_Y + j : START_Z + k;
}

// Velocity component C of the walls next to a point.
template <int C> INLINE real along_walls(int i, int j, int k) {
  return wall_velocity<X, C>(i) + wall_velocity<Y, C>(j) + wall_velocity<Z, C>(k);
}

// One over the volume of a point's cell in cubes of spacings: next to a wall, it extends to the wall.
template <class Axis> INLINE real part_of_cell(int n) {
  return at_low<Axis>(n, WALL)    ? shortened(Axis::low())
         : at_high<Axis>(n, WALL) ? shortened(Axis::high())
                                  : REAL(1);
}
INLINE real cubes_in_cell(int i, int j, int k) {
  return part_of_cell<X>(i) * part_of_cell<Y>(j) * part_of_cell<Z>(k);
}

// Closes the line of a point near a side. Args: n, its index along the axis; speed, its velocity
// along it.
template <class Axis> INLINE void close(Line& line, int n, real speed, int i, int j, int k) {
  close<Axis>(line, n, along_heat(i, j, k));
  if (varies<Axis>()) balance_mass<Axis>(n, line.p, speed, along_walls<Axis::axis>(i, j, k));
}

// Adds the heat that neighbours conduct, and closes the line next to solids. Args: speed, the point's
// velocity along the axis.
template <class Axis>
INLINE void pass_solids(real& rate, const Solids& solids, index_t c, Line& line, real speed) {
  if (!varies<Axis>()) return;
  rate += conduct<Axis>(solids, c, line.t, line.node);
  meet_solids<Axis>(solids, c, line.p, line.node, speed);
}

// Computes the rates at a point. Args: SIDES_X, SIDES_YZ, whether a side may be near along these
// axes; z, the values along z.
template <bool SIDES_X, bool SIDES_YZ, class Take>
INLINE void take_point(const ConstFields& f, const Take& take, Line z, int i, int j, int k) {
  const index_t c = point_at(i, j, k);
  const State at = {z.p.c, z.u.c, z.v.c, z.w.c, z.t.c};
  Waves wave = waves(at.u, at.v, at.w);
  if (HAS_SOLIDS)
    wave.material = material_at(f.solids, c, nodes_at(f.metric, again(i), again(j), again(k)));
  Gathered sum = begin(at, wave.material);
  Line x = read_line<X>(f, c);
  x.node = node_at<X>(f.metric, again(i));
  if (SIDES_X && near_sides<X>(i)) close<X>(x, i, at.u, i, j, k);
  const bool near = CONSERVES_HEAT && (SIDES_X || SIDES_YZ);
  if (HAS_SOLIDS) pass_solids<X>(sum.rate.t, f.solids, c, x, at.u);
  gather<X>(sum, sum.rate.u, at.p, at.u, near ? along_walls<0>(i, j, k) : REAL(0), x);
  Line y = read_line<Y>(f, c);
  y.node = node_at<Y>(f.metric, again(j));
  if (SIDES_YZ && near_sides<Y>(j)) close<Y>(y, j, at.v, i, j, k);
  if (HAS_SOLIDS) pass_solids<Y>(sum.rate.t, f.solids, c, y, at.v);
  gather<Y>(sum, sum.rate.v, at.p, at.v, near ? along_walls<1>(i, j, k) : REAL(0), y);
  z.node = node_at<Z>(f.metric, again(k));
  if (SIDES_YZ && near_sides<Z>(k)) close<Z>(z, k, at.w, i, j, k);
  if (HAS_SOLIDS) pass_solids<Z>(sum.rate.t, f.solids, c, z, at.w);
  gather<Z>(sum, sum.rate.w, at.p, at.w, near ? along_walls<2>(i, j, k) : REAL(0), z);
  if (HAS_SOLIDS && wave.material.in_solid) sum = at_rest(sum);
  const State rate = finish(sum, wave.beta2, near ? cubes_in_cell(i, j, k) : REAL(1));
  take(c, at, wave, nodes_at(f.metric, again(i), again(j), again(k)), rate);
}

#ifdef __CUDACC__

// A tile of threads advances through TILE_Z planes. Each thread keeps the values of its column in
// registers, so that each plane is read from memory once. Neighbours along x and y come from the L1
// cache: other threads of the tile have just read them.
INLINE void climb(Three& f, const real* here) { f.b = f.c, f.c = f.d, f.d = here[STEP_Z]; }
INLINE void climb(Line& z, const ConstFields& f, index_t c) {
  z.p.a = z.p.b, z.p.b = z.p.c, z.p.c = z.p.d, z.p.d = z.p.e, z.p.e = f.p[c + 2 * STEP_Z];
  climb(z.u, f.u + c), climb(z.v, f.v + c), climb(z.w, f.w + c), climb(z.t, f.t + c);
}

// Hides memory latency: prefetches the cache lines of the next plane but one.
constexpr int GPU_LINE = 128 / sizeof(real);
INLINE void fetch_ahead(const ConstFields& f, index_t c) {
  if (threadIdx.x % GPU_LINE != 0) return;
  const index_t above = c + 2 * STEP_Z;
  prefetch(f.p + above + STEP_Z, f.u + above, f.v + above, f.w + above, f.t + above);
}

// Tiles form bands along y. Successive chunks of a band run so close in time that the planes which
// both read are still in the L2 cache.
template <class Take>
INLINE void for_points(const ConstFields& f, const Box& box, const Take& take) {
  const int tiles_x = (box.ni + TILE_X - 1) / TILE_X, tiles_y = (box.nj + TILE_Y - 1) / TILE_Y;
  const int chunks = (box.nk + TILE_Z - 1) / TILE_Z;
  const int first = static_cast<int>(blockIdx.x) / (tiles_x * TILE_BAND * chunks) * TILE_BAND;
  const int rows = min(TILE_BAND, tiles_y - first);
  const int place = blockIdx.x - first * tiles_x * chunks, layer = tiles_x * rows;
  const int chunk = place / layer, tile = place % layer;
  const int a = tile % tiles_x * TILE_X + threadIdx.x % TILE_X,
            b = (first + tile / tiles_x) * TILE_Y + threadIdx.x / TILE_X;
  if (a >= box.ni || b >= box.nj) return;
  const int i = box.i + a, j = box.j + b;
  int k = box.k + chunk * TILE_Z;
  const int end = min(k + TILE_Z, box.k + box.nk);
  index_t c = point_at(i, j, k);
  Line z = read_line<Z>(f, c);
  while (true) {
    fetch_ahead(f, c);
    take_point<true, true>(f, take, z, i, j, k);
    if (++k == end) return;
    c += STEP_Z;
    climb(z, f, c);
  }
}

#else

// Points from `inner` to before `outer` are not near a side along x: the vectorised part of a row.
struct Row {
  int begin, inner, outer, end, j, k;
};
INLINE Row row_of(const Box& box, int j, int k) {
  const int begin = box.i, end = box.i + box.ni;
  const int inner = begin > REACH ? begin : REACH < end ? REACH : end;
  const int outer = end < NX - REACH ? end : NX - REACH > inner ? NX - REACH : inner;
  return {begin, inner, outer, end, j, k};
}
template <bool SIDES_X, bool SIDES_YZ, class Take>
INLINE void take_point(const ConstFields& f, const Take& take, const Row& row, int i) {
  const Line z = read_line<Z>(f, point_at(i, row.j, row.k));
  take_point<SIDES_X, SIDES_YZ>(f, take, z, i, row.j, row.k);
}

// Both ends of a row in one loop, so that the compiler generates the general point only once:
// `outer` follows the last point before `inner`.
template <class Take> INLINE void for_ends(const ConstFields& f, const Row& row, const Take& take) {
  for (int i = row.begin < row.inner ? row.begin : row.outer; i < row.end;
       i = i + 1 == row.inner ? row.outer : i + 1)
    take_point<true, true>(f, take, row, i);
}
template <bool SIDES_YZ, class Take>
INLINE void for_middle(const ConstFields& f, const Row& row, const Take& take) {
  PRAGMA(omp simd)
  for (int i = row.inner; i < row.outer; ++i) take_point<false, SIDES_YZ>(f, take, row, i);
}

template <class Take> void for_points(const ConstFields& f, const Box& box, const Take& take) {
  const index_t cells = static_cast<index_t>(box.ni) * box.nj * box.nk;
  PRAGMA(omp parallel for collapse(2) schedule(static) if (SHORT_CELLS < cells))
  for (int k = box.k; k < box.k + box.nk; ++k)
    for (int j = box.j; j < box.j + box.nj; ++j) {
      const FlushDenormals flush;
      const Row row = row_of(box, j, k);
      for_ends(f, row, take);
      if (near_sides<Y>(j) || near_sides<Z>(k)) for_middle<true>(f, row, take);
      else for_middle<false>(f, row, take);
    }
}

#endif
