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

#if defined(__CUDACC__)
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
#else
// 2 AT_ONCE `times` operations for each of `count` x 256 values, in vectors as wide as there are: a
// compiler may take shorter ones.
ALLOW_FP_CONTRACT
typedef real Lanes __attribute__((vector_size(VECTOR_BYTES)));
constexpr int THREADS = 256, AT_ONCE = 96, LANES = VECTOR_BYTES / sizeof(real), CHAINS = 12;

KERNEL multiply_add(real* RESTRICT y, index_t count, index_t times) {
  FOR_ITEMS(n, count * THREADS) {
    const real factor = REAL(0.5) + REAL(1e-3) * (n % THREADS);
    real total = 0;
    for (int pass = 0; pass < AT_ONCE / (CHAINS * LANES); ++pass) {
      Lanes sum[CHAINS] = {};
      for (index_t time = 0; time < times; ++time) {
        UNROLL
        for (int i = 0; i < CHAINS; ++i) sum[i] = sum[i] * factor + REAL(pass + i);
      }
      for (const Lanes& part : sum)
        for (int k = 0; k < LANES; ++k) total += part[k];
    }
    y[n] = total;
  }
}
#endif
