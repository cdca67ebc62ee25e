// A stage on a GPU. A block of threads advances ELEMENTS elements, LAYERS planes normal to z of
// each at a time.
//
// With IN_SHARED, the fields and the register of bricks are in shared memory. New fields replace
// the register there, and traces are taken from them. Without it, fields are updated in global
// memory once no thread reads the old ones. In elements that are not bricks, IN_SHARED places only
// the differentiated values in shared memory, and each thread stores the traces of its nodes.
#pragma once
#include "fetch.h"

#define FETCHED (IN_SHARED && !CURVED)
#define COLUMNS_IN_SHARED (IN_SHARED && CURVED)

constexpr int THREADS = PLANE * LAYERS;  // threads of an element
constexpr int TURNS = (FACE_NODES + THREADS - 1) / THREADS;
constexpr int ROW = NODES | 1;  // rows of a table start in different banks
constexpr int PITCH = PITCH_OF_ELEMENTS;
constexpr int IN_SHARED_OF_ELEMENT =  // values
    FETCHED ? 2 * PITCH : (IN_SHARED ? COLUMNS * CUBE : 0);

INLINE real load_real(const real* from) { return *from; }
INLINE void store_real(real* to, real value) { *to = value; }

// Table entries of an element's faces, copied to shared memory. Loads from global memory after a
// barrier would delay the whole block.
struct FaceTables {
  FaceEntry faces[FACES];
  long long targets[FACES];
};

struct Block {
  const Elements& all;
  const Sources& sources;
  const Damping& damping;
  const Stage& stage;
  index_t e;
  int t;
  real *u, *r;    // fields and register of the element, in shared or global memory
  real* columns;  // (COLUMNS, CUBE), see `column`
  real* jumps;    // (FACES, JUMP, PLANE)
  const real (*derivative)[ROW];
  FaceTables& tables;
#if CURVED
  mutable real metric[METRICS];  // metric terms of the node that the thread loaded last
#endif

  METHOD void prefetch_tables() const {
    for (int face = t; face < FACES; face += THREADS)
      prefetch(all.faces + e * FACES + face, all.targets_of(e) + face);
  }

  METHOD void load_tables() const {
    for (int face = t; face < FACES; face += THREADS) {
      tables.faces[face] = all.faces[e * FACES + face];
      tables.targets[face] = all.targets_of(e)[face];
    }
  }

  METHOD void load_other_sides(OtherSide (&sides)[TURNS]) const {
    UNROLL
    for (int turn = 0; turn < TURNS; ++turn) {
      const int at = turn * THREADS + t, face = at / PLANE;
      if (at >= FACE_NODES) break;
      sides[turn].face = tables.faces + face;
      sides[turn].load(all, e, face, at % PLANE);
    }
  }

  METHOD void find_jumps(const Material& m, const OtherSide (&sides)[TURNS]) const {
    UNROLL
    for (int turn = 0; turn < TURNS; ++turn) {
      const int at = turn * THREADS + t, face = at / PLANE, p = at % PLANE;
      if (at >= FACE_NODES) break;
      const int node = node_of_face(face, p);
      const auto load_own = [&](OwnSide& own) {
#if COLUMNS_IN_SHARED
        own.load_columns(all, e, face, node, [&](int n) { return columns[n * CUBE + node]; });
#else
        own.load(all, e, face, node, [&](int field) { return u[field * CUBE + node]; });
#endif
      };
      real jump[JUMP];
      jump_at(all, m, e, face, node, load_own, sides[turn], jump);
      UNROLL
      for (int n = 0; n < JUMP; ++n) jumps[(face * JUMP + n) * PLANE + p] = jump[n];
    }
  }

#if CURVED
  METHOD auto metric_at(int node) const {
    return [metrics = all.metrics_of(e), node](int n) { return metrics[n * CUBE + node]; };
  }
#endif

  // A value at a node that is differentiated.
  METHOD real column(int n, int node) const {
#if CURVED && !IN_SHARED
    return find_column(n, metric_at(node), [&](int field) { return u[field * CUBE + node]; });
#else
    return columns[n * CUBE + node];
#endif
  }

#if CURVED
  METHOD void load_metric(int node) const {
    load_all(all.metrics_of(e) + node, CUBE, load_real, metric);
  }

  METHOD void find_columns() const {
    for (int node = t; node < CUBE; node += THREADS) {
      real fields[FIELDS];
      load_metric(node);
      load_all(u + node, CUBE, load_real, fields);
      UNROLL
      for (int n = 0; n < COLUMNS; ++n)
        columns[n * CUBE + node] = find_column(
            n, [&](int m) { return metric[m]; }, [&](int field) { return fields[field]; });
    }
  }
#endif

  // Adds the jump of a face normal to an axis to the derivatives at a node, if the node lies on it.
  METHOD void add_face(const Material& m, int axis, int place, int within,
                       Slopes<real>& slopes) const {
    if (place > 0 && place < NODES - 1) return;
    const int high = place > 0;
    real jump[JUMP];
    UNROLL
    for (int n = 0; n < JUMP; ++n) jump[n] = jumps[((2 * axis + high) * JUMP + n) * PLANE + within];
    add_jump(m, jump, axis, high ? REAL(1) : REAL(-1), m.scale[axis] * LIFT, slopes);
  }

