// A stage on a CPU: one element at a time, row by row along x. Rows are padded to whole vectors;
// the values of the padding are arbitrary and never stored.
#pragma once
// Rows of 9 to 12 values of 8 bytes: three vectors of 4 are faster than two of 8, a quarter or more
// of which is padding.
#if defined(DOUBLE_PRECISION) && NODES > 8 && NODES < 13
#define WIDEST_BYTES 32
#endif
#include "partial_store.h"
#include "spectral_elements/kernels/cpu_rows.h"

// Loads a whole vector, also beyond the end of a row, which is faster than a partial load. The
// bytes beyond the end of an array are readable, see READABLE_BYTES in cpu.py.
INLINE Lanes load_lanes(const real* row, int n) {
  Lanes lanes;
  memcpy(&lanes, row + n * VECTOR, sizeof(Lanes));
  return lanes;
}

INLINE void store_lanes(real* row, int n, const Lanes& lanes) {
  const int left = NODES - n * VECTOR;
  if (left < VECTOR) store_first(row + n * VECTOR, left, lanes);
  else memcpy(row + n * VECTOR, &lanes, sizeof(Lanes));
}

// The old values of an element, the jumps at its faces, and derivative matrices scaled by its
// edges.
struct Element {
  alignas(64) Cube u[FIELDS];  // `find_jumps` also reads the rows that follow, as padding
#if CURVED
  alignas(64) Cube differentiated[COLUMNS];
  METHOD const Cube& column(int n) const { return differentiated[n]; }
#else
  METHOD const Cube& column(int n) const { return u[n]; }
#endif
  alignas(64) real jumps[FACES][JUMP][NODES][PITCH];
  alignas(64) Plane along_x;  // contributions of each node to the derivatives of its row
  real along_y[NODES][NODES], along_z[NODES][NODES];
};

PART void load_element(const Elements& all, const Material& m, index_t e, Element& element) {
  const real* const from = all.u + e * PITCH_OF_ELEMENTS;
  for (int row = 0; row < FIELDS * PLANE; ++row) {
    UNROLL
    for (int n = 0; n < VECTORS; ++n)
      lanes_at(element.u[0][0][0] + row * PITCH, n) = load_lanes(from + row * NODES, n);
  }
  for (int a = 0; a < NODES; ++a) {
    for (int n = 0; n < VECTORS; ++n)
      lanes_at(element.along_x[a], n) = m.scale[0] * lanes_at(OF_ROWS[0][a], n);
    for (int b = 0; b < NODES; ++b) {
      element.along_y[a][b] = m.scale[1] * DERIVATIVE[a][b];
      element.along_z[a][b] = m.scale[2] * DERIVATIVE[a][b];
    }
  }
}

#if CURVED
// The metric of vector n of a row.
INLINE void load_metric(const Elements& all, index_t e, int row, int n, Lanes (&metric)[METRICS]) {
  const real* const from = all.metrics_of(e) + row * NODES;
  UNROLL
  for (int m = 0; m < METRICS; ++m) metric[m] = load_lanes(from + m * CUBE, n);
}

PART void find_columns(const Elements& all, index_t e, Element& element) {
  for (int row = 0; row < PLANE; ++row) {
    UNROLL
    for (int n = 0; n < VECTORS; ++n) {
      Lanes metric[METRICS];
      load_metric(all, e, row, n, metric);
      UNROLL
      for (int c = 0; c < COLUMNS; ++c)
        lanes_at(element.differentiated[c][0][0] + row * PITCH, n) = find_column(
            c, [&](int m) { return metric[m]; },
            [&](int field) { return lanes_at(element.u[field][0][0] + row * PITCH, n); });
    }
  }
}
#endif

typedef real FaceValues[TRACE][NODES][PITCH];

// The trace of the other side in the order of this side's nodes, if there is one.
INLINE void load_other_side(const Elements& all, index_t e, int face, long long entry,
                            FaceValues& values) {
  const real* const from = all.locate(trace_of(entry), false);
#if CURVED
  const int turn = all.turns[e * FACES + face];
  const int first = turned(0, turn), fast_step = turned(1, turn) - first,
            slow_step = turned(NODES, turn) - first;
  for (int n = 0; n < TRACE; ++n)
    for (int slow = 0; slow < NODES; ++slow)
      for (int fast = 0; fast < NODES; ++fast)
        values[n][slow][fast] = from[n * PLANE + first + slow * slow_step + fast * fast_step];
#else
  for (int n = 0; n < TRACE; ++n)
    for (int slow = 0; slow < NODES; ++slow)
      memcpy(values[n][slow], from + n * PLANE + slow * NODES, NODES * sizeof(real));
#endif
}

// Number of jumps that are computed for a row of a face: those of its padding too, unless tables of
// nodes are read.
constexpr int ROW_OF_FACE = CURVED || NODAL ? NODES : PITCH;

