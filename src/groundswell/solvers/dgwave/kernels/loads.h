// Fields summed over the loads of moments, for the strain at points.
#pragma once
#include "outputs/kernels/schedule.h"

// When a sample is due: sums [pairs][groups][6] of the stress (group 0) and of the memory variables
// of each mechanism over the nodes of an element with a part of a load.
//   u: the fields, of which the first six are the stress; an element has `pitch` values
//   theta [elements][groups - 1][6][nodes]
//   elements [pairs]; weights [pairs][nodes]
KERNEL sum_over_loads(double* sums, const real* RESTRICT u, const real* RESTRICT theta,
                      const long long* RESTRICT elements, const double* RESTRICT weights,
                      const long long* RESTRICT clock, index_t every, index_t pitch, index_t groups,
                      index_t nodes, index_t items) {
  FOR_ITEMS(n, items) {
    if (sample_due(clock, 0, every)) {
      const index_t c = n % 6, group = n / 6 % groups, pair = n / 6 / groups;
      const index_t e = elements[pair];
      const real* field = group == 0 ? u + e * pitch + c * nodes
                                     : theta + ((e * (groups - 1) + group - 1) * 6 + c) * nodes;
      const double* own = weights + pair * nodes;
      double sum = 0;
      for (index_t m = 0; m < nodes; ++m) sum += own[m] * static_cast<double>(field[m]);
      sums[n] = sum;
    }
  }
}