  METHOD void advance_node(const Material& m, int own_i, int own_j, int k) const {
    // Rows of the derivative matrix do not stay in registers from turn to turn. Bricks of degree 3
    // are 9 % faster on an H200.
    const int i = LAYERS < NODES ? forget(own_i) : own_i,
              j = LAYERS < NODES ? forget(own_j) : own_j;
    Slopes<real> slopes{};
    UNROLL
    for (int w = 0; w < NODES; ++w) {
      const int along[3] = {(k * NODES + j) * NODES + w, (k * NODES + w) * NODES + i,
                            (w * NODES + j) * NODES + i};
      const real factor[3] = {derivative[i][w], derivative[j][w], derivative[k][w]};
      UNROLL
      for (int axis = 0; axis < 3; ++axis)
        add_slopes(slopes, axis, factor[axis] * m.scale[axis],
                   [&](int n) { return column(n, along[axis]); });
    }
    const int place[3] = {i, j, k}, within[3] = {k * NODES + j, k * NODES + i, j * NODES + i};
    UNROLL
    for (int axis = 0; axis < 3; ++axis) add_face(m, axis, place[axis], within[axis], slopes);
#if MATCHED
    if (all.layers.inside(e))
      all.layers.advance(
          e, (k * NODES + j) * NODES + i, stage,
          [&](const real* profile, int axis) { return profile[place[axis]]; }, load_real,
          store_real, slopes);
#endif
#if CURVED
    // With one node for each thread, `find_columns` has already loaded the metric terms.
    if (!IN_SHARED || LAYERS < NODES) load_metric((k * NODES + j) * NODES + i);
    map_slopes(metric, slopes);
#endif
    update(m, slopes, i, j, k);
  }

  METHOD void update(const Material& m, const Slopes<real>& slopes, int i, int j, int k) const {
    const int node = (k * NODES + j) * NODES + i;
    real rates[FIELDS];
    const auto& moduli = all.moduli_at<real>(m, e, node, load_real);
    find_rates(moduli, slopes, rates);
#if SOURCES
    sources.add(e, node, load_real, rates);
#endif
    if (damping.inside(e)) {
      const real decay = damping.at<real>(e, node, load_real);
      UNROLL
      for (int c = 0; c < FIELDS; ++c) rates[c] = FMA(-decay, u[c * CUBE + node], rates[c]);
    }
#if MECHANISMS
    all.memory.advance(e, node, stage, moduli, slopes, damping.at<real>(e, node, load_real),
                       load_real, store_real, rates);
#endif
    const real a = static_cast<real>(stage.a), b = static_cast<real>(stage.b);
#if FETCHED
    // Field by field: up to 3 % faster than loading all first, as shared memory answers fast.
    UNROLL
    for (int c = 0; c < FIELDS; ++c) {
      const int n = c * CUBE + node;
      const real now = a != 0 ? FMA(a, r[n], rates[c]) : rates[c];
      all.r[e * PITCH + n] = now;
      r[n] = FMA(b, now, u[n]);
      all.u[e * PITCH + n] = r[n];
    }
#elif IN_SHARED
    real fields[FIELDS], now[FIELDS];
    UNROLL
    for (int c = 0; c < FIELDS; ++c)
      fields[c] =
          column_of_field(c) < 0 ? u[c * CUBE + node] : columns[column_of_field(c) * CUBE + node];
    advance_register(a, rates, CUBE, r + node, load_real, store_real, now);
    UNROLL
    for (int c = 0; c < FIELDS; ++c) {
      fields[c] = FMA(b, now[c], fields[c]);
      u[c * CUBE + node] = fields[c];
    }
    store_traces_of_node(fields, i, j, k);
#else
    real now[FIELDS];
    advance_register(a, rates, CUBE, r + node, load_real, store_real, now);
#endif
  }

  // Updates the fields of a node in global memory.
  METHOD void update_fields(int i, int j, int k) const {
    const int node = (k * NODES + j) * NODES + i;
    UNROLL
    for (int c = 0; c < FIELDS; ++c) {
      const int n = c * CUBE + node;
      u[n] = FMA(static_cast<real>(stage.b), r[n], u[n]);
    }
  }

#if COLUMNS_IN_SHARED
  // Stores the traces of a node on all faces that contain it. The thread still has the metric terms
  // and the fields.
  METHOD void store_traces_of_node(const real (&fields)[FIELDS], int i, int j, int k) const {
    const int place[3] = {i, j, k}, within[3] = {k * NODES + j, k * NODES + i, j * NODES + i};
    UNROLL
    for (int axis = 0; axis < 3; ++axis) {
      if (place[axis] > 0 && place[axis] < NODES - 1) continue;
      const int high = place[axis] > 0;
      real* const target = all.locate(tables.targets[2 * axis + high], true);
      if (!target) continue;
      const real side = high ? REAL(1) : REAL(-1);
      OwnSide own;
      own.normal = unit_normal(
          {side * metric[3 * axis], side * metric[3 * axis + 1], side * metric[3 * axis + 2]});
      find_trace(own.normal.along, [&](int field) { return fields[field]; }, own.values);
      own.store(target, within[axis]);
    }
  }
#endif

