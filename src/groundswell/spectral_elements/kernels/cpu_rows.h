// Derivatives of an element's nodal values on a CPU. Each row of nodes along r is padded to whole
// vectors. Lines along t and s are differentiated many at once. Rows are multiplied by the full
// matrix, because their even and odd parts lie across vectors.
#pragma once
#include "differentiate.h"

ALLOW_FP_CONTRACT

// These are separate functions because the compiler runs out of registers if it inlines all of
// them. For few nodes the calls would cost more.
#if NODES > 2
#define PART static __attribute__((noinline))
#else
#define PART INLINE
#endif

// Bytes of the widest vectors; kernels may choose narrower ones before they include this file.
#ifndef WIDEST_BYTES
#define WIDEST_BYTES VECTOR_BYTES
#endif

// The number of values of a row, if vectors can be that short.
constexpr int WIDEST = WIDEST_BYTES / sizeof(real);
constexpr int LEAST = NODES > 8 ? 16 : NODES > 4 ? 8 : NODES > 2 ? 4 : 2;
constexpr int VECTOR = LEAST < WIDEST ? LEAST : WIDEST, VECTORS = (NODES + VECTOR - 1) / VECTOR;
constexpr int PITCH = VECTORS * VECTOR;                      // of rows
constexpr int ROWS_AT_ONCE = VECTORS < 4 ? 4 / VECTORS : 1;  // enough independent sums in registers

typedef real Plane[NODES][PITCH];
typedef real Cube[NODES][NODES][PITCH];

// Adjacent values that a core processes together.
typedef real Lanes __attribute__((vector_size(VECTOR * sizeof(real)), may_alias));

INLINE Lanes& lanes_at(real* row, int n) { return reinterpret_cast<Lanes*>(row)[n]; }
INLINE Lanes lanes_at(const real* row, int n) { return reinterpret_cast<const Lanes*>(row)[n]; }

// What the value at each node adds to all derivatives of its row, and the transposed table.
alignas(64) TABLE Plane OF_ROWS[] = {DERIVATIVES_TRANSPOSED, DERIVATIVES};

template <bool TRANSPOSED_MATRIX, int COUNT>
INLINE void differentiate_some_rows(const real* from, real* to) {
  Lanes sum[COUNT][VECTORS] = {};
  UNROLL
  for (int m = 0; m < NODES; ++m) {
    UNROLL
    for (int n = 0; n < VECTORS; ++n) {
      UNROLL
      for (int row = 0; row < COUNT; ++row)
        sum[row][n] += from[row * PITCH + m] * lanes_at(OF_ROWS[TRANSPOSED_MATRIX][m], n);
    }
  }
  UNROLL
  for (int row = 0; row < COUNT; ++row) {
    UNROLL
    for (int n = 0; n < VECTORS; ++n) lanes_at(to + row * PITCH, n) = sum[row][n];
  }
}

// The derivatives of all rows of a plane along r.
template <bool TRANSPOSED_MATRIX> PART void differentiate_rows(const Plane& from, Plane& to) {
  constexpr int WHOLE = NODES - NODES % ROWS_AT_ONCE;
  for (int row = 0; row < WHOLE; row += ROWS_AT_ONCE)
    differentiate_some_rows<TRANSPOSED_MATRIX, ROWS_AT_ONCE>(from[row], to[row]);
  for (int row = WHOLE; row < NODES; ++row)
    differentiate_some_rows<TRANSPOSED_MATRIX, 1>(from[row], to[row]);
}

// The derivatives of lines across rows that are `step` values apart, stored or added.
template <bool TRANSPOSED_MATRIX, bool ADD>
PART void differentiate_across(real* from, real* to, int step) {
  for (int n = 0; n < VECTORS; ++n) {
    Lanes line[NODES];
    UNROLL
    for (int m = 0; m < NODES; ++m) line[m] = lanes_at(from + m * step, n);
    differentiate<TRANSPOSED_MATRIX>(line);
    UNROLL
    for (int m = 0; m < NODES; ++m) {
      Lanes& result = lanes_at(to + m * step, n);
      result = ADD ? result + line[m] : line[m];
    }
  }
}
