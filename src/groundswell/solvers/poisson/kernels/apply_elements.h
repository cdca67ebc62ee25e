// The screened Poisson operator on some elements. The backend, and LAYOUT on a GPU, choose how
// threads share the work: each of these headers defines apply_some, see metric.h for the equation.
#pragma once
#include "metric.h"
#include "metric_ring.h"
#include "spectral_elements/kernels/differentiate.h"
#include "reductions.h"
#if !defined(__CUDACC__)
#include "apply_rows.h"
#elif LAYOUT == 0
#include "apply_slices.h"
#elif LAYOUT == 1
#include "apply_tiles.h"
#else
#include "apply_pencils.h"
#endif

// Applies the operator to the elements with these numbers, (count,), ELEMENTS a block: from
// assembled x to the elements' y, (elements, CUBE). `energies`, one a block, receive x . y. There
// are COMPONENTS components, a pitch apart; all but the first find the metric in a cache.
KERNEL apply_elements(const real* RESTRICT x, index_t x_pitch, const real* RESTRICT scale,
                      const int* RESTRICT dofs, const real* RESTRICT geometry, real* RESTRICT y,
                      index_t y_pitch, const int* RESTRICT elements, index_t count,
                      double* RESTRICT energies) {
  FOR_BLOCKS(b, (count + ELEMENTS - 1) / ELEMENTS) {
    const index_t first = b * ELEMENTS, left = count - first;
    const int here = left < ELEMENTS ? left : ELEMENTS;
    double energy = 0;
    for (int c = 0; c < COMPONENTS; ++c) {
      if (c > 0) BARRIER();  // other threads may still read what this component overwrites
      const Operands operands = {x + c * x_pitch, scale, dofs, geometry, y + c * y_pitch, c};
      energy += apply_some(operands, elements + first, here, left);
    }
    const double all = block_sum(energy);
    FOR_THREADS(n, 1) energies[b] = all;
  }
}
