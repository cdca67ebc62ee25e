// Elements with POINTS Gauss points along each axis, where integrals are evaluated, and NODES nodes,
// where values are. Values pass between them along one axis after another (Deville, Fischer & Mund
// 2002, High-order methods for incompressible fluid flow, chapter 4).
#pragma once
#include "reductions.h"

// A thread of a GPU takes one line of values at a time, a core of a CPU a vector of adjacent ones.
// There, rows along r are padded to whole vectors, and parts are separate functions, because the
// compiler runs out of registers if it inlines all of them.
#if defined(__CUDACC__)
constexpr int VECTOR = 1, PITCH = POINTS | 1;  // rows start in different banks
typedef real Value;
#define PART INLINE
#define CUBES(name, count) DYNAMIC_SHARED(real, name)
INLINE double sum_of(double value, int) { return value; }
INLINE void set_lane(Value& value, int, real entry) { value = entry; }
#else
ALLOW_FP_CONTRACT
constexpr int WIDEST = VECTOR_BYTES / sizeof(real), LEAST = POINTS > 8 ? 16 : POINTS > 4 ? 8 : 4;
constexpr int VECTOR = LEAST < WIDEST ? LEAST : WIDEST;
constexpr int PITCH = (POINTS + VECTOR - 1) / VECTOR * VECTOR;
// A vector that need not be aligned.
typedef real Value
    __attribute__((vector_size(VECTOR * sizeof(real)), may_alias, aligned(sizeof(real))));
#define PART static __attribute__((noinline))
#define CUBES(name, count) alignas(64) real name[(count) * ROOM]

INLINE void set_lane(Value& value, int lane, real entry) { value[lane] = entry; }

// The sum of the first `count` values.
INLINE double sum_of(const Value& value, int count) {
  double sum = 0;
  for (int n = 0; n < count; ++n) sum += static_cast<double>(value[n]);
  return sum;
}
#endif

INLINE Value& value_at(real* first) { return *reinterpret_cast<Value*>(first); }
INLINE const Value& value_at(const real* first) { return *reinterpret_cast<const Value*>(first); }

constexpr int CUBE = NODES * NODES * NODES, PLANE = POINTS * POINTS, VOLUME = PLANE * POINTS;
// Of a cube of points in shared memory. Nodes use the first places of each axis.
constexpr int LAYER = POINTS * PITCH, ROOM = POINTS * LAYER;
// Values in a row of nodes, or of points.
constexpr int NODE_COLUMNS = (NODES + VECTOR - 1) / VECTOR;
constexpr int POINT_COLUMNS = (POINTS + VECTOR - 1) / VECTOR;
constexpr int IN_LAST = POINTS - (POINT_COLUMNS - 1) * VECTOR;  // points of the last one

// From row to column: from values at nodes to values at points, and back. Rows are padded by zeros.
alignas(64) UNIFORM_TABLE real TO_POINTS[NODES][PITCH] = FROM_NODES_TO_POINTS;
alignas(64) UNIFORM_TABLE real TO_NODES[POINTS][PITCH] = FROM_POINTS_TO_NODES;

// Lines of values, a step apart.
template <class Number> struct Lines {
  Number* first;
  int step;
};

// Sets `to` to the TO products of a matrix with lines of FROM values, or adds them.
template <int TO, bool ADD, int FROM>
INLINE void multiply_values(const Value (&values)[FROM], const Lines<real>& to,
                            const real (&matrix)[FROM][PITCH]) {
  UNROLL
  for (int k = 0; k < TO; ++k) {
    Value& result = value_at(to.first + k * to.step);
    Value sum = ADD ? result : Value{};
    UNROLL
    for (int m = 0; m < FROM; ++m) sum = FMA(matrix[m][k], values[m], sum);
    result = sum;
  }
}

