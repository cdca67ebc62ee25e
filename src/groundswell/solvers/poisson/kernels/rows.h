// On a CPU: an element at a time. Derivatives are products of small matrices, a few rows at once: as
// many sums as a core has registers for. Rows of nodes along r are its vectors, filled up with zeros.
#pragma once
#include "element.h"

constexpr int VECTOR = 32 / sizeof(real), VECTORS = (NODES + VECTOR - 1) / VECTOR;
constexpr int PITCH = VECTORS * VECTOR;                 // of rows
constexpr int AT_ONCE = VECTORS < 8 ? 8 / VECTORS : 1;  // rows

typedef real Square[NODES][PITCH];
typedef real Cube[NODES][NODES][PITCH];
struct Cubes {
  alignas(64) Cube u, r, s, t, sum;
};

alignas(64) TABLE Square D = DERIVATIVES, TRANSPOSE = TRANSPOSED;

// Rows of values, the next one `pitch` further.
struct Rows {
  real* first;
  int pitch;
};

// Neighbouring values that a core works on together.
typedef real Lanes __attribute__((vector_size(VECTOR * sizeof(real)), may_alias));

INLINE Lanes& lanes_at(real* row, int n) { return reinterpret_cast<Lanes*>(row)[n]; }

// ROWS rows, from a first one on: c (+)= A B.
template <int ROWS, bool ADD>
INLINE void multiply_rows(const real* a, int pitch, const Rows& b, real* c, int next) {
  Lanes sum[ROWS][VECTORS];
  UNROLL
  for (int i = 0; i < ROWS; ++i)
    UNROLL
    for (int n = 0; n < VECTORS; ++n) sum[i][n] = ADD ? lanes_at(c + i * next, n) : Lanes{};
  for (int m = 0; m < NODES; ++m) {
    UNROLL
    for (int i = 0; i < ROWS; ++i) {
      const real entry = a[i * pitch + m];
      UNROLL
      for (int n = 0; n < VECTORS; ++n) sum[i][n] += entry * lanes_at(b.first + m * b.pitch, n);
    }
  }
  UNROLL
  for (int i = 0; i < ROWS; ++i)
    UNROLL
    for (int n = 0; n < VECTORS; ++n) lanes_at(c + i * next, n) = sum[i][n];
}

// All NODES rows of that.
template <bool ADD> INLINE void multiply(const Rows& a, const Rows& b, const Rows& c) {
  constexpr int LEFT = NODES % AT_ONCE, WHOLE = NODES - LEFT;
  for (int i = 0; i < WHOLE; i += AT_ONCE)
    multiply_rows<AT_ONCE, ADD>(a.first + i * a.pitch, a.pitch, b, c.first + i * c.pitch, c.pitch);
  if constexpr (LEFT > 0)
    multiply_rows<LEFT, ADD>(a.first + WHOLE * a.pitch, a.pitch, b, c.first + WHOLE * c.pitch,
                             c.pitch);
}

INLINE Rows table(const Square& square) { return {const_cast<real*>(square[0]), PITCH}; }
INLINE Rows plane(Cube& cube, int t) { return {cube[t][0], PITCH}; }
INLINE Rows upright(Cube& cube, int s) { return {cube[0][s], NODES * PITCH}; }

INLINE void differentiate(Cubes& all) {
  for (int n = 0; n < NODES; ++n) {
    multiply<false>(plane(all.u, n), table(TRANSPOSE), plane(all.r, n));
    multiply<false>(table(D), plane(all.u, n), plane(all.s, n));
    multiply<false>(table(D), upright(all.u, n), upright(all.t, n));
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
  for (int t = 0; t < NODES; ++t) {
    multiply<false>(plane(all.r, t), table(D), plane(all.sum, t));
    multiply<true>(table(TRANSPOSE), plane(all.s, t), plane(all.sum, t));
  }
  for (int s = 0; s < NODES; ++s)
    multiply<true>(table(TRANSPOSE), upright(all.t, s), upright(all.sum, s));
}

INLINE void take(const Given& given, index_t e, Cube& u) {
  for (int t = 0; t < NODES; ++t)
    for (int s = 0; s < NODES; ++s)
      for (int r = 0; r < PITCH; ++r)
        u[t][s][r] = r < NODES ? given.value(e, t * PLANE + s * NODES + r) : 0;
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
