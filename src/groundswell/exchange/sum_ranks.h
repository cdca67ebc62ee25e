// Sums of numbers that were gathered from all ranks.
#pragma once
#include "portable.h"

// all: (ranks, count); summed in the order of ranks.
KERNEL sum_over_ranks(const double* all, index_t ranks, index_t count, double* sums) {
  FOR_BLOCKS(b, 1) {
    FOR_THREADS(q, count) {
      double sum = 0;
      for (index_t n = 0; n < ranks; ++n) sum += all[n * count + q];
      sums[q] = sum;
    }
  }
}