  METHOD void store_traces(const real* now) const {
    UNROLL
    for (int turn = 0; turn < TURNS; ++turn) {
      const int at = turn * THREADS + t, face = at / PLANE, p = at % PLANE;
      if (at >= FACE_NODES) break;
      real* const target = all.locate(tables.targets[face], true);
      if (!target) continue;
      const int node = node_of_face(face, p);
      OwnSide own;
      own.load(all, e, face, node, [&](int field) { return now[field * CUBE + node]; });
      own.store(target, p);
    }
  }
};

#if MATCHED
// Prefetches the memory variables of an element, and their register. t: thread of the element.
INLINE void prefetch_variables(const MatchedLayers& layers, index_t e, int t, bool with_register) {
  constexpr int COUNT = STRETCHED * CUBE;
  UNROLL
  for (int axis = 0; axis < 3; ++axis) {
    const int set = layers.sets[3 * e + axis];
    if (set < 0) continue;
    const index_t first = static_cast<index_t>(set) * COUNT;
    prefetch_values(layers.psi + first, COUNT, t, THREADS);
    if (with_register) prefetch_values(layers.r + first, COUNT, t, THREADS);
  }
}
#endif

// The block of elements that a block of threads advances. Odd stages begin with the last elements,
// which the previous stage has left in the second-level cache.
INLINE index_t in_turn(index_t b, index_t blocks, index_t stage) {
  return stage % 2 ? blocks - 1 - b : b;
}

// first: first element of the block; count: number of its elements.
INLINE void advance_block(const Elements& all, const Sources& sources, const Damping& damping,
                          const Stage& stage, index_t first, int count) {
  SHARED(real, derivative, [NODES][ROW]);
  const int mine = threadIdx.x / THREADS, t = threadIdx.x % THREADS;
  const index_t e = first + (mine < count ? mine : 0);  // idle threads only take part in barriers
#if COLUMNS_IN_SHARED
  // Before all other loads.
  if (stage.a != 0) prefetch_values(all.r + first * PITCH, count * PITCH, threadIdx.x, blockDim.x);
#endif
  DYNAMIC_SHARED(real, memory);  // IN_SHARED_OF_ELEMENT values of all elements, and their jumps
  real *const from_u = all.u + first * PITCH, *const from_r = all.r + first * PITCH;
#if FETCHED
  real *const first_u = memory, *const first_r = memory + ELEMENTS * PITCH;
  const Fetch fetch{from_u, from_r, first_u, first_r, count * PITCH};
  const bool with_r = stage.a != 0;  // the first stage needs no register
#if HAS_BULK_COPY
  SHARED(mbarrier_t, arrivals, [2]);
  fetch.start(arrivals, with_r);
#else
  fetch.start(with_r);
#endif
#else
  real *const first_u = from_u, *const first_r = from_r;
#endif
  real *const u = first_u + (e - first) * PITCH, *const r = first_r + (e - first) * PITCH;
  for (int n = threadIdx.x; n < PLANE; n += blockDim.x)
    derivative[n / NODES][n % NODES] = DERIVATIVE_AT[n / NODES][n % NODES];
  const Material m = all.materials[e];
  real* const columns = CURVED ? memory + mine * IN_SHARED_OF_ELEMENT : u;
  real* const jumps = memory + ELEMENTS * IN_SHARED_OF_ELEMENT + mine * FACES * JUMP * PLANE;
  SHARED(FaceTables, tables, [ELEMENTS]);
  const Block block{all, sources, damping, stage, e,          t,
                    u,   r,       columns, jumps, derivative, tables[mine]};
  OtherSide sides[TURNS];
  block.load_other_sides(sides);  // loads overlap with waiting for the elements
#if MATCHED
  if (mine < count) prefetch_variables(all.layers, e, t, stage.a != 0);
#endif
#if COLUMNS_IN_SHARED
  block.prefetch_tables();
  if (mine < count) block.find_columns();
#endif
  block.load_tables();
  BARRIER();
#if FETCHED && HAS_BULK_COPY
  wait_mbarrier(arrivals, 0);
#endif
  if (mine < count) block.find_jumps(m, sides);
  BARRIER();
#if FETCHED && HAS_BULK_COPY
  if (with_r) wait_mbarrier(arrivals + 1, 0);
#endif
  const int i = t % NODES, j = t / NODES % NODES;
#pragma unroll 1
  for (int k = t / PLANE; k < NODES && mine < count; k += LAYERS) block.advance_node(m, i, j, k);
#if !IN_SHARED
  BARRIER();
  for (int k = t / PLANE; k < NODES && mine < count; k += LAYERS) block.update_fields(i, j, k);
#endif
#if !COLUMNS_IN_SHARED
  BARRIER();
  if (mine < count) block.store_traces(FETCHED ? r : u);
#endif
}
