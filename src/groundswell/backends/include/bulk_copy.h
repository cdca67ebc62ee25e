// Asynchronous bulk copies from global to shared memory, for GPUs since sm_90 (PTX cp.async.bulk).
// One thread starts a copy of any size. The copy needs no registers, and an mbarrier in shared
// memory counts the bytes that have arrived.
//
//   HAS_BULK_COPY                        1 where the functions below exist, else 0
//   mbarrier_t                           type of the mbarrier, declared in shared memory
//   init_mbarrier(barrier)               called by one thread; then the block has to synchronise
//   expect_bytes(barrier, bytes)         called by one thread, before or after it starts the copies
//   bulk_copy(to, from, bytes, barrier)  starts a copy; size and addresses are multiples of 16
//                                        bytes
//   bulk_prefetch(from, bytes)           prefetches into the second-level cache; as for bulk_copy
//   fence_async_proxy()                  orders this thread's reads and writes of shared memory
//                                        before the bulk copies that follow
//   wait_mbarrier(barrier, parity)       waits for all bytes; parity is 0 the first time, then 1,
//                                        0, ..
//   is_last_arrival(counter, count)      true for the last of `count` threads that call it;
//                                        `counter` starts at 0, and is 0 again afterwards
#pragma once
#include "portable.h"

#if !defined(HAS_BULK_COPY) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define HAS_BULK_COPY 1
typedef unsigned long long mbarrier_t;

INLINE unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Bulk copies use the asynchronous proxy, which is not ordered with a thread's own accesses.
INLINE void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

INLINE void init_mbarrier(mbarrier_t* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  fence_async_proxy();
}

INLINE void expect_bytes(mbarrier_t* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

INLINE void bulk_copy(void* to, const void* from, int bytes, mbarrier_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

INLINE void bulk_prefetch(const void* from, int bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

INLINE void wait_mbarrier(mbarrier_t* barrier, int parity) {
  int done = 0;
  while (!done)  // try_wait suspends the thread for a limited time
    asm volatile(
        "{.reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
        "selp.b32 %0, 1, 0, done;}"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
}

INLINE bool is_last_arrival(unsigned* counter, unsigned count) {
  unsigned before;
  asm volatile("atom.acq_rel.cta.shared::cta.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "r"(shared_address(counter)), "r"(count - 1)
               : "memory");
  return before == count - 1;
}
#elif !defined(HAS_BULK_COPY)
#define HAS_BULK_COPY 0
#endif
