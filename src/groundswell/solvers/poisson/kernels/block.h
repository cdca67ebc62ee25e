// What blocks of a GPU's threads have in common.
#pragma once
#include "element.h"

#if defined(__CUDACC__)
constexpr int ROW_PITCH = NODES | 1;  // of shared tables: rows begin in different banks

INLINE void share_derivative(real (&d)[NODES][ROW_PITCH]) {
  for (int n = threadIdx.x; n < PLANE; n += blockDim.x)
    d[n / NODES][n % NODES] = DERIVATIVE_AT[n / NODES][n % NODES];
}
#endif
