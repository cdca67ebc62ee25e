// A step of Chebyshev's iteration; see chebyshev.py.
#pragma once
#include "portable.h"

constexpr index_t FROM_ZERO = 0, FROM_GIVEN = 1, ON = 2;

// difference = from - what.
KERNEL subtract_values(const real* from, const real* RESTRICT what, real* difference,
                       index_t count) {
  FOR_ITEMS(i, count) difference[i] = from[i] - what[i];
}

// Step n by d = a d + b z, of which c d counts; `coefficients`, (steps, 3), are a, b, c. `x` is d,
// which the operator wants next, but for the solution that the first step begins with (FROM_GIVEN; d
// is 0 then) and that the last one ends with; `total` is the solution in between.
KERNEL advance_smoothing(const real* RESTRICT z, real* RESTRICT x, real* RESTRICT total,
                         const real* RESTRICT coefficients, index_t n, index_t begin, index_t last,
                         index_t count) {
  FOR_ITEMS(i, count) {
    const real a = coefficients[3 * n], b = coefficients[3 * n + 1], c = coefficients[3 * n + 2];
    const real d = begin == ON ? FMA(a, x[i], b * z[i]) : b * z[i];
    const real old = begin == ON ? total[i] : begin == FROM_GIVEN ? x[i] : REAL(0);
    const real sum = FMA(c, d, old);
    total[i] = sum;
    x[i] = last ? sum : d;
  }
}
