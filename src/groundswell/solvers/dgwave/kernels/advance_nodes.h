// A stage on a GPU: each block holds ELEMENTS elements, a thread for each of LAYERS nodes of a line along z at
// a time. If fields and register are IN_SHARED memory, new fields replace the register there, and faces take
// their traces from it. Otherwise new fields are found when no thread reads the old ones any more.
#pragma once
#include "bulk_copy.h"


constexpr int THREADS = PLANE * LAYERS;  // of an element
constexpr int TURNS = (FACE_NODES + THREADS - 1) / THREADS;
constexpr int ROW = NODES | 1;  // rows of a table start in different banks
constexpr int PITCH = PITCH_OF_ELEMENTS;

// Fetches fields and register of a block's elements into shared memory.
struct Fetch {
  const real *from_u, *from_r;
  real *u, *r;
  int values;  // of each

#if HAS_BULK_COPY
  // Called by all threads, which synchronise afterwards.
  METHOD void start(mbarrier_t* arrivals, bool with_r) const {
    if (threadIdx.x) return;
    const int bytes = values * sizeof(real);
    for (int n = 0; n < 1 + with_r; ++n) {
      init_mbarrier(arrivals + n);
      expect_bytes(arrivals + n, bytes);
      bulk_copy(n ? r : u, n ? from_r : from_u, bytes, arrivals + n);
    }
  }
#else
  METHOD void start(bool with_r) const {
    for (int n = threadIdx.x; n < values; n += blockDim.x) {
      u[n] = from_u[n];
      if (with_r) r[n] = from_r[n];
    }
  }
#endif
};

struct Block {
  const Elements& all;
  const Sources& sources;
  const Damping& damping;
  const Stage& stage;
  index_t e;
  int t;
  real *u, *r;  // of the element, in shared memory if they are there
  real* jumps;   // (FACES, JUMP, PLANE)
  const real (*derivative)[ROW];

  METHOD void load_other_sides(OtherSide (&sides)[TURNS]) const {
    UNROLL
    for (int turn = 0; turn < TURNS; ++turn) {
      const int at = turn * THREADS + t;
      if (at < FACE_NODES) sides[turn].load(all, e, at / PLANE, at % PLANE);
    }
  }

  METHOD void find_jumps(const Material& m, const OtherSide (&sides)[TURNS]) const {
    UNROLL
    for (int turn = 0; turn < TURNS; ++turn) {
      const int at = turn * THREADS + t, face = at / PLANE, p = at % PLANE;
      if (at >= FACE_NODES) break;
      const int node = node_of_face(face, p);
      real jump[JUMP];
      jump_at(all, m, e, face, sides[turn], [&](int field) { return u[field * CUBE + node]; }, jump);
      UNROLL
      for (int n = 0; n < JUMP; ++n) jumps[(face * JUMP + n) * PLANE + p] = jump[n];
    }
  }

  METHOD void advance_node(const Material& m, int i, int j, int k) const {
    Slopes<real> slopes{};
    UNROLL
    for (int w = 0; w < NODES; ++w) {
      const int along[3] = {(k * NODES + j) * NODES + w, (k * NODES + w) * NODES + i, (w * NODES + j) * NODES + i};
      const real factor[3] = {derivative[i][w], derivative[j][w], derivative[k][w]};
      UNROLL
      for (int axis = 0; axis < 3; ++axis)
        add_slopes(slopes, axis, factor[axis] * m.scale[axis],
                   [&](int field) { return u[field * CUBE + along[axis]]; });
    }
    const int place[3] = {i, j, k}, within[3] = {k * NODES + j, k * NODES + i, j * NODES + i};
    UNROLL
    for (int axis = 0; axis < 3; ++axis) {
      if (place[axis] > 0 && place[axis] < NODES - 1) continue;
      const int high = place[axis] > 0;
      real jump[JUMP];
      UNROLL
      for (int n = 0; n < JUMP; ++n) jump[n] = jumps[((2 * axis + high) * JUMP + n) * PLANE + within[axis]];
      add_jump(m, jump, axis, high ? REAL(1) : REAL(-1), m.scale[axis] * LIFT, slopes);
    }
    update(m, slopes, i, j, k);
  }

