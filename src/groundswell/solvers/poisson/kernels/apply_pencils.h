// On a GPU: one thread per line of nodes, which keeps the line's values in registers, so that all
// threads multiply by the same entry of the derivative matrix at a time. Each thread starts and
// ends with a line along t. For the lines along r and s, nodes are exchanged in shared memory,
// where a stored metric arrives meanwhile.
#pragma once
#include "metric_ring.h"
#include "spectral_elements/kernels/differentiate.h"
#include "spectral_elements/kernels/pencils.h"

// Threads per row of lines: half a warp, if that needs no more warps. Half a warp's doubles are
// read together, and those of a row and part of the next one would share banks.
constexpr int HALF_WARP = WARP / 2, ROOM = (PLANE + WARP - 1) / WARP * WARP;
constexpr bool SPACED = ELEMENTS == 1 && NODES <= HALF_WARP && NODES * HALF_WARP <= ROOM;
constexpr int ROW = SPACED ? HALF_WARP : NODES;

// A barrier for the threads that work on the same element.
INLINE void meet() {
  if (WARP % PLANE == 0) __syncwarp();
  else __syncthreads();
}

INLINE double apply_some(const Operands& operands, const int* elements, int count, index_t) {
  DYNAMIC_SHARED(real, memory);
  const int of_block = threadIdx.x / (NODES * ROW), s = threadIdx.x / ROW % NODES;
  const int column = threadIdx.x % ROW, r = column < NODES ? column : 0;
  const bool active = of_block < count && column < NODES;
  // Idle threads only follow the ring and the barriers; their results are discarded.
  const int mine = active ? of_block : 0;
  const int e = elements[mine];
  const Ring ring{operands, elements, count, MAX_THREADS_PER_BLOCK / WARP, memory};
  ring.start();
  const Cube one{memory + RING_VALUES + 2 * mine * SHARED_CUBE, s, r};
  const Cube other{one.nodes + SHARED_CUBE, s, r};
  real u[NODES] = {}, line[NODES];
  if (active) {
    UNROLL
    for (int t = 0; t < NODES; ++t) u[t] = operands.value(e, t * PLANE + s * NODES + r);
    one.along_t().store(u);
  }
  meet();
  if (active) {
    one.along_r().load(line);
    differentiate<false>(line);
    other.along_r().store(line);
    one.along_s().load(line);
  }
  meet();
  if (active) {
    differentiate<false>(line);
    one.along_s().store(line);
  }
  meet();
  double energy = 0;
  const auto metric = ring.line(mine, e, s, r);
  const Pencil of_r = other.along_t(), of_s = one.along_t();
  UNROLL
  for (int t = 0; t < NODES; ++t) line[t] = u[t];
  differentiate<false>(line);
  UNROLL
  for (int t = 0; t < NODES; ++t) {
    ring.await(t);
    const Metric g = metric.at(t);
    ring.release(t);
    const Gradient along = {of_r[t], of_s[t], line[t]}, f = flux(g, along);
    const real here = g.mass * u[t];
    energy += static_cast<double>(dot(along, f)) + static_cast<double>(here) * u[t];
    if (active) of_r[t] = f.r;
    if (active) of_s[t] = f.s;
    line[t] = f.t;
    u[t] = here;
  }
  differentiate<true>(line);
  UNROLL
  for (int t = 0; t < NODES; ++t) u[t] += line[t];
  meet();
  if (active) {
    other.along_r().load(line);
    differentiate<true>(line);
    other.along_r().store(line);
    one.along_s().load(line);
    differentiate<true>(line);
    one.along_s().store(line);
  }
  meet();
  if (active) {
    real* const y = operands.y + static_cast<index_t>(e) * CUBE + s * NODES + r;
    UNROLL
    for (int t = 0; t < NODES; ++t) y[t * PLANE] = u[t] + (of_r[t] + of_s[t]);
  }
  return active ? energy : 0;
}
