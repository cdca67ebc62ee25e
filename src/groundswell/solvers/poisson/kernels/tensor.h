// On a GPU with tensor cores for double precision, for 8 or 16 nodes along an axis: a warp for each
// 8 x 8 tile of an element's planes (s, r), which has the tile's values of all planes in registers.
// Derivatives along r and s are products of tiles; along t each thread has what it needs.
//
// In m8n8k4, lane 4 p + q has entry (p, q) of A (8 x 4), (q, p) of B (4 x 8), and (p, 2 q) and
// (p, 2 q + 1) of C (PTX ISA, section "Warp-level matrix fragment for mma.m8n8k4").
#pragma once
#include "block.h"

constexpr int TILES = NODES / 8, WARPS = TILES * TILES, PIECES = NODES / 4;
// Lanes then read different banks, four rows of four neighbours at a time.
constexpr int PITCH = NODES == 8 ? 12 : 20;
static_assert(NODES == 8 || NODES == 16, "tiles fill planes");
static_assert(WARPS == 1 || ELEMENTS == 1, "several warps meet where all of the block do");

// C += A B.
INLINE void multiply_tiles(real (&c)[2], real a, real b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(c[0]), "+d"(c[1])
               : "d"(a), "d"(b));
}

// Where a warp stops for those that work on the same element.
INLINE void meet() {
  if (WARPS == 1)
    __syncwarp();
  else
    __syncthreads();
}

typedef real Plane[NODES][PITCH];

INLINE double apply_some(const Given& given, const int* elements, int count) {
  SHARED(Plane, planes, [ELEMENTS][3]);  // u and two fluxes
  const int warp = threadIdx.x / WARP, of_block = warp / WARPS, tile = warp % WARPS;
  const int p = threadIdx.x % WARP / 4, q = threadIdx.x % 4;
  const int first_s = tile / TILES * 8, first_r = tile % TILES * 8;
  const int s = first_s + p, r = first_r + 2 * q;  // of this thread's first value
  if (of_block >= count) return 0;                 // all warps of an element
  const index_t e = elements[of_block];
  Plane &us = planes[of_block][0], &fr = planes[of_block][1], &fs = planes[of_block][2];
  real d_r[PIECES], d_s[PIECES], back_r[PIECES], back_s[PIECES];
  UNROLL
  for (int k = 0; k < PIECES; ++k) {
    d_r[k] = DERIVATIVE_AT[first_r + p][4 * k + q];
    d_s[k] = DERIVATIVE_AT[first_s + p][4 * k + q];
    back_r[k] = DERIVATIVE_AT[4 * k + q][first_r + p];
    back_s[k] = DERIVATIVE_AT[4 * k + q][first_s + p];
  }
  const int thread = threadIdx.x % (WARPS * WARP);
  fetch_planes(given.shape, e, thread, 0, AHEAD);
  const Line lines[2] = {{given.shape, e, s, r}, {given.shape, e, s, r + 1}};
  real u[NODES][2], sum[NODES][2];
  UNROLL
  for (int t = 0; t < NODES; ++t)
    UNROLL
    for (int h = 0; h < 2; ++h) {
      u[t][h] = given.value(e, t * PLANE + s * NODES + r + h);
      sum[t][h] = 0;
    }
  UNROLL
  for (int t = 0; t < NODES; ++t) {
    fetch_planes(given.shape, e, thread, t + AHEAD, 1);
    const Metric g[2] = {lines[0].at(t), lines[1].at(t)};
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
    for (int m = 0; m < NODES; ++m)
      UNROLL
      for (int h = 0; h < 2; ++h) along_t[h] = FMA(DERIVATIVE[t][m], u[m][h], along_t[h]);
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
      multiply_tiles(sum[t], fr[s][4 * k + q], back_r[k]);
      multiply_tiles(sum[t], back_s[k], fs[4 * k + q][first_r + p]);
    }
  }
  double energy = 0;
  UNROLL
  for (int t = 0; t < NODES; ++t)
    UNROLL
    for (int h = 0; h < 2; ++h) {
      given.y[e * CUBE + t * PLANE + s * NODES + r + h] = sum[t][h];
      energy += u[t][h] * sum[t][h];
    }
  return energy;
}
