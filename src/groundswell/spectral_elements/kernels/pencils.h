// On a GPU: a thread for each line of nodes of some elements, which has the line's values in registers,
// so that all threads multiply by the same entry of the derivatives at a time. It begins and ends with a
// line along t; for those along r and s the nodes change hands in shared memory, where a stored metric
// comes meanwhile.
#pragma once
#include "block.h"
#include "derive.h"

// Nodes of a cube that threads share, with lines along r that begin in different banks.
constexpr int PITCH = NODES | 1, SHARED_CUBE = PLANE * PITCH;

// A line of a cube, along any axis.
struct Pencil {
  real* first;
  int step;

  METHOD real& operator[](int n) const { return first[n * step]; }
  METHOD void load(real (&line)[NODES]) const {
    UNROLL
    for (int n = 0; n < NODES; ++n) line[n] = (*this)[n];
  }
  METHOD void store(const real (&line)[NODES]) const {
    UNROLL
    for (int n = 0; n < NODES; ++n) (*this)[n] = line[n];
  }
};

// A thread's lines, of which it is number (slow, fast).
struct Cube {
  real* nodes;
  int slow, fast;

  METHOD Pencil along_r() const { return {nodes + (slow * NODES + fast) * PITCH, 1}; }
  METHOD Pencil along_s() const { return {nodes + slow * NODES * PITCH + fast, PITCH}; }
  METHOD Pencil along_t() const { return {nodes + slow * PITCH + fast, NODES * PITCH}; }
};

// Threads of a row of lines: half a warp where that takes no more warps, since half a warp's doubles
// are read together, and of a row and a part of the next one several would be in the same bank.
constexpr int HALF_WARP = WARP / 2, ROOM = (PLANE + WARP - 1) / WARP * WARP;
constexpr bool SPACED = ELEMENTS == 1 && NODES <= HALF_WARP && NODES * HALF_WARP <= ROOM;
constexpr int ROW = SPACED ? HALF_WARP : NODES;

// Where threads stop for those that work on the same element.
INLINE void meet() {
  if (WARP % PLANE == 0)
    __syncwarp();
  else
    __syncthreads();
}

INLINE double apply_some(const Given& given, const int* elements, int count, index_t) {
  DYNAMIC_SHARED(real, memory);
  const int of_block = threadIdx.x / (NODES * ROW), s = threadIdx.x / ROW % NODES;
  const int column = threadIdx.x % ROW, r = column < NODES ? column : 0;
  const bool active = of_block < count && column < NODES;
  // The others only keep up with the ring and barriers; what they work out of values that change
  // meanwhile goes nowhere.
  const int mine = active ? of_block : 0;
  const int e = elements[mine];
  const Ring ring{given, elements, count, MOST_THREADS / WARP, memory};
  ring.start();
  const Cube one{memory + RING_VALUES + 2 * mine * SHARED_CUBE, s, r};
  const Cube other{one.nodes + SHARED_CUBE, s, r};
  real u[NODES] = {}, line[NODES];
  if (active) {
    UNROLL
    for (int t = 0; t < NODES; ++t) u[t] = given.value(e, t * PLANE + s * NODES + r);
    one.along_t().store(u);
  }
  meet();
  if (active) {
    one.along_r().load(line);
    derive<false>(line);
    other.along_r().store(line);
    one.along_s().load(line);
  }
  meet();
  if (active) {
    derive<false>(line);
    one.along_s().store(line);
  }
  meet();
  double energy = 0;
  const auto shape = ring.line(mine, e, s, r);
  const Pencil of_r = other.along_t(), of_s = one.along_t();
  UNROLL
  for (int t = 0; t < NODES; ++t) line[t] = u[t];
  derive<false>(line);
  UNROLL
  for (int t = 0; t < NODES; ++t) {
    ring.await(t);
    const Metric g = shape.at(t);
    ring.leave(t);
    const Gradient along = {of_r[t], of_s[t], line[t]}, f = flux(g, along);
    const real here = g.mass * u[t];
    energy += static_cast<double>(dot(along, f)) + static_cast<double>(here) * u[t];
    if (active) of_r[t] = f.r;
    if (active) of_s[t] = f.s;
    line[t] = f.t;
    u[t] = here;
  }
  derive<true>(line);
  UNROLL
  for (int t = 0; t < NODES; ++t) u[t] += line[t];
  meet();
  if (active) {
    other.along_r().load(line);
    derive<true>(line);
    other.along_r().store(line);
    one.along_s().load(line);
    derive<true>(line);
    one.along_s().store(line);
  }
  meet();
  if (active) {
    real* const y = given.y + static_cast<index_t>(e) * CUBE + s * NODES + r;
    UNROLL
    for (int t = 0; t < NODES; ++t) y[t * PLANE] = u[t] + (of_r[t] + of_s[t]);
  }
  return active ? energy : 0;
}
