// Copies of values ahead of their use on a GPU: elements into shared memory, tables into caches.
#pragma once
#include "bulk_copy.h"

// Copies the fields and the register of a block's elements into shared memory.
struct Fetch {
  const real *from_u, *from_r;
  real *u, *r;
  int values;  // of each

#if HAS_BULK_COPY
  // All threads call this and synchronise afterwards.
  METHOD void start(mbarrier_t* arrivals, bool with_r) const {
    if (threadIdx.x) return;
    const int bytes = values * sizeof(real);
    for (int n = 0; n < 1 + with_r; ++n) {
      init_mbarrier(arrivals + n);
      expect_bytes(arrivals + n, bytes);
      bulk_copy(n ? r : u, n ? from_r : from_u, bytes, arrivals + n);
    }
  }
#else
  METHOD void start(bool with_r) const {
    for (int n = threadIdx.x; n < values; n += blockDim.x) {
      u[n] = from_u[n];
      if (with_r) r[n] = from_r[n];
    }
  }
#endif
};

// Prefetches values that threads load later. Each of `threads` threads calls this with its t.
INLINE void prefetch_values(const real* from, int count, int t, int threads) {
#if HAS_BULK_COPY
  const auto address = reinterpret_cast<unsigned long long>(from);
  const int skipped = static_cast<int>(address % 16);  // whole vectors only
  const int bytes = (skipped + count * static_cast<int>(sizeof(real))) / 16 * 16;
  if (t == 0) bulk_prefetch(reinterpret_cast<const void*>(address - skipped), bytes);
#else
  for (int n = t; n < count; n += threads) prefetch(from + n);
#endif
}
