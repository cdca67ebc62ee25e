// Steps of the Chebyshev iteration; see chebyshev.py.
#pragma once
#include "portable.h"

// The first step from x = 0, the first step from a given x, and a later step.
constexpr index_t FROM_ZERO = 0, FROM_X = 1, CONTINUE = 2;

// difference = minuend - subtrahend.
KERNEL subtract_values(const real* minuend, const real* RESTRICT subtrahend, real* difference,
                       index_t count) {
  FOR_ITEMS(i, count) difference[i] = minuend[i] - subtrahend[i];
}

// Step n: d = a d + b z, and c d is added to the solution; `coefficients`, (steps, 3), are a, b, c.
// Between steps `x` holds d, to which the operator is applied next, and `total` the solution. The
// first step finds the initial solution in x (FROM_X), and the last one leaves the solution there.
KERNEL advance_smoothing(const real* RESTRICT z, real* RESTRICT x, real* RESTRICT total,
                         const real* RESTRICT coefficients, index_t n, index_t begin, index_t last,
                         index_t count) {
  FOR_ITEMS(i, count) {
    const real a = coefficients[3 * n], b = coefficients[3 * n + 1], c = coefficients[3 * n + 2];
    const real d = begin == CONTINUE ? FMA(a, x[i], b * z[i]) : b * z[i];
    const real old = begin == CONTINUE ? total[i] : begin == FROM_X ? x[i] : REAL(0);
    const real sum = FMA(c, d, old);
    total[i] = sum;
    x[i] = last ? sum : d;
  }
}
