// The mass matrix with Gauss points: for each node's basis function v, the integral of v u. With
// interpolation B to the points, and mass W there, this is B' W B u. See gauss_operator.py.
#pragma once
#include "gauss.h"

// u . W u, apart from the last vectors of rows, whose padding does not count.
struct Energy {
  Value whole, last;
};

// From values at the nodes of a row to their integrals. `mass` is that of the points, `step` values
// apart.
INLINE void integrate_row(real* row, const real* mass, int step, Energy& energy) {
  alignas(64) real values[PITCH];
  multiply_row<NODES, POINTS, false>(row, values, TO_POINTS);
  UNROLL
  for (int k = 0; k < POINT_COLUMNS; ++k) {
    Value& value = value_at(values + k * VECTOR);
    const Value here = value_at(mass + k * VECTOR * step) * value;
    Value& sum = k + 1 < POINT_COLUMNS ? energy.whole : energy.last;
    sum = FMA(value, here, sum);
    value = here;
  }
  multiply_row<POINTS, NODES, false>(values, row, TO_NODES);
}

// Rows along r, to the points and back; returns u . W u.
PART double integrate_rows(const BlockElements& mine, const real* geometry, real* cubes) {
  Energy energy = {};
  FOR_THREADS(n, mine.count * PLANE) {
    const int row = n % PLANE;
    const real* const mass = geometry + static_cast<index_t>(mine.numbers[n / PLANE]) * VOLUME;
    real* const u = cubes + n * PITCH;
    if (COALESCED) integrate_row(u, mass + row, PLANE, energy);
    else integrate_row(u, mass + row * POINTS, 1, energy);
  }
  return sum_of(energy.whole, VECTOR) + sum_of(energy.last, IN_LAST);
}

// Applies the operator to the elements with these numbers, (count,), ELEMENTS a block: from
// assembled x to the elements' y, (elements, CUBE). `energies`, one a block, receive x . y. There
// are COMPONENTS components, a pitch apart. `geometry` is the mass at the points: (elements, r, t,
// s) on a GPU, where neighbours are threads, and (elements, t, s, r) on a CPU.
KERNEL apply_gauss_mass(const real* RESTRICT x, index_t x_pitch, const real* RESTRICT scale,
                        const int* RESTRICT dofs, const real* RESTRICT geometry, real* RESTRICT y,
                        index_t y_pitch, const int* RESTRICT elements, index_t count,
                        double* RESTRICT energies) {
  FOR_BLOCKS(b, (count + ELEMENTS - 1) / ELEMENTS) {
    CUBES(cubes, ELEMENTS);
    const BlockElements mine(elements, count, b);
    double energy = 0;
    for (int c = 0; c < COMPONENTS; ++c) {
      const Operands operands = {x + c * x_pitch, scale, dofs, y + c * y_pitch};
      BARRIER();  // other threads may still read what this component overwrites
      load_along_t(operands, mine, cubes);
      BARRIER();
      multiply_along_s<NODES, POINTS>(mine.count, cubes, TO_POINTS);
      BARRIER();
      energy += integrate_rows(mine, geometry, cubes);
      BARRIER();
      multiply_along_s<POINTS, NODES>(mine.count, cubes, TO_NODES);
      BARRIER();
      store_along_t(operands, mine, cubes);
    }
    const double all = block_sum(energy);
    FOR_THREADS(n, 1) energies[b] = all;
  }
}
