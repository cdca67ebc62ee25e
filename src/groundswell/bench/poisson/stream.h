// What a kernel that only streams can do, with as much to read for each value written as the operator:
// eight values read, one written (Chalmers et al. 2023, section "Poisson operator").
#pragma once
#include "portable.h"

KERNEL stream_eight(const real* RESTRICT x, real* RESTRICT y, index_t count) {
  FOR_ITEMS(n, count) {
    real sum = 0;
    UNROLL
    for (int k = 0; k < 8; ++k) sum += x[k * count + n];
    y[n] = sum;
  }
}