// The same for lines in memory, which may be the same ones.
template <int FROM, int TO, bool ADD>
INLINE void multiply_lines(const Lines<const real>& from, const Lines<real>& to,
                           const real (&matrix)[FROM][PITCH]) {
  Value values[FROM];
  UNROLL
  for (int m = 0; m < FROM; ++m) values[m] = value_at(from.first + m * from.step);
  multiply_values<TO, ADD>(values, to, matrix);
}

// The same for a row along r. All results of a row are computed together.
template <int FROM, int TO, bool ADD>
INLINE void multiply_row(const real* from, real* to, const real (&matrix)[FROM][PITCH]) {
  constexpr int COUNT = (TO + VECTOR - 1) / VECTOR;
  Value sum[COUNT];
  UNROLL
  for (int k = 0; k < COUNT; ++k) sum[k] = ADD ? value_at(to + k * VECTOR) : Value{};
  UNROLL
  for (int m = 0; m < FROM; ++m) {
    const real value = from[m];
    UNROLL
    for (int k = 0; k < COUNT; ++k) sum[k] = FMA(value, value_at(matrix[m] + k * VECTOR), sum[k]);
  }
  UNROLL
  for (int k = 0; k < COUNT; ++k) value_at(to + k * VECTOR) = sum[k];
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

// The elements of a block, with these numbers.
struct BlockElements {
  const int* numbers;
  int count;

  METHOD BlockElements(const int* elements, index_t count, index_t block)
      : numbers(elements + block * ELEMENTS) {
    const index_t left = count - block * ELEMENTS;
    this->count = left < ELEMENTS ? left : ELEMENTS;
  }
};

// Reads values and interpolates them along t: then there are POINTS layers of NODES x NODES values.
PART void load_along_t(const Operands& operands, const BlockElements& mine, real* cubes) {
  FOR_THREADS(n, mine.count * NODES * NODE_COLUMNS) {
    const int row = n / NODE_COLUMNS, r = n % NODE_COLUMNS * VECTOR, s = row % NODES;
    real* const u = cubes + row / NODES * ROOM + s * PITCH + r;
    const index_t first = static_cast<index_t>(mine.numbers[row / NODES]) * CUBE + s * NODES + r;
    Value values[NODES] = {};
    UNROLL
    for (int t = 0; t < NODES; ++t)
      for (int k = 0; k < VECTOR; ++k)
        if (r + k < NODES) set_lane(values[t], k, operands.value(first + t * NODES * NODES + k));
    multiply_values<POINTS, false>(values, {u, LAYER}, TO_POINTS);
  }
}

// The transpose, which stores the results.
PART void store_along_t(const Operands& operands, const BlockElements& mine, real* cubes) {
  FOR_THREADS(n, mine.count * NODES * NODE_COLUMNS) {
    const int row = n / NODE_COLUMNS, r = n % NODE_COLUMNS * VECTOR, s = row % NODES;
    real* const u = cubes + row / NODES * ROOM + s * PITCH + r;
    multiply_lines<POINTS, NODES, false>({u, LAYER}, {u, LAYER}, TO_NODES);
    real* const y =
        operands.y + static_cast<index_t>(mine.numbers[row / NODES]) * CUBE + s * NODES + r;
    UNROLL
    for (int t = 0; t < NODES; ++t)
      for (int k = 0; k < VECTOR; ++k)
        if (r + k < NODES) y[t * NODES * NODES + k] = u[t * LAYER + k];
  }
}

// Along s, in all layers, where rows have NODES values: from nodes to points, or back.
template <int FROM, int TO>
PART void multiply_along_s(int count, real* cubes, const real (&matrix)[FROM][PITCH]) {
  FOR_THREADS(n, count * POINTS * NODE_COLUMNS) {
    real* const u = cubes + n / NODE_COLUMNS * LAYER + n % NODE_COLUMNS * VECTOR;
    multiply_lines<FROM, TO, false>({u, PITCH}, {u, PITCH}, matrix);
  }
}
