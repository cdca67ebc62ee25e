// Elements with POINTS Gauss points along each axis, where integrals are evaluated, and NODES nodes,
// where values are. Values pass between them along one axis after another (Deville, Fischer & Mund
// 2002, High-order methods for incompressible fluid flow, section 4.5).
#pragma once
#include "spectral_elements/kernels/contract.h"
#include "reductions.h"
#if !defined(__CUDACC__)
ALLOW_FP_CONTRACT
#endif

constexpr int CUBE = NODES * NODES * NODES, PLANE = POINTS * POINTS, VOLUME = PLANE * POINTS;
// Of a cube of points in shared memory. Nodes use the first places of each axis.
constexpr int PITCH = pitch_of(POINTS), LAYER = POINTS * PITCH, ROOM = POINTS * LAYER;
// Adjacent lines that a thread takes.
constexpr int NODE_LINES = LINES_PER_THREAD(NODES), POINT_LINES = LINES_PER_THREAD(POINTS);

// From row to column: from values at nodes to values at points, and back.
UNIFORM_TABLE real TO_POINTS[NODES][POINTS] = FROM_NODES_TO_POINTS;
UNIFORM_TABLE real TO_NODES[POINTS][NODES] = FROM_POINTS_TO_NODES;

// The cubes of a block's elements.
#if defined(__CUDACC__)
#define CUBES(name, count) DYNAMIC_SHARED(real, name)
#else
#define CUBES(name, count) alignas(64) real name[(count) * ROOM]
#endif

// Lines of values, a step apart.
template <class Value> struct Lines {
  Value* first;
  int step;
};

// Sets `to` to the products of a matrix with WIDTH adjacent lines, which may be the same, or adds
// these.
template <bool ADD, int WIDTH, int FROM, int TO>
INLINE void multiply_adjacent(const Lines<const real>& from, const Lines<real>& to,
                              const real (&matrix)[FROM][TO]) {
  real old[FROM][WIDTH];
  UNROLL
  for (int m = 0; m < FROM; ++m)
    for (int n = 0; n < WIDTH; ++n) old[m][n] = from.first[m * from.step + n];
  UNROLL
  for (int k = 0; k < TO; ++k) {
    real sum[WIDTH];
    for (int n = 0; n < WIDTH; ++n) sum[n] = ADD ? to.first[k * to.step + n] : REAL(0);
    UNROLL
    for (int m = 0; m < FROM; ++m) {
      VECTORIZED
      for (int n = 0; n < WIDTH; ++n) sum[n] = FMA(matrix[m][k], old[m][n], sum[n]);
    }
    for (int n = 0; n < WIDTH; ++n) to.first[k * to.step + n] = sum[n];
  }
}

// The same for a line whose values are contiguous.
template <bool ADD, int FROM, int TO>
INLINE void multiply_line(const real* from, real* to, const real (&matrix)[FROM][TO]) {
  real sum[TO];
  UNROLL
  for (int k = 0; k < TO; ++k) sum[k] = ADD ? to[k] : REAL(0);
  UNROLL
  for (int m = 0; m < FROM; ++m) {
    const real value = from[m];
    VECTORIZED
    for (int k = 0; k < TO; ++k) sum[k] = FMA(matrix[m][k], value, sum[k]);
  }
  UNROLL
  for (int k = 0; k < TO; ++k) to[k] = sum[k];
}

// The arrays of an operator: assembled values x, multiplied by `scale` first if SCALED; the index
// of each element's nodes among them; the elements' results y.
struct Operands {
  const real *x, *scale;
  const int* dofs;
  real* y;

  METHOD real value(index_t node) const {
    const int n = dofs[node];
    return SCALED ? scale[n] * x[n] : x[n];
  }
};

// Reads values and interpolates them along t: then there are POINTS layers of NODES x NODES values.
INLINE void load_along_t(const Operands& operands, const int* mine, int here, real* cubes) {
  FOR_THREADS(n, here * NODES * NODES / NODE_LINES) {
    const int line = n * NODE_LINES, e = line / (NODES * NODES), place = line % (NODES * NODES);
    const index_t first = static_cast<index_t>(mine[e]) * CUBE + place;
    real* const u = cubes + e * ROOM + place / NODES * PITCH + place % NODES;
    for (int t = 0; t < NODES; ++t)
      for (int r = 0; r < NODE_LINES; ++r)
        u[t * LAYER + r] = operands.value(first + t * NODES * NODES + r);
    multiply_adjacent<false, NODE_LINES>({u, LAYER}, {u, LAYER}, TO_POINTS);
  }
}

// The transpose, which stores the results.
INLINE void store_along_t(const Operands& operands, const int* mine, int here, const real* cubes) {
  FOR_THREADS(n, here * NODES * NODES / NODE_LINES) {
    const int line = n * NODE_LINES, e = line / (NODES * NODES), place = line % (NODES * NODES);
    real* const y = operands.y + static_cast<index_t>(mine[e]) * CUBE + place;
    const real* const u = cubes + e * ROOM + place / NODES * PITCH + place % NODES;
    multiply_adjacent<false, NODE_LINES>({u, LAYER}, {y, NODES * NODES}, TO_NODES);
  }
}

// Along s, in all layers, where rows have NODES values.
template <int FROM, int TO>
INLINE void multiply_along_s(int here, real* cubes, const real (&matrix)[FROM][TO]) {
  FOR_THREADS(n, here * POINTS * NODES / NODE_LINES) {
    const int line = n * NODE_LINES, layer = line / NODES;
    real* const u = cubes + layer / POINTS * ROOM + layer % POINTS * LAYER + line % NODES;
    multiply_adjacent<false, NODE_LINES>({u, PITCH}, {u, PITCH}, matrix);
  }
}
