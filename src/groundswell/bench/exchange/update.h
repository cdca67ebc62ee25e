// The simplest update there is: every point of a block, from itself. What follows it in a step, an
// exchange of its sides, then shows all of its cost.
#pragma once
#include "halo_put.h"

#define UPDATE_ARGUMENTS real *RESTRICT u, index_t row, index_t plane, index_t n

KERNEL update(UPDATE_ARGUMENTS) {
  FOR_CELLS(i, n, j, n, k, n) {
    const index_t c = i + j * row + k * plane;
    u[c] = REAL(0.5) * u[c] + REAL(1);
  }
}

KERNEL update_and_put(UPDATE_ARGUMENTS, PUT_ARGUMENTS) {
  FOR_CELLS(i, n, j, n, k, n) {
    const index_t c = i + j * row + k * plane;
    u[c] = REAL(0.5) * u[c] + REAL(1);
    put(PUTS, i, j, k, {u + c});
  }
}
