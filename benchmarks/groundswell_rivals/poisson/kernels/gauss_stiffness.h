// The Laplacian with Gauss points: for each node's basis function v, the integral of grad v . grad
// u. With interpolation B to the points, derivatives D there, and geometric factors G, this is B' D'
// G D B u: polynomials of u's degree are known exactly by their values at the points. See
// gauss_operator.py.
#pragma once
#include "gauss.h"

// From row to column: from values at points to derivatives there, and the transpose.
alignas(64) UNIFORM_TABLE real TO_DERIVATIVES[POINTS][PITCH] = FROM_POINTS_TO_DERIVATIVES;
alignas(64) UNIFORM_TABLE real FROM_DERIVATIVES[POINTS][PITCH] = FROM_DERIVATIVES_TO_POINTS;

constexpr int FACTORS = 6;
constexpr int LINE = 128 / sizeof(real);  // values of a line of a GPU's cache

// A GPU's blocks ask for their factors before they need them, which takes no registers.
INLINE void fetch_factors(const BlockElements& mine, const real* geometry) {
  constexpr int LINES = (FACTORS * VOLUME + LINE - 1) / LINE;
  FOR_THREADS(n, mine.count * LINES) {
    const index_t e = mine.numbers[n / LINES];
    prefetch(geometry + e * (FACTORS * VOLUME) + n % LINES * LINE);
  }
}

// Interpolates rows along r, and stores the derivatives along r.
PART void derive_along_r(int count, real* u, real* of_r) {
  FOR_THREADS(row, count * PLANE) {
    real* const values = u + row * PITCH;
    multiply_row<NODES, POINTS, false>(values, values, TO_POINTS);
    multiply_row<POINTS, POINTS, false>(values, of_r + row * PITCH, TO_DERIVATIVES);
  }
}

// The transpose, which adds to u.
PART void integrate_along_r(int count, const real* of_r, real* u) {
  FOR_THREADS(row, count * PLANE) {
    real* const sums = u + row * PITCH;
    multiply_row<POINTS, POINTS, true>(of_r + row * PITCH, sums, FROM_DERIVATIVES);
    multiply_row<POINTS, NODES, false>(sums, sums, TO_NODES);
  }
}

// Multiplies lines along s by a matrix.
template <bool ADD>
PART void multiply_points_along_s(int count, const real* from, real* to,
                                  const real (&matrix)[POINTS][PITCH]) {
  FOR_THREADS(n, count * POINTS * POINT_COLUMNS) {
    const int first = n / POINT_COLUMNS * LAYER + n % POINT_COLUMNS * VECTOR;
    multiply_lines<POINTS, POINTS, ADD>({from + first, PITCH}, {to + first, PITCH}, matrix);
  }
}

// The fluxes of a line along t: replaces the derivatives along r and s, `of_r` and `of_s`, by
// fluxes, and the values `u` by the transposed derivatives of the flux along t. Returns derivatives
// times fluxes. `g` are the first factors of the line.
INLINE Value find_fluxes(const real* g, real* u, real* of_r, real* of_s) {
  Value energy{};
  multiply_lines<POINTS, POINTS, false>({u, LAYER}, {u, LAYER}, TO_DERIVATIVES);
  UNROLL
  for (int t = 0; t < POINTS; ++t) {
    const auto factor = [=](int k) { return value_at(g + t * PLANE + k * VOLUME); };
    Value &r = value_at(of_r + t * LAYER), &s = value_at(of_s + t * LAYER);
    Value& along = value_at(u + t * LAYER);
    const Value rs = factor(1), rt = factor(2), st = factor(4);
    const Value flux_r = FMA(factor(0), r, FMA(rs, s, rt * along));
    const Value flux_s = FMA(rs, r, FMA(factor(3), s, st * along));
    const Value flux_t = FMA(rt, r, FMA(st, s, factor(5) * along));
    energy += FMA(r, flux_r, FMA(s, flux_s, along * flux_t));
    r = flux_r;
    s = flux_s;
    along = flux_t;
  }
  multiply_lines<POINTS, POINTS, false>({u, LAYER}, {u, LAYER}, FROM_DERIVATIVES);
  return energy;
}

// The fluxes of all lines along t; returns derivatives times fluxes.
PART double find_all_fluxes(const BlockElements& mine, const real* geometry, real* u, real* of_r,
                            real* of_s) {
  double energy = 0;
  FOR_THREADS(n, mine.count * POINTS * POINT_COLUMNS) {
    const int row = n / POINT_COLUMNS, e = row / POINTS, s = row % POINTS;
    const int r = n % POINT_COLUMNS * VECTOR, first = e * ROOM + s * PITCH + r;
    const index_t before = static_cast<index_t>(mine.numbers[e]) * (FACTORS * VOLUME);
    const real* const g = geometry + before + s * POINTS + r;
    const Value found = find_fluxes(g, u + first, of_r + first, of_s + first);
    energy += sum_of(found, r + VECTOR <= POINTS ? VECTOR : IN_LAST);
  }
  return energy;
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
    const BlockElements mine(elements, count, b);
    if (COALESCED) fetch_factors(mine, geometry);
    double energy = 0;
    for (int c = 0; c < COMPONENTS; ++c) {
      const Operands operands = {x + c * x_pitch, scale, dofs, y + c * y_pitch};
      BARRIER();  // other threads may still read what this component overwrites
      load_along_t(operands, mine, u);
      BARRIER();
      multiply_along_s<NODES, POINTS>(mine.count, u, TO_POINTS);
      BARRIER();
      derive_along_r(mine.count, u, of_r);
      BARRIER();
      multiply_points_along_s<false>(mine.count, u, of_s, TO_DERIVATIVES);
      BARRIER();
      energy += find_all_fluxes(mine, geometry, u, of_r, of_s);
      BARRIER();
      multiply_points_along_s<true>(mine.count, of_s, u, FROM_DERIVATIVES);
      BARRIER();
      integrate_along_r(mine.count, of_r, u);
      BARRIER();
      multiply_along_s<POINTS, NODES>(mine.count, u, TO_NODES);
      BARRIER();
      store_along_t(operands, mine, u);
    }
    const double all = block_sum(energy);
    FOR_THREADS(n, 1) energies[b] = all;
  }
}