// GCC 12 has to be told to inline the loads of bricks, which are 10 % faster then. Other elements
// would be slower.
#if CURVED
#define INLINE_IN_BRICKS
#else
#define INLINE_IN_BRICKS __attribute__((always_inline))
#endif

template <int AXIS>
INLINE void find_jumps_along(const Elements& all, const Material& m, index_t e, Element& element) {
  // Along the fast axis.
  constexpr int STEP = AXIS == 0 ? NODES : 1, STEP_OF_U = AXIS == 0 ? PITCH : 1;
  alignas(64) FaceValues others;
  UNROLL
  for (int face = 2 * AXIS; face < 2 * AXIS + 2; ++face) {
    const long long entry = all.neighbours_of(e)[face];
    if (entry) load_other_side(all, e, face, entry, others);
#if GIVEN_JUMPS
    if (entry & 2) {
      memcpy(element.jumps[face], others, sizeof(FaceValues));
      continue;
    }
#endif
    for (int slow = 0; slow < NODES; ++slow) {
      const int first = node_of_face(face, slow * NODES);
      const real* const u = element.u[0][0][0] + first / NODES * PITCH + first % NODES;
      PRAGMA(omp simd)
      for (int fast = 0; fast < ROW_OF_FACE; ++fast) {
        OtherSide side;
        side.face = all.faces + e * FACES + face;
        side.entry = entry;
#if NODAL
        side.load_impedances(all, e, face, slow * NODES + fast);
#endif
        for (int n = 0; n < TRACE; ++n) side.values[n] = others[n][slow][fast];
        const int node = first + fast * STEP;
        const auto load_own = [&](OwnSide& own) INLINE_IN_BRICKS {
          own.load(all, e, face, node,
                   [&](int field) { return u[field * PLANE * PITCH + fast * STEP_OF_U]; });
        };
        real jump[JUMP];
        jump_at(all, m, e, face, node, load_own, side, jump);
        for (int n = 0; n < JUMP; ++n) element.jumps[face][n][slow][fast] = jump[n];
      }
    }
  }
}

PART void find_jumps(const Elements& all, const Material& m, index_t e, Element& element) {
  find_jumps_along<0>(all, m, e, element);
  find_jumps_along<1>(all, m, e, element);
  find_jumps_along<2>(all, m, e, element);
}

// The derivatives of vector n of row (k, j), without faces.
INLINE void differentiate_row(const Element& element, int j, int k, int n, Slopes<Lanes>& slopes) {
  UNROLL
  for (int w = 0; w < NODES; ++w) {
    add_slopes(slopes, 0, lanes_at(element.along_x[w], n),
               [&](int c) { return element.column(c)[k][j][w]; });
    add_slopes(slopes, 1, element.along_y[j][w],
               [&](int c) { return lanes_at(element.column(c)[k][w], n); });
    add_slopes(slopes, 2, element.along_z[k][w],
               [&](int c) { return lanes_at(element.column(c)[w][j], n); });
  }
}

// Adds the jumps at the first and the last node of a row.
INLINE void add_row_ends(const Element& element, const Material& m, int j, int k, int n,
                         Slopes<Lanes>& slopes) {
  const int last = NODES - 1 - n * VECTOR;
  Lanes side{}, jump[JUMP] = {};
  if (n == 0) {
    side[0] = -1;
    for (int c = 0; c < JUMP; ++c) jump[c][0] = element.jumps[0][c][k][j];
  }
  if (last < VECTOR) {
    side[last] = 1;
    for (int c = 0; c < JUMP; ++c) jump[c][last] = element.jumps[1][c][k][j];
  }
  add_jump(m, jump, 0, side, m.scale[0] * LIFT, slopes);
}

INLINE void add_side(const Element& element, const Material& m, int face, int slow, int n,
                     Slopes<Lanes>& slopes) {
  Lanes jump[JUMP];
  for (int c = 0; c < JUMP; ++c) jump[c] = lanes_at(element.jumps[face][c][slow], n);
  add_jump(m, jump, face / 2, face % 2 ? REAL(1) : REAL(-1), m.scale[face / 2] * LIFT, slopes);
}

// Adds the jumps of the faces normal to an axis.
INLINE void add_faces(const Element& element, const Material& m, int axis, int j, int k, int n,
                      Slopes<Lanes>& slopes) {
  const int place = axis == 1 ? j : k, within = axis == 1 ? k : j;
  if (axis == 0 && (n == 0 || n == VECTORS - 1)) add_row_ends(element, m, j, k, n, slopes);
  if (axis > 0 && place == 0) add_side(element, m, 2 * axis, within, n, slopes);
  if (axis > 0 && place == NODES - 1) add_side(element, m, 2 * axis + 1, within, n, slopes);
}

