// Sums in a fixed order, of what the threads of a block have, and of what one of them goes through.
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

// A block's share of `count` things, of which all blocks have as many.
struct Part {
  index_t first, count;
};

INLINE Part part_of(index_t count, index_t block, index_t blocks) {
  const index_t each = (count + blocks - 1) / blocks, first = block * each;
  return {first, first >= count ? 0 : first + each < count ? each : count - first};
}

// What a lane's share of `count` terms comes to, of which it has several under way.
template <int LANES, class Term> INLINE double sum_of_lane(index_t count, int lane, const Term& term) {
  constexpr int AT_ONCE = 8;
  const index_t each = (count + LANES - 1) / LANES, step = APART ? LANES : 1;
  const index_t upto = (lane + 1) * each < count ? (lane + 1) * each : count;
  const index_t end = APART ? count : upto;
  index_t i = APART ? lane : lane * each;
  double sum[AT_ONCE] = {0};
  for (; i + (AT_ONCE - 1) * step < end; i += AT_ONCE * step) {
    UNROLL
    for (int q = 0; q < AT_ONCE; ++q) sum[q] += term(i + q * step);
  }
  UNROLL
  for (int q = 0; q < AT_ONCE; ++q)
    if (i + q * step < end) sum[q] += term(i + q * step);
  for (int q = 1; q < AT_ONCE; ++q) sum[0] += sum[q];
  return sum[0];
}

// What all threads' sums come to is one entry each of `sums`.
template <int COUNT> INLINE void keep_sums(const double (&found)[COUNT], double* sums) {
  for (int q = 0; q < COUNT; ++q) {
    const double all = sum_of_threads(found[q]);
    FOR_THREADS(n, 1) sums[q] = all;
  }
}
