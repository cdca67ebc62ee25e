// On a GPU, for low degrees: a thread for each node of some elements.
#pragma once
#include "block.h"

INLINE double apply_some(const Given& given, const int* elements, int count) {
  SHARED(real, d, [NODES][ROW_PITCH]);
  SHARED(real, u, [ELEMENTS][CUBE]);
  SHARED(real, fr, [ELEMENTS][CUBE]);
  SHARED(real, fs, [ELEMENTS][CUBE]);
  SHARED(real, ft, [ELEMENTS][CUBE]);
  const int mine = threadIdx.x / CUBE, node = threadIdx.x % CUBE;
  const int t = node / PLANE, s = node / NODES % NODES, r = node % NODES;
  const bool active = mine < count;
  share_derivative(d);
  real here = 0;
  Metric g;
  if (active) {
    const index_t e = elements[mine];
    u[mine][node] = here = given.value(e, node);
    g = Line(given.shape, e, s, r).at(t);
  }
  __syncthreads();
  if (active) {
    Gradient along = {0, 0, 0};
    UNROLL
    for (int m = 0; m < NODES; ++m) {
      along.r = FMA(d[r][m], u[mine][(t * NODES + s) * NODES + m], along.r);
      along.s = FMA(d[s][m], u[mine][(t * NODES + m) * NODES + r], along.s);
      along.t = FMA(d[t][m], u[mine][(m * NODES + s) * NODES + r], along.t);
    }
    const Gradient f = flux(g, along);
    fr[mine][node] = f.r;
    fs[mine][node] = f.s;
    ft[mine][node] = f.t;
  }
  __syncthreads();
  if (!active) return 0;
  real sum = g.mass * here;
  UNROLL
  for (int m = 0; m < NODES; ++m) {
    sum = FMA(d[m][r], fr[mine][(t * NODES + s) * NODES + m], sum);
    sum = FMA(d[m][s], fs[mine][(t * NODES + m) * NODES + r], sum);
    sum = FMA(d[m][t], ft[mine][(m * NODES + s) * NODES + r], sum);
  }
  given.y[static_cast<index_t>(elements[mine]) * CUBE + node] = sum;
  return static_cast<double>(here) * static_cast<double>(sum);
}
