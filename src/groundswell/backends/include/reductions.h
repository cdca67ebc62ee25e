// Sums in a fixed order: over the threads of a block, and over the terms that one lane adds up.
#pragma once
#include "portable.h"

#if defined(__CUDACC__)
// The sum of `value` over a block; only thread 0 gets it. All threads of the block must call this,
// and their number must be a multiple of 32.
INLINE double block_sum(double value) {
  SHARED(double, warps, [32]);
  UNROLL
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  __syncthreads();  // a thread may still read `warps` of the previous sum
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  double sum = 0;
  if (threadIdx.x == 0)
    for (int n = 0; n < blockDim.x / 32; ++n) sum += warps[n];
  return sum;
}
#else
INLINE double block_sum(double value) { return value; }
#endif

// The indices first .. first + count - 1.
struct IndexRange {
  index_t first, count;
};

// The share of `block` when `count` indices are divided evenly among `blocks`.
INLINE IndexRange block_range(index_t count, index_t block, index_t blocks) {
  const index_t each = (count + blocks - 1) / blocks, first = block * each;
  return {first, first >= count ? 0 : first + each < count ? each : count - first};
}

// The sum of one lane's share of term(0) .. term(count - 1). The lane has several loads in flight.
template <int LANES, class Term> INLINE double lane_sum(index_t count, int lane, const Term& term) {
  constexpr int IN_FLIGHT = 8;
  const index_t each = (count + LANES - 1) / LANES, step = COALESCED ? LANES : 1;
  const index_t upto = (lane + 1) * each < count ? (lane + 1) * each : count;
  const index_t end = COALESCED ? count : upto;
  index_t i = COALESCED ? lane : lane * each;
  double sum[IN_FLIGHT] = {0};
  for (; i + (IN_FLIGHT - 1) * step < end; i += IN_FLIGHT * step) {
    UNROLL
    for (int q = 0; q < IN_FLIGHT; ++q) sum[q] += term(i + q * step);
  }
  UNROLL
  for (int q = 0; q < IN_FLIGHT; ++q)
    if (i + q * step < end) sum[q] += term(i + q * step);
  for (int q = 1; q < IN_FLIGHT; ++q) sum[0] += sum[q];
  return sum[0];
}

// Stores the block's sums of each entry of `values` in `sums`.
template <int COUNT> INLINE void store_block_sums(const double (&values)[COUNT], double* sums) {
  for (int q = 0; q < COUNT; ++q) {
    const double all = block_sum(values[q]);
    FOR_THREADS(n, 1) sums[q] = all;
  }
}
