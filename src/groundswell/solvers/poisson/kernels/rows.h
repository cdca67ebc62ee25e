// On a CPU: an element at a time. Rows of nodes along r are a core's vectors, filled up with zeros; lines
// along s and t are derived many at once, those along r by what vectors hold of half a row.
#pragma once
#include "derive.h"

constexpr int VECTOR = 32 / sizeof(real), VECTORS = (NODES + VECTOR - 1) / VECTOR;
constexpr int PITCH = VECTORS * VECTOR;  // of rows
constexpr int HALF_VECTORS = (UPPER_HALF + VECTOR - 1) / VECTOR, HALF_PITCH = HALF_VECTORS * VECTOR;
constexpr int AT_ONCE = HALF_VECTORS < 4 ? 4 / HALF_VECTORS : 1;  // rows

typedef real Cube[NODES][NODES][PITCH];
struct Cubes {
  alignas(64) Cube u, r, s, t, sum;
};

// Neighbouring values that a core works on together.
typedef real Lanes __attribute__((vector_size(VECTOR * sizeof(real)), may_alias));

INLINE Lanes& lanes_at(real* row, int n) { return reinterpret_cast<Lanes*>(row)[n]; }

// What odd and even parts of a row are multiplied by, for all derivatives in a row; and transposed.
typedef real OddRows[HALF][HALF_PITCH];
typedef real EvenRows[UPPER_HALF][HALF_PITCH];
alignas(64) TABLE OddRows ROWS_OF_ODD[] = {DERIVATIVES_OF_ODD_TRANSPOSED, DERIVATIVES_OF_EVEN};
alignas(64) TABLE EvenRows ROWS_OF_EVEN[] = {DERIVATIVES_OF_EVEN_TRANSPOSED, DERIVATIVES_OF_ODD};

// The sum of a row's entries times rows of a table.
template <int COUNT>
INLINE void combine(const real* entries, const real (&table)[COUNT][HALF_PITCH], real* result) {
  Lanes sum[HALF_VECTORS] = {};
  UNROLL
  for (int m = 0; m < COUNT; ++m)
    UNROLL
    for (int n = 0; n < HALF_VECTORS; ++n)
      sum[n] += entries[m] * lanes_at(const_cast<real*>(table[m]), n);
  UNROLL
  for (int n = 0; n < HALF_VECTORS; ++n) lanes_at(result, n) = sum[n];
}

// Rows side by side: the derivatives of each along itself.
template <bool ADJOINT> INLINE void derive_rows(const real* from, real* to, int count) {
  for (int row = 0; row < count; ++row, from += PITCH, to += PITCH) {
    alignas(64) real even[HALF_PITCH], odd[HALF_PITCH], of_even[HALF_PITCH], of_odd[HALF_PITCH];
    for (int m = 0; m < HALF; ++m) {
      even[m] = from[m] + from[NODES - 1 - m];
      odd[m] = from[m] - from[NODES - 1 - m];
    }
    if (NODES % 2) even[HALF] = from[HALF];
    combine(odd, ROWS_OF_ODD[ADJOINT], of_odd);
    combine(even, ROWS_OF_EVEN[ADJOINT], of_even);
    for (int m = 0; m < HALF; ++m) {
      to[m] = of_odd[m] + of_even[m];
      to[NODES - 1 - m] = of_odd[m] - of_even[m];
    }
    if (NODES % 2) to[HALF] = of_odd[HALF];
  }
}

// Lines across rows, the next row of each `step` further; their derivatives are stored, or added.
template <bool ADJOINT, bool ADD> INLINE void derive_across(real* from, real* to, int step) {
  for (int n = 0; n < VECTORS; ++n) {
    Lanes line[NODES];
    UNROLL
    for (int m = 0; m < NODES; ++m) line[m] = lanes_at(from + m * step, n);
    derive<ADJOINT>(line);
    UNROLL
    for (int m = 0; m < NODES; ++m) {
      Lanes& result = lanes_at(to + m * step, n);
      result = ADD ? result + line[m] : line[m];
    }
  }
}

INLINE void differentiate(Cubes& all) {
  derive_rows<false>(all.u[0][0], all.r[0][0], PLANE);
  for (int n = 0; n < NODES; ++n) {
    derive_across<false, false>(all.u[n][0], all.s[n][0], PITCH);
    derive_across<false, false>(all.u[0][n], all.t[0][n], NODES * PITCH);
  }
}

// Derivatives become fluxes.
INLINE void find_fluxes(const Given& given, index_t e, Cubes& all) {
  for (int t = 0; t < NODES; ++t)
    for (int s = 0; s < NODES; ++s) {
      real *of_r = all.r[t][s], *of_s = all.s[t][s], *of_t = all.t[t][s];
      PRAGMA(omp simd)
      for (int r = 0; r < NODES; ++r) {
        const Metric g = Line(given.shape, e, s, r).at(t);
        const Gradient f = flux(g, {of_r[r], of_s[r], of_t[r]});
        of_r[r] = f.r;
        of_s[r] = f.s;
        of_t[r] = f.t;
      }
    }
}

// The transpose of derivatives: what fluxes add up to.
INLINE void integrate(Cubes& all) {
  derive_rows<true>(all.r[0][0], all.sum[0][0], PLANE);
  for (int n = 0; n < NODES; ++n) derive_across<true, true>(all.s[n][0], all.sum[n][0], PITCH);
  for (int n = 0; n < NODES; ++n)
    derive_across<true, true>(all.t[0][n], all.sum[0][n], NODES * PITCH);
}

INLINE void take(const Given& given, index_t e, Cube& u) {
  for (int t = 0; t < NODES; ++t)
    for (int s = 0; s < NODES; ++s) {
      UNROLL
      for (int r = 0; r < NODES; ++r) u[t][s][r] = given.value(e, t * PLANE + s * NODES + r);
      for (int r = NODES; r < PITCH; ++r) u[t][s][r] = 0;
    }
}

// The result with its mass; u times that.
INLINE double put(const Given& given, index_t e, Cubes& all) {
  double energy = 0;
  for (int t = 0; t < NODES; ++t)
    for (int s = 0; s < NODES; ++s)
      PRAGMA(omp simd reduction(+ : energy))
      for (int r = 0; r < NODES; ++r) {
        const real u = all.u[t][s][r];
        const real result = FMA(Line(given.shape, e, s, r).at(t).mass, u, all.sum[t][s][r]);
        given.y[e * CUBE + t * PLANE + s * NODES + r] = result;
        energy += static_cast<double>(u) * static_cast<double>(result);
      }
  return energy;
}

// Some elements, (count,); u times what becomes of it, for them together.
INLINE double apply_some(const Given& given, const int* elements, int count) {
  Cubes all;
  double energy = 0;
  for (int n = 0; n < count; ++n) {
    const index_t e = elements[n];
    take(given, e, all.u);
    differentiate(all);
    find_fluxes(given, e, all);
    integrate(all);
    energy += put(given, e, all);
  }
  return energy;
}
