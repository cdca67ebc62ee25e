// The operator of screened Poisson's equation on some elements: see element.h. How they are worked on
// is up to the machine, and on a GPU to SHAPE; all ways have the same apply_some.
#pragma once
#include "element.h"
#include "block.h"
#include "derive.h"
#include "sums.h"
#if !defined(__CUDACC__)
#include "rows.h"
#elif SHAPE == 0
#include "slices.h"
#elif SHAPE == 1
#include "tensor.h"
#else
#include "pencils.h"
#endif

// Some elements, (count,), by their numbers, ELEMENTS a block: assembled x to local y, (elements,
// CUBE); `energies`, one a block, get what x times that comes to. Of vectors there are COMPONENTS,
// which lie a pitch apart, and of which the later ones find the metric in a cache.
KERNEL apply_elements(const real* RESTRICT x, index_t x_pitch, const real* RESTRICT scale,
                      const int* RESTRICT places, const real* RESTRICT shape, real* RESTRICT y,
                      index_t y_pitch, const int* RESTRICT elements, index_t count,
                      double* RESTRICT energies) {
  FOR_BLOCKS(b, (count + ELEMENTS - 1) / ELEMENTS) {
    const index_t first = b * ELEMENTS, left = count - first;
    const int here = left < ELEMENTS ? left : ELEMENTS;
    double energy = 0;
    for (int c = 0; c < COMPONENTS; ++c) {
      if (c > 0) BARRIER();  // whoever still reads what the next one overwrites
      const Given given = {x + c * x_pitch, scale, places, shape, y + c * y_pitch, c};
      energy += apply_some(given, elements + first, here, left);
    }
    const double all = sum_of_threads(energy);
    FOR_THREADS(n, 1) energies[b] = all;
  }
}
