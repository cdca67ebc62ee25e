// Products with sparse matrices in slices of SLICE rows (sliced ELLPACK, Kreutzer et al. 2014, SIAM
// J. Sci. Comput. 36:C401). See sparse.py.
#pragma once
#include "reductions.h"

constexpr int LANES = 32;  // that share a long row

// y = M x, or y += M x with `add`. In a slice, entry n of all rows is contiguous; slice s has the
// entries first[s] to first[s + 1] - 1.
KERNEL multiply_sparse(const index_t* RESTRICT first, const int* RESTRICT columns,
                       const real* RESTRICT values, const real* RESTRICT x, real* RESTRICT y,
                       index_t rows, index_t add) {
  FOR_ITEMS(i, rows) {
    const index_t slice = i / SLICE, end = first[slice + 1];
    real sum = 0;
    for (index_t n = first[slice] + i % SLICE; n < end; n += SLICE)
      sum = FMA(values[n], x[columns[n]], sum);
    y[i] = add ? y[i] + sum : sum;
  }
}

// The same for few long rows, one after the other: row i has the entries first[i] to
// first[i + 1] - 1.
KERNEL multiply_long_rows(const index_t* RESTRICT first, const int* RESTRICT columns,
                          const real* RESTRICT values, const real* RESTRICT x, real* RESTRICT y,
                          index_t rows, index_t add) {
  FOR_BLOCKS(i, rows) {
    const index_t begin = first[i], count = first[i + 1] - begin;
    double found = 0;
    FOR_THREADS(lane, LANES)
      found += lane_sum<LANES>(count, lane, [=](index_t n) {
        return static_cast<double>(values[begin + n]) * static_cast<double>(x[columns[begin + n]]);
      });
    const double sum = block_sum(found);
    FOR_THREADS(one, 1) y[i] = static_cast<real>(add ? y[i] + sum : sum);
  }
}
