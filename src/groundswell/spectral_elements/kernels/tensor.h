// On a GPU with tensor cores for double precision: a warp for each 8 x 8 tile of an element's planes
// (s, r), which has the tile's values of all planes in registers. Derivatives along r and s are products
// of tiles; along t each thread has what it needs. Where tiles reach beyond an element there are zeros.
//
// In m8n8k4, lane 4 p + q has entry (p, q) of A (8 x 4), (q, p) of B (4 x 8), and (p, 2 q) and
// (p, 2 q + 1) of C (PTX ISA, section "Warp-level matrix fragment for mma.m8n8k4").
#pragma once
#include "block.h"

constexpr int SIDE = NODES <= 8 ? 8 : 16;  // of padded planes
constexpr int TILES = SIDE / 8, WARPS = TILES * TILES, PIECES = SIDE / 4;
// Lanes then read different banks, four rows of four neighbours at a time.
constexpr int PITCH = SIDE == 8 ? 12 : 20;
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

typedef real Plane[SIDE][PITCH];

INLINE bool inside(int s, int r) { return SIDE == NODES || (s < NODES && r < NODES); }
INLINE real derivative(int row, int column) {
  return inside(row, column) ? DERIVATIVE_AT[row][column] : REAL(0);
}

INLINE double apply_some(const Given& given, const int* elements, int count, index_t) {
  SHARED(Plane, planes, [ELEMENTS][3]);  // u and two fluxes
  DYNAMIC_SHARED(real, memory);
  const int warp = threadIdx.x / WARP, of_block = warp / WARPS, tile = warp % WARPS;
  const int p = threadIdx.x % WARP / 4, q = threadIdx.x % 4;
  const int first_s = tile / TILES * 8, first_r = tile % TILES * 8;
  const int s = first_s + p, r = first_r + 2 * q;  // of this thread's first value
  const Ring ring{given, elements, count, count * WARPS, memory};
  ring.start();
  if (of_block >= count) return 0;  // all warps of an element
  const index_t e = elements[of_block];
  Plane &us = planes[of_block][0], &fr = planes[of_block][1], &fs = planes[of_block][2];
  real d_r[PIECES], d_s[PIECES], back_r[PIECES], back_s[PIECES];
  UNROLL
  for (int k = 0; k < PIECES; ++k) {
    d_r[k] = derivative(first_r + p, 4 * k + q);
    d_s[k] = derivative(first_s + p, 4 * k + q);
    back_r[k] = derivative(4 * k + q, first_r + p);
    back_s[k] = derivative(4 * k + q, first_s + p);
  }
  const bool here[2] = {inside(s, r), inside(s, r + 1)};
  // Of nodes that are not there some other's metric, which zeros are multiplied by.
  const auto line = ring.line(of_block, e, here[0] ? s : 0, here[0] ? r : 0);
  const auto next = ring.line(of_block, e, here[1] ? s : 0, here[1] ? r + 1 : 0);
  real u[NODES][2], sum[NODES][2];
  UNROLL
  for (int t = 0; t < NODES; ++t)
    UNROLL
    for (int h = 0; h < 2; ++h) {
      u[t][h] = here[h] ? given.value(e, t * PLANE + s * NODES + r + h) : REAL(0);
      sum[t][h] = 0;
    }
  UNROLL
  for (int t = 0; t < NODES; ++t) {
    ring.await(t);
    const Metric g[2] = {line.at(t), next.at(t)};
    ring.leave(t);
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
      if (here[h]) given.y[e * CUBE + t * PLANE + s * NODES + r + h] = sum[t][h];
      energy += u[t][h] * sum[t][h];
    }
  return energy;
}
