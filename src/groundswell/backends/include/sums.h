// The sum of what the threads of a block have, in a fixed order.
#pragma once
#include "portable.h"

#if defined(__CUDACC__)
// For thread 0; all threads of the block take part, whose number is a multiple of 32.
INLINE double sum_of_threads(double value) {
  SHARED(double, warps, [32]);
  UNROLL
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  __syncthreads();  // whoever still reads an earlier sum
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  double sum = 0;
  if (threadIdx.x == 0)
    for (int n = 0; n < blockDim.x / 32; ++n) sum += warps[n];
  return sum;
}
#else
INLINE double sum_of_threads(double value) { return value; }
#endif
