// Copies to memory that a block's threads share, on GPUs since sm_90: the processor makes them by itself
// once a thread has asked for them, however many bytes, with no registers in between.
//
//   BULK_COPIES                                  1 where there is what follows, else 0
//   arrival_t                                    in shared memory: what copies tell of their arrival
//   open_arrival(arrival)                        makes one, by one thread; then threads have to meet
//   expect_bytes(arrival, bytes)                 by one thread, before or after it asks for copies
//   copy_bulk(to, from, bytes, arrival)          asks for one: whole pieces of 16 bytes at such places
//   before_copies()                              what the thread knows to be read may be overwritten
//   await_bytes(arrival, parity)                 until all are there: 0 the first time, then 1, 0, ..
//   is_last(here, count)                         of `count` threads that call it; `here` begins at 0
#pragma once
#include "portable.h"

#if !defined(BULK_COPIES) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define BULK_COPIES 1
typedef unsigned long long arrival_t;

INLINE unsigned shared_address(const void* here) {
  return static_cast<unsigned>(__cvta_generic_to_shared(here));
}

// Of shared memory: copies are made on another way than a thread's own reads and writes.
INLINE void before_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

INLINE void open_arrival(arrival_t* arrival) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(arrival)) : "memory");
  before_copies();
}

INLINE void expect_bytes(arrival_t* arrival, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               ::"r"(shared_address(arrival)), "r"(bytes)
               : "memory");
}

INLINE void copy_bulk(void* to, const void* from, int bytes, arrival_t* arrival) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      ::"r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(arrival))
      : "memory");
}

INLINE void await_bytes(arrival_t* arrival, int parity) {
  int done = 0;
  while (!done)  // the processor has the thread sleep meanwhile, if not for ever
    asm volatile(
        "{.reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
        "selp.b32 %0, 1, 0, done;}"
        : "=r"(done)
        : "r"(shared_address(arrival)), "r"(parity)
        : "memory");
}

INLINE bool is_last(unsigned* here, unsigned count) {
  unsigned before;  // and 0 again after the last one
  asm volatile("atom.acq_rel.cta.shared::cta.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "r"(shared_address(here)), "r"(count - 1)
               : "memory");
  return before == count - 1;
}
#elif !defined(BULK_COPIES)
#define BULK_COPIES 0
#endif
