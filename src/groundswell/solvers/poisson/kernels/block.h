// What blocks of a GPU's threads have in common.
#pragma once
#include "element.h"

#if defined(__CUDACC__)
constexpr int WARP = 32;
constexpr int ROW_PITCH = NODES | 1;  // of shared tables: rows begin in different banks

INLINE void share_derivative(real (&d)[NODES][ROW_PITCH]) {
  for (int n = threadIdx.x; n < PLANE; n += blockDim.x)
    d[n / NODES][n % NODES] = DERIVATIVE_AT[n / NODES][n % NODES];
}

// Has some planes of an element's metric brought nearer, from plane t on, while the processor is busy
// with others; for as many threads of a warp to call as there are factors.
INLINE void fetch_planes(const real* shape, index_t e, int factor, int t, int planes) {
  const int left = NODES - t < planes ? NODES - t : planes;
  if (GEOMETRY == 0 && AHEAD > 0 && factor < FACTORS && left > 0)
    fetch_range(shape + (e * FACTORS + factor) * CUBE + t * PLANE, left * PLANE * sizeof(real));
}
#endif
