// Products of a small matrix with lines of an element's values along an axis, in place.
#pragma once
#include "portable.h"

// How many of `count` lines side by side one thread takes: a core has vectors for them.
#if defined(__CUDACC__)
#define ABREAST(count) 1
#define VECTORIZED
#else
#define ABREAST(count) (count)
#define VECTORIZED PRAGMA(omp simd)
#endif

// Values from one row along r to the next: a GPU's neighbours begin in different banks.
INLINE constexpr int pitch_of(int count) { return ABREAST(count) == 1 ? count | 1 : count; }

// The first TO values of each of WIDTH lines become what `matrix`, (FROM, TO), makes of its first FROM.
template <int WIDTH, int FROM, int TO>
INLINE void multiply_lines(real* lines, int step, const real (&matrix)[FROM][TO]) {
  real old[FROM][WIDTH];
  UNROLL
  for (int from = 0; from < FROM; ++from)
    for (int n = 0; n < WIDTH; ++n) old[from][n] = lines[from * step + n];
  for (int to = 0; to < TO; ++to) {
    real sum[WIDTH];
    for (int n = 0; n < WIDTH; ++n) sum[n] = 0;
    UNROLL
    for (int from = 0; from < FROM; ++from) {
      VECTORIZED
      for (int n = 0; n < WIDTH; ++n) sum[n] = FMA(matrix[from][to], old[from][n], sum[n]);
    }
    for (int n = 0; n < WIDTH; ++n) lines[to * step + n] = sum[n];
  }
}

// The same of a line whose values lie side by side.
template <int FROM, int TO>
INLINE void multiply_row(real* row, const real (&matrix)[FROM][TO]) {
  real sum[TO];
  for (int to = 0; to < TO; ++to) sum[to] = 0;
  UNROLL
  for (int from = 0; from < FROM; ++from) {
    VECTORIZED
    for (int to = 0; to < TO; ++to) sum[to] = FMA(matrix[from][to], row[from], sum[to]);
  }
  for (int to = 0; to < TO; ++to) row[to] = sum[to];
}

// Of `count` elements, ELEMENTS a block, how many are a block's.
INLINE int elements_of(index_t block, index_t count) {
  const index_t left = count - block * ELEMENTS;
  return left < ELEMENTS ? left : ELEMENTS;
}