  METHOD void update(const Material& m, const Slopes<real>& slopes, int i, int j, int k) const {
    const int node = (k * NODES + j) * NODES + i;
    real rates[FIELDS];
    find_rates(m, slopes, rates);
#if SOURCES
    sources.add(e, j, k, [&](const real* shape) { return shape[i]; }, rates);
#endif
#if DAMPING
    if (damping.inside(e)) {
      const real decay = damping.at(e, i, j, k);
      UNROLL
      for (int c = 0; c < FIELDS; ++c) rates[c] = FMA(-decay, u[c * CUBE + node], rates[c]);
    }
#endif
#if MECHANISMS
    all.memory.advance(
        e, node, stage, slopes, DAMPING ? damping.at(e, i, j, k) : REAL(0), [](const real* from) { return *from; },
        [](real* to, real value) { *to = value; }, rates);
#endif
    const real a = static_cast<real>(stage.a), b = static_cast<real>(stage.b);
    UNROLL
    for (int c = 0; c < FIELDS; ++c) {
      const int n = c * CUBE + node;
      const real now = a != 0 ? FMA(a, r[n], rates[c]) : rates[c];
      all.r[e * PITCH + n] = now;
#if IN_SHARED
      r[n] = FMA(b, now, u[n]);
      all.u[e * PITCH + n] = r[n];
#endif
    }
  }

  // The new fields of a node that is not in shared memory.
  METHOD void update_fields(int i, int j, int k) const {
    const int node = (k * NODES + j) * NODES + i;
    UNROLL
    for (int c = 0; c < FIELDS; ++c) {
      const int n = c * CUBE + node;
      u[n] = FMA(static_cast<real>(stage.b), r[n], u[n]);
    }
  }

  METHOD void store_traces(const real* now) const {
    UNROLL
    for (int turn = 0; turn < TURNS; ++turn) {
      const int at = turn * THREADS + t, face = at / PLANE, p = at % PLANE;
      if (at >= FACE_NODES) break;
      real* const target = all.target(e, face);
      if (!target) continue;
      UNROLL
      for (int n = 0; n < TRACE; ++n)
        target[n * PLANE + p] = now[traced_field(face / 2, n) * CUBE + node_of_face(face, p)];
    }
  }
};

// first: the block's first element; count: how many it has.
INLINE void advance_block(const Elements& all, const Sources& sources, const Damping& damping, const Stage& stage,
                          index_t first, int count) {
  SHARED(real, derivative, [NODES][ROW]);
  const int mine = threadIdx.x / THREADS, t = threadIdx.x % THREADS;
  const index_t e = first + (mine < count ? mine : 0);  // idle threads only take part in barriers
  DYNAMIC_SHARED(real, memory);  // fields and register of all elements if IN_SHARED, and their jumps
  real *const from_u = all.u + first * PITCH, *const from_r = all.r + first * PITCH;
#if IN_SHARED
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
  for (int n = threadIdx.x; n < PLANE; n += blockDim.x) derivative[n / NODES][n % NODES] = DERIVATIVE_AT[n / NODES][n % NODES];
  const Material m = all.materials[e];
  real* const jumps = memory + 2 * IN_SHARED * ELEMENTS * PITCH + mine * FACES * JUMP * PLANE;
  const Block block{all, sources, damping, stage, e, t, u, r, jumps, derivative};
  OtherSide sides[TURNS];
  block.load_other_sides(sides);  // they arrive while the block waits for its elements
  BARRIER();
#if IN_SHARED && HAS_BULK_COPY
  wait_mbarrier(arrivals, 0);
#endif
  if (mine < count) block.find_jumps(m, sides);
  BARRIER();
#if IN_SHARED && HAS_BULK_COPY
  if (with_r) wait_mbarrier(arrivals + 1, 0);
#endif
  const int i = t % NODES, j = t / NODES % NODES;
#pragma unroll 1
  for (int k = t / PLANE; k < NODES && mine < count; k += LAYERS) block.advance_node(m, i, j, k);
  BARRIER();
#if !IN_SHARED
  for (int k = t / PLANE; k < NODES && mine < count; k += LAYERS) block.update_fields(i, j, k);
  BARRIER();
#endif
  if (mine < count) block.store_traces(IN_SHARED ? r : u);
}
