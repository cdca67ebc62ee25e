// What a roofline is made of: how fast a kernel streams that does nothing else, and how fast one
// computes.
#pragma once
#include "portable.h"

// Eight values read for one written, nearly as the operator (Chalmers et al. 2023, section "Poisson
// operator").
KERNEL stream_eight(const real* RESTRICT x, real* RESTRICT y, index_t count) {
  FOR_ITEMS(n, count) {
    real sum = 0;
    UNROLL
    for (int k = 0; k < 8; ++k) sum += x[k * count + n];
    y[n] = sum;
  }
}

// 2 ROWS WIDTH `times` operations for each of `count` x 256 values.
constexpr int THREADS = 256, ROWS = 6, WIDTH = 8;
KERNEL multiply_add(real* RESTRICT y, index_t count, index_t times) {
  FOR_BLOCKS(b, count) {
    FOR_THREADS(t, THREADS) {
      real sum[ROWS][WIDTH] = {};
      const real factor = REAL(0.5) + REAL(1e-3) * t;
      for (index_t n = 0; n < times; ++n) {
        UNROLL
        for (int i = 0; i < ROWS; ++i) {
          UNROLL
          for (int k = 0; k < WIDTH; ++k) sum[i][k] = FMA(sum[i][k], factor, REAL(k + i));
        }
      }
      real total = 0;
      for (int i = 0; i < ROWS; ++i)
        for (int k = 0; k < WIDTH; ++k) total += sum[i][k];
      y[b * THREADS + t] = total;
    }
  }
}
