// On a GPU: one thread per node (s, r) of a plane. It keeps the values of all planes in registers,
// and the planes pass through shared memory one by one (Swirydowicz et al. 2019, Int. J. High
// Perform. Comput. Appl. 33, section 5).
#pragma once
#include "metric_ring.h"

INLINE double apply_some(const Operands& operands, const int* elements, int count, index_t) {
  SHARED(real, d, [NODES][ROW_PITCH]);
  SHARED(real, us, [ELEMENTS][NODES][NODES]);
  SHARED(real, fr, [ELEMENTS][NODES][NODES]);
  SHARED(real, fs, [ELEMENTS][NODES][NODES]);
  const int of_block = threadIdx.x / PLANE, s = threadIdx.x / NODES % NODES,
            r = threadIdx.x % NODES;
  const bool active = of_block < count;
  const int mine = active ? of_block : 0;  // idle threads only take part in barriers
  const index_t e = elements[mine];
  const Line line(operands.geometry, e, s, r);
  share_derivative(d);
  real u[NODES], sum[NODES];
  UNROLL
  for (int t = 0; t < NODES; ++t) u[t] = operands.value(e, t * PLANE + s * NODES + r);
  UNROLL
  for (int t = 0; t < NODES; ++t) sum[t] = 0;
  UNROLL
  for (int t = 0; t < NODES; ++t) {
    const Metric g = line.at(t);
    if (active) us[mine][s][r] = u[t];
    __syncthreads();
    Gradient along = {0, 0, 0};
    UNROLL
    for (int m = 0; m < NODES; ++m) {
      along.r = FMA(d[r][m], us[mine][s][m], along.r);
      along.s = FMA(d[s][m], us[mine][m][r], along.s);
      along.t = FMA(DERIVATIVE[t][m], u[m], along.t);
    }
    const Gradient f = flux(g, along);
    if (active) fr[mine][s][r] = f.r;
    if (active) fs[mine][s][r] = f.s;
    UNROLL
    for (int m = 0; m < NODES; ++m) sum[m] = FMA(DERIVATIVE[t][m], f.t, sum[m]);
    __syncthreads();
    real here = g.mass * u[t];
    UNROLL
    for (int m = 0; m < NODES; ++m) {
      here = FMA(d[m][r], fr[mine][s][m], here);
      here = FMA(d[m][s], fs[mine][m][r], here);
    }
    sum[t] += here;
  }
  if (!active) return 0;
  double energy = 0;
  UNROLL
  for (int t = 0; t < NODES; ++t) {
    operands.y[e * CUBE + t * PLANE + s * NODES + r] = sum[t];
    energy += static_cast<double>(u[t]) * static_cast<double>(sum[t]);
  }
  return energy;
}
