// The Laplacian with Gauss points: for each node's basis function v, the integral of grad v . grad
// u. With interpolation B to the points, derivatives D there, and geometric factors G, this is B' D'
// G D B u: polynomials of u's degree are known exactly by their values at the points. See
// gauss_operator.py.
#pragma once
#include "gauss.h"

// From row to column: from values at points to derivatives there, and the transpose.
UNIFORM_TABLE real TO_DERIVATIVES[POINTS][POINTS] = FROM_POINTS_TO_DERIVATIVES;
UNIFORM_TABLE real FROM_DERIVATIVES[POINTS][POINTS] = FROM_DERIVATIVES_TO_POINTS;

constexpr int FACTORS = 6;

// Bytes that a prefetch fetches.
constexpr int LINE_BYTES = 128;

// A GPU's blocks ask for their factors before they need them, which takes no registers.
INLINE void fetch_factors(const real* geometry, const int* mine, int here) {
  constexpr int LINE = LINE_BYTES / sizeof(real), LINES = (FACTORS * VOLUME + LINE - 1) / LINE;
  FOR_THREADS(n, here * LINES) {
    const index_t e = mine[n / LINES];
    prefetch(geometry + e * (FACTORS * VOLUME) + n % LINES * LINE);
  }
}

// Interpolates rows along r, and stores the derivatives along r.
INLINE void derive_along_r(int here, real* u, real* of_r) {
  FOR_THREADS(row, here * PLANE) {
    real* const values = u + row * PITCH;
    multiply_line<false>(values, values, TO_POINTS);
    multiply_line<false>(values, of_r + row * PITCH, TO_DERIVATIVES);
  }
}

// Multiplies lines along s by a matrix.
template <bool ADD>
INLINE void multiply_points_along_s(int here, const real* from, real* to,
                                    const real (&matrix)[POINTS][POINTS]) {
  FOR_THREADS(n, here * PLANE / POINT_LINES) {
    const int line = n * POINT_LINES, first = line / POINTS * LAYER + line % POINTS;
    multiply_adjacent<ADD, POINT_LINES>({from + first, PITCH}, {to + first, PITCH}, matrix);
  }
}

// The fluxes along a few adjacent lines along t: replaces the derivatives along r and s, `of_r` and
// `of_s`, by fluxes, and the values `u` by the transposed derivatives of the flux along t. Returns
// the sum of derivatives times fluxes. `g` are the first factors of the lines.
INLINE double find_fluxes(const real* g, real* u, real* of_r, real* of_s) {
  real of_t[POINTS][POINT_LINES];
  multiply_adjacent<false, POINT_LINES>({u, LAYER}, {u, LAYER}, TO_DERIVATIVES);
  double energy[POINT_LINES] = {};
  UNROLL
  for (int t = 0; t < POINTS; ++t) {
    const real* const here = g + t * PLANE;
    VECTORIZED
    for (int n = 0; n < POINT_LINES; ++n) {
      const auto factor = [=](int k) { return here[k * VOLUME + n]; };
      const real r = of_r[t * LAYER + n], s = of_s[t * LAYER + n], along = u[t * LAYER + n];
      const real rs = factor(1), rt = factor(2), st = factor(4);
      const real flux_r = FMA(factor(0), r, FMA(rs, s, rt * along));
      const real flux_s = FMA(rs, r, FMA(factor(3), s, st * along));
      const real flux_t = FMA(rt, r, FMA(st, s, factor(5) * along));
      of_r[t * LAYER + n] = flux_r;
      of_s[t * LAYER + n] = flux_s;
      of_t[t][n] = flux_t;
      energy[n] += static_cast<double>(FMA(r, flux_r, FMA(s, flux_s, along * flux_t)));
    }
  }
  multiply_adjacent<false, POINT_LINES>({&of_t[0][0], POINT_LINES}, {u, LAYER}, FROM_DERIVATIVES);
  for (int n = 1; n < POINT_LINES; ++n) energy[0] += energy[n];
  return energy[0];
}

// Applies the operator to the elements with these numbers, (count,), ELEMENTS a block: from
// assembled x to the elements' y, (elements, CUBE). `energies`, one a block, receive x . y. There
// are COMPONENTS components, a pitch apart; all but the first find the factors, (elements, FACTORS,
// VOLUME), in a cache.
KERNEL apply_gauss_stiffness(const real* RESTRICT x, index_t x_pitch, const real* RESTRICT scale,
                             const int* RESTRICT dofs, const real* RESTRICT geometry,
                             real* RESTRICT y, index_t y_pitch, const int* RESTRICT elements,
                             index_t count, double* RESTRICT energies) {
  FOR_BLOCKS(b, (count + ELEMENTS - 1) / ELEMENTS) {
    CUBES(u, 3 * ELEMENTS);
    real *const of_r = u + ELEMENTS * ROOM, *const of_s = of_r + ELEMENTS * ROOM;
    const int* const mine = elements + b * ELEMENTS;
    const int here = elements_of(b, count);
    if (COALESCED) fetch_factors(geometry, mine, here);
    double energy = 0;
    for (int c = 0; c < COMPONENTS; ++c) {
      const Operands operands = {x + c * x_pitch, scale, dofs, y + c * y_pitch};
      BARRIER();  // other threads may still read what this component overwrites
      load_along_t(operands, mine, here, u);
      BARRIER();
      multiply_along_s(here, u, TO_POINTS);
      BARRIER();
      derive_along_r(here, u, of_r);
      BARRIER();
      multiply_points_along_s<false>(here, u, of_s, TO_DERIVATIVES);
      BARRIER();
      FOR_THREADS(n, here * PLANE / POINT_LINES) {
        const int line = n * POINT_LINES, e = line / PLANE, place = line % PLANE;
        const int first = e * ROOM + place / POINTS * PITCH + place % POINTS;
        const real* const g = geometry + static_cast<index_t>(mine[e]) * (FACTORS * VOLUME) + place;
        energy += find_fluxes(g, u + first, of_r + first, of_s + first);
      }
      BARRIER();
      multiply_points_along_s<true>(here, of_s, u, FROM_DERIVATIVES);
      BARRIER();
      FOR_THREADS(row, here * PLANE) {
        real* const sums = u + row * PITCH;
        multiply_line<true>(of_r + row * PITCH, sums, FROM_DERIVATIVES);
        multiply_line<false>(sums, sums, TO_NODES);
      }
      BARRIER();
      multiply_along_s(here, u, TO_NODES);
      BARRIER();
      store_along_t(operands, mine, here, u);
    }
    const double all = block_sum(energy);
    FOR_THREADS(n, 1) energies[b] = all;
  }
}
