// On a CPU: an element at a time. Rows of nodes along r are a core's vectors, filled up with zeros. Lines
// along t and s are derived many at once; rows by all of the matrix, as what is even or odd about them
// lies across vectors. All but derivatives along t is done plane by plane, so that little is kept.
#pragma once
#include "derive.h"

CONTRACT_PRODUCTS

// Functions of their own, since in one a compiler runs out of registers; but that costs calls.
#if NODES > 2
#define PART static __attribute__((noinline))
#else
#define PART INLINE
#endif

// As many values as a row has, if there are vectors that short.
constexpr int WIDEST = VECTOR_BYTES / sizeof(real);
constexpr int LEAST = NODES > 8 ? 16 : NODES > 4 ? 8 : NODES > 2 ? 4 : 2;
constexpr int VECTOR = LEAST < WIDEST ? LEAST : WIDEST, VECTORS = (NODES + VECTOR - 1) / VECTOR;
constexpr int PITCH = VECTORS * VECTOR;                   // of rows
constexpr int AT_ONCE = VECTORS < 4 ? 4 / VECTORS : 1;  // rows: enough sums under way, all in registers

typedef real Plane[NODES][PITCH];
typedef real Cube[NODES][NODES][PITCH];
struct Cubes {
  alignas(64) Cube u, t, sum;
  alignas(64) Plane r, s;
};

// Neighbouring values that a core works on together.
typedef real Lanes __attribute__((vector_size(VECTOR * sizeof(real)), may_alias));

INLINE Lanes& lanes_at(real* row, int n) { return reinterpret_cast<Lanes*>(row)[n]; }
INLINE Lanes lanes_at(const real* row, int n) { return reinterpret_cast<const Lanes*>(row)[n]; }

// What a node's value adds to all derivatives of its row; and transposed.
alignas(64) TABLE Plane OF_ROWS[] = {DERIVATIVES_TRANSPOSED, DERIVATIVES};

template <bool ADJOINT, int COUNT> INLINE void derive_some(const real* from, real* to) {
  Lanes sum[COUNT][VECTORS] = {};
  UNROLL
  for (int m = 0; m < NODES; ++m)
    UNROLL
    for (int n = 0; n < VECTORS; ++n)
      UNROLL
      for (int row = 0; row < COUNT; ++row)
        sum[row][n] += from[row * PITCH + m] * lanes_at(OF_ROWS[ADJOINT][m], n);
  UNROLL
  for (int row = 0; row < COUNT; ++row)
    UNROLL
    for (int n = 0; n < VECTORS; ++n) lanes_at(to + row * PITCH, n) = sum[row][n];
}

// Rows of a plane: the derivatives of each along itself.
template <bool ADJOINT> PART void derive_rows(const Plane& from, Plane& to) {
  constexpr int WHOLE = NODES - NODES % AT_ONCE;
  for (int row = 0; row < WHOLE; row += AT_ONCE) derive_some<ADJOINT, AT_ONCE>(from[row], to[row]);
  for (int row = WHOLE; row < NODES; ++row) derive_some<ADJOINT, 1>(from[row], to[row]);
}

// Lines across rows, the next row of each `step` further; their derivatives are stored, or added.
template <bool ADJOINT, bool ADD> PART void derive_across(real* from, real* to, int step) {
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

// A plane's derivatives become fluxes.
PART void find_fluxes(const Given& given, index_t e, int t, Cubes& all) {
  for (int s = 0; s < NODES; ++s) {
    real *of_r = all.r[s], *of_s = all.s[s], *of_t = all.t[t][s];
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

// What a core does not fetch by itself while it computes: values of rows here and there, and where
// streams of factors begin.
PART void fetch_plane(const Given& given, index_t e, int t) {
  for (int s = 0; s < NODES; ++s) {
    const int* const row = given.row(e, t, s);
    fetch(given.x + row[0], given.x + row[NODES - 1]);
  }
  if (GEOMETRY == 0 && t == NODES - 1)
    for (int k = 0; k < FACTORS; ++k) fetch(given.shape + e * ELEMENT_PITCH + k * RUN);
}

// Derivatives, then what fluxes add up to, which is the transpose; `next` is worked on after that.
INLINE void differentiate_twice(const Given& given, index_t e, index_t next, Cubes& all) {
  for (int n = 0; n < NODES; ++n)
    derive_across<false, false>(all.u[0][n], all.t[0][n], NODES * PITCH);
  for (int t = 0; t < NODES; ++t) {
    derive_rows<false>(all.u[t], all.r);
    derive_across<false, false>(all.u[t][0], all.s[0], PITCH);
    find_fluxes(given, e, t, all);
    fetch_plane(given, next, t);
    derive_rows<true>(all.r, all.sum[t]);
    derive_across<true, true>(all.s[0], all.sum[t][0], PITCH);
  }
  for (int n = 0; n < NODES; ++n)
    derive_across<true, true>(all.t[0][n], all.sum[0][n], NODES * PITCH);
}

// Whether a row's values lie side by side, as most do; looked for where whole vectors are worth it.
constexpr bool MAY_BE_RUNS = NODES >= 8 && PITCH == NODES;

INLINE bool is_run(const int* places) {
  int apart = 0;
  PRAGMA(omp simd reduction(| : apart))
  for (int r = 0; r < NODES; ++r) apart |= places[r] ^ (places[0] + r);
  return !apart;
}

PART void take(const Given& given, index_t e, Cube& u) {
  for (int t = 0; t < NODES; ++t)
    for (int s = 0; s < NODES; ++s) {
      const int* const places = given.row(e, t, s);
      if (MAY_BE_RUNS && is_run(places)) {
        for (int r = 0; r < NODES; ++r) u[t][s][r] = given.value_at(places[0] + r);
        continue;
      }
      UNROLL
      for (int r = 0; r < NODES; ++r) u[t][s][r] = given.value_at(places[r]);
      for (int r = NODES; r < PITCH; ++r) u[t][s][r] = 0;
    }
}

// The result with its mass; u times that, in sums that do not wait for each other.
PART double put(const Given& given, index_t e, const Cubes& all) {
  double energy[NODES] = {};
  for (int t = 0; t < NODES; ++t)
    for (int s = 0; s < NODES; ++s)
      PRAGMA(omp simd)
      for (int r = 0; r < NODES; ++r) {
        const real u = all.u[t][s][r];
        const real result = FMA(Line(given.shape, e, s, r).at(t).mass, u, all.sum[t][s][r]);
        given.y[e * CUBE + t * PLANE + s * NODES + r] = result;
        energy[r] += static_cast<double>(u) * static_cast<double>(result);
      }
  double sum = 0;
  for (const double part : energy) sum += part;
  return sum;
}

// Some elements, (count,); u times what becomes of it, for them together. There are `left` to the end.
INLINE double apply_some(const Given& given, const int* elements, int count, index_t left) {
  Cubes all;
  double energy = 0;
  for (int n = 0; n < count; ++n) {
    const index_t e = elements[n], next = elements[n + 1 < left ? n + 1 : n];
    take(given, e, all.u);
    differentiate_twice(given, e, next, all);
    energy += put(given, e, all);
  }
  return energy;
}
