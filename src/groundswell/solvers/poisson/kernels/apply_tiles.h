// On a GPU with double-precision tensor cores: one warp per 8 x 8 tile of an element's planes (s,
// r). It keeps the tile's values of all planes in registers. Derivatives along r and s are products
// of tiles; each thread computes those along t from its own values.
#pragma once
#include "metric_ring.h"
#include "spectral_elements/kernels/tiles.h"

static_assert(WARPS == 1 || ELEMENTS == 1, "several warps of an element meet at a block's barrier");

// A barrier for the warps that work on the same element.
INLINE void meet() {
  if (WARPS == 1) __syncwarp();
  else __syncthreads();
}

INLINE double apply_some(const Operands& operands, const int* elements, int count, index_t) {
  SHARED(Plane, planes, [ELEMENTS][3]);  // u and two fluxes
  DYNAMIC_SHARED(real, memory);
  const int warp = threadIdx.x / WARP, of_block = warp / WARPS, tile = warp % WARPS;
  const int p = threadIdx.x % WARP / 4, q = threadIdx.x % 4;
  const int first_s = tile / TILES * 8, first_r = tile % TILES * 8;
  const int s = first_s + p, r = first_r + 2 * q;  // this thread's first node
  const Ring ring{operands, elements, count, count * WARPS, memory};
  ring.start();
  if (of_block >= count) return 0;  // the same for all warps of an element
  const index_t e = elements[of_block];
  Plane &us = planes[of_block][0], &fr = planes[of_block][1], &fs = planes[of_block][2];
  real d_r[PIECES], d_s[PIECES], transposed_r[PIECES], transposed_s[PIECES];
  UNROLL
  for (int k = 0; k < PIECES; ++k) {
    d_r[k] = derivative(first_r + p, 4 * k + q);
    d_s[k] = derivative(first_s + p, 4 * k + q);
    transposed_r[k] = derivative(4 * k + q, first_r + p);
    transposed_s[k] = derivative(4 * k + q, first_s + p);
  }
  const bool exists[2] = {inside(s, r), inside(s, r + 1)};
  // Padding uses the metric of another node, multiplied by zeros.
  const auto line = ring.line(of_block, e, exists[0] ? s : 0, exists[0] ? r : 0);
  const auto next = ring.line(of_block, e, exists[1] ? s : 0, exists[1] ? r + 1 : 0);
  real u[NODES][2], sum[NODES][2];
  UNROLL
  for (int t = 0; t < NODES; ++t) {
    UNROLL
    for (int h = 0; h < 2; ++h) {
      u[t][h] = exists[h] ? operands.value(e, t * PLANE + s * NODES + r + h) : REAL(0);
      sum[t][h] = 0;
    }
  }
  UNROLL
  for (int t = 0; t < NODES; ++t) {
    ring.await(t);
    const Metric g[2] = {line.at(t), next.at(t)};
    ring.release(t);
    us[s][r] = u[t][0];
    us[s][r + 1] = u[t][1];
    meet();
    real along_r[2] = {0, 0}, along_s[2] = {0, 0}, along_t[2] = {0, 0};
    UNROLL
    for (int k = 0; k < PIECES; ++k) {
      multiply_tiles(along_r, us[s][4 * k + q], d_r[k]);
      multiply_tiles(along_s, d_s[k], us[4 * k + q][first_r + p]);
    }
    UNROLL
    for (int m = 0; m < NODES; ++m) {
      UNROLL
      for (int h = 0; h < 2; ++h) along_t[h] = FMA(DERIVATIVE[t][m], u[m][h], along_t[h]);
    }
    UNROLL
    for (int h = 0; h < 2; ++h) {
      const Gradient f = flux(g[h], {along_r[h], along_s[h], along_t[h]});
      fr[s][r + h] = f.r;
      fs[s][r + h] = f.s;
      UNROLL
      for (int m = 0; m < NODES; ++m) sum[m][h] = FMA(DERIVATIVE[t][m], f.t, sum[m][h]);
      sum[t][h] = FMA(g[h].mass, u[t][h], sum[t][h]);
    }
    meet();
    UNROLL
    for (int k = 0; k < PIECES; ++k) {
      multiply_tiles(sum[t], fr[s][4 * k + q], transposed_r[k]);
      multiply_tiles(sum[t], transposed_s[k], fs[4 * k + q][first_r + p]);
    }
  }
  double energy = 0;
  UNROLL
  for (int t = 0; t < NODES; ++t) {
    UNROLL
    for (int h = 0; h < 2; ++h) {
      if (exists[h]) operands.y[e * CUBE + t * PLANE + s * NODES + r + h] = sum[t][h];
      energy += u[t][h] * sum[t][h];
    }
  }
  return energy;
}
