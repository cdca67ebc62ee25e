// The mass matrix with Gauss points: for each node's basis function v, the integral of v u. With
// interpolation B to the points, and mass W there, this is B' W B u. See gauss_operator.py.
#pragma once
#include "gauss.h"

// From values at the nodes of a row to their integrals; returns u . W u. `mass` is that of the
// points, `step` values apart.
INLINE double integrate_row(real* row, const real* mass, int step) {
  real values[POINTS];
  multiply_line<false>(row, values, TO_POINTS);
  double energy = 0;
  UNROLL
  for (int r = 0; r < POINTS; ++r) {
    const real here = mass[r * step] * values[r];
    energy += static_cast<double>(values[r]) * static_cast<double>(here);
    values[r] = here;
  }
  multiply_line<false>(values, row, TO_NODES);
  return energy;
}

// Applies the operator to the elements with these numbers, (count,), ELEMENTS a block: from
// assembled x to the elements' y, (elements, CUBE). `energies`, one a block, receive x . y. There
// are COMPONENTS components, a pitch apart. `geometry` is the mass at the points: (elements, r, t, s)
// on a GPU, where neighbours are threads, and (elements, t, s, r) on a CPU.
KERNEL apply_gauss_mass(const real* RESTRICT x, index_t x_pitch, const real* RESTRICT scale,
                        const int* RESTRICT dofs, const real* RESTRICT geometry, real* RESTRICT y,
                        index_t y_pitch, const int* RESTRICT elements, index_t count,
                        double* RESTRICT energies) {
  FOR_BLOCKS(b, (count + ELEMENTS - 1) / ELEMENTS) {
    CUBES(cubes, ELEMENTS);
    const int* const mine = elements + b * ELEMENTS;
    const int here = elements_of(b, count);
    double energy = 0;
    for (int c = 0; c < COMPONENTS; ++c) {
      const Operands operands = {x + c * x_pitch, scale, dofs, y + c * y_pitch};
      BARRIER();  // other threads may still read what this component overwrites
      load_along_t(operands, mine, here, cubes);
      BARRIER();
      multiply_along_s(here, cubes, TO_POINTS);
      BARRIER();
      FOR_THREADS(n, here * PLANE) {
        const int e = n / PLANE, row = n % PLANE;
        const real* const mass = geometry + static_cast<index_t>(mine[e]) * VOLUME;
        real* const u = cubes + e * ROOM + row * PITCH;
        energy += COALESCED ? integrate_row(u, mass + row, PLANE)
                            : integrate_row(u, mass + row * POINTS, 1);
      }
      BARRIER();
      multiply_along_s(here, cubes, TO_NODES);
      BARRIER();
      store_along_t(operands, mine, here, cubes);
    }
    const double all = block_sum(energy);
    FOR_THREADS(n, 1) energies[b] = all;
  }
}
