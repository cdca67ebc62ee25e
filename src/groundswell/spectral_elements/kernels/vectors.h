// What is done to assembled values one by one.
#pragma once
#include "portable.h"

// What Jacobi's preconditioner does; in place, what prescribed values do.
KERNEL multiply_values(const real* x, const real* RESTRICT factors, real* y, index_t count) {
  FOR_ITEMS(i, count) y[i] = x[i] * factors[i];
}
