// Strain Green tensors: sums of strains at grid values, with the weights of a source's injection.
#pragma once
#include "outputs/kernels/schedule.h"
#include "portable.h"

// Weighted sums of values in double precision: ring [slots][rows].
//   starts [rows + 1]: first term of each row; index, weights: value and weight of each term
KERNEL record_sums(double* ring, const double* RESTRICT values, const long long* RESTRICT starts,
                   const long long* RESTRICT index, const double* RESTRICT weights,
                   const long long* RESTRICT clock, index_t every, index_t slots, index_t rows) {
  FOR_ITEMS(n, rows) {
    if (sample_due(clock, 0, every)) {
      double sum = 0;
      for (long long m = starts[n]; m < starts[n + 1]; ++m) sum += weights[m] * values[index[m]];
      ring[sample_slot(clock, 0, every, slots) * rows + n] = sum;
    }
  }
}
