// Products of a small matrix with lines of an element's nodal values along one axis, in place.
#pragma once
#include "portable.h"

// How many of `count` adjacent lines one thread takes: all of them on a CPU, which has vectors.
#if defined(__CUDACC__)
#define LINES_PER_THREAD(count) 1
#define VECTORIZED
#else
#define LINES_PER_THREAD(count) (count)
#define VECTORIZED PRAGMA(omp simd)
#endif

// Values from one row along r to the next. On a GPU adjacent rows start in different banks.
INLINE constexpr int pitch_of(int count) {
  return LINES_PER_THREAD(count) == 1 ? count | 1 : count;
}

// For each of WIDTH adjacent lines, multiplies the first FROM values by `matrix`, (FROM, TO), and
// stores the first TO values.
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

// The same for one line whose values are contiguous.
template <int FROM, int TO> INLINE void multiply_row(real* row, const real (&matrix)[FROM][TO]) {
  real sum[TO];
  for (int to = 0; to < TO; ++to) sum[to] = 0;
  UNROLL
  for (int from = 0; from < FROM; ++from) {
    VECTORIZED
    for (int to = 0; to < TO; ++to) sum[to] = FMA(matrix[from][to], row[from], sum[to]);
  }
  for (int to = 0; to < TO; ++to) row[to] = sum[to];
}

// How many of `count` elements this block has, at ELEMENTS a block.
INLINE int elements_of(index_t block, index_t count) {
  const index_t left = count - block * ELEMENTS;
  return left < ELEMENTS ? left : ELEMENTS;
}
