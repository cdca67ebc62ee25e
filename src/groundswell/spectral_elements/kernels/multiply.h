// Pointwise products of assembled values.
#pragma once
#include "portable.h"

// y = x * factors. x and y may be the same array.
KERNEL multiply_values(const real* x, const real* RESTRICT factors, real* y, index_t count) {
  FOR_ITEMS(i, count) y[i] = x[i] * factors[i];
}