// Advances vector n of row (k, j).
INLINE void advance_lanes(const Elements& all, const Sources& sources, const Damping& damping,
                          const Stage& stage, const Material& m, index_t e, const Element& element,
                          int j, int k, int n) {
  Slopes<Lanes> slopes{};
  differentiate_row(element, j, k, n, slopes);
  for (int axis = 0; axis < 3; ++axis) add_faces(element, m, axis, j, k, n, slopes);
#if MATCHED
  if (all.layers.inside(e))
    all.layers.advance(
        e, (k * NODES + j) * NODES, stage,
        [&](const real* profile, int axis) {
          return axis == 0 ? load_lanes(profile, n) : Lanes{} + profile[axis == 1 ? j : k];
        },
        [&](const real* row) { return load_lanes(row, n); },
        [&](real* row, const Lanes& lanes) { store_lanes(row, n, lanes); }, slopes);
#endif
#if CURVED
  Lanes metric[METRICS];
  load_metric(all, e, k * NODES + j, n, metric);
  map_slopes(metric, slopes);
#endif
  Lanes rates[FIELDS];
  const auto load = [&](const real* row) { return load_lanes(row, n); };
  const auto store = [&](real* row, const Lanes& lanes) { store_lanes(row, n, lanes); };
  const auto& moduli = all.moduli_at<Lanes>(m, e, (k * NODES + j) * NODES, load);
  find_rates(moduli, slopes, rates);
#if SOURCES
  sources.add(e, (k * NODES + j) * NODES, load, rates);
#endif
  const Lanes decay = damping.at<Lanes>(e, (k * NODES + j) * NODES, load);
  if (damping.inside(e))
    for (int c = 0; c < FIELDS; ++c) rates[c] -= decay * lanes_at(element.u[c][k][j], n);
#if MECHANISMS
  all.memory.advance(e, (k * NODES + j) * NODES, stage, moduli, slopes, decay, load, store, rates);
#endif
  const real a = static_cast<real>(stage.a), b = static_cast<real>(stage.b);
  const index_t at = e * PITCH_OF_ELEMENTS + (k * NODES + j) * NODES;
  Lanes old[FIELDS];
  UNROLL
  for (int c = 0; c < FIELDS; ++c) old[c] = lanes_at(element.u[c][k][j], n);
  advance_variables(a, b, rates, old, CUBE, all.r + at, all.u + at, load, store);
}

INLINE void advance_element(const Elements& all, const Sources& sources, const Damping& damping,
                            const Stage& stage, index_t e, Element& element) {
  const Material m = all.materials[e];
  load_element(all, m, e, element);
#if CURVED
  find_columns(all, e, element);
#endif
  find_jumps(all, m, e, element);
  for (int row = 0; row < PLANE; ++row) {
    UNROLL
    for (int n = 0; n < VECTORS; ++n)
      advance_lanes(all, sources, damping, stage, m, e, element, row % NODES, row / NODES, n);
  }
}

template <int AXIS> INLINE void store_traces_along(const Elements& all, index_t e) {
  constexpr int STEP = AXIS == 0 ? NODES : 1;  // along the fast axis
  const real* const u = all.u + e * PITCH_OF_ELEMENTS;
  for (int face = 2 * AXIS; face < 2 * AXIS + 2; ++face) {
    real* const target = all.locate(all.targets_of(e)[face], true);
    if (!target) continue;
    for (int slow = 0; slow < NODES; ++slow) {
      const int first = node_of_face(face, slow * NODES);
#if CURVED
      PRAGMA(omp simd)
      for (int fast = 0; fast < NODES; ++fast) {
        const int node = first + fast * STEP;
        OwnSide own;
        own.load(all, e, face, node, [&](int field) { return u[field * CUBE + node]; });
        own.store(target, slow * NODES + fast);
      }
#else
      for (int n = 0; n < TRACE; ++n) {
        const real* const from = u + traced_field(AXIS, n) * CUBE + first;
        real* const to = target + n * PLANE + slow * NODES;
        for (int fast = 0; fast < NODES; ++fast) to[fast] = from[fast * STEP];
      }
#endif
    }
  }
}

PART void store_element_traces(const Elements& all, index_t e) {
  store_traces_along<0>(all, e);
  store_traces_along<1>(all, e);
  store_traces_along<2>(all, e);
}

// The block of elements to advance: each thread keeps its own elements from stage to stage.
INLINE index_t in_turn(index_t b, index_t, index_t) { return b; }

INLINE void advance_block(const Elements& all, const Sources& sources, const Damping& damping,
                          const Stage& stage, index_t first, int count) {
  const FlushDenormals flush;
  Element element;
  for (index_t e = first; e < first + count; ++e) {
    advance_element(all, sources, damping, stage, e, element);
    store_element_traces(all, e);
  }
}
