// Flags between processes that see the same memory: one raises a flag, another one waits for it.
// What was written and published before a flag was raised can be read after it was awaited.
//
//   raise_flag(flag, value)            store, seen by all processes and devices of the machine; what
//                                      must be seen before it needs publish() in between
//   await_flag(flag, value, patience)  wait until the flag is at least `value`; false if in vain
//   count_up(counter, by)              add, return what there was before
//   publish()                          order all earlier stores before whatever is raised later
#pragma once
#include "portable.h"

#if !defined(__CUDACC__)
#include <sched.h>
#include <time.h>
#endif

// How long a wait may last: until someone sets `stop`, or `nanoseconds` have gone by.
struct Patience {
  const long long* stop;
  long long nanoseconds;
};

#if defined(__CUDACC__)

INLINE void raise_flag(long long* flag, long long value) {
  asm volatile("st.relaxed.sys.s64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
}
INLINE long long read_flag(const long long* flag) {
  long long value;
  asm volatile("ld.acquire.sys.s64 %0, [%1];" : "=l"(value) : "l"(flag) : "memory");
  return value;
}
INLINE void publish() { __threadfence_system(); }
INLINE long long count_up(long long* counter, long long by) {
  return static_cast<long long>(atomicAdd(reinterpret_cast<unsigned long long*>(counter),
                                          static_cast<unsigned long long>(by)));
}
INLINE long long swap_if_same(long long* word, long long known, long long next) {
  return static_cast<long long>(atomicCAS(reinterpret_cast<unsigned long long*>(word),
                                          static_cast<unsigned long long>(known),
                                          static_cast<unsigned long long>(next)));
}
INLINE long long nanoseconds_now() {
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
INLINE void let_others_run() {}

#else

INLINE void raise_flag(long long* flag, long long value) {
  __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}
INLINE long long read_flag(const long long* flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
INLINE void publish() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
INLINE long long count_up(long long* counter, long long by) {
  return __atomic_fetch_add(counter, by, __ATOMIC_ACQ_REL);
}
INLINE long long swap_if_same(long long* word, long long known, long long next) {
  __atomic_compare_exchange_n(word, &known, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return known;
}
INLINE long long nanoseconds_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}
INLINE void let_others_run() { sched_yield(); }

#endif

// The clock and `stop`, which may lie across a bus, are looked at now and then only.
INLINE bool await_flag(const long long* flag, long long value, const Patience& patience) {
  const long long begun = nanoseconds_now();
  for (int turn = 1; read_flag(flag) < value; ++turn) {
    let_others_run();
    if (turn % 1024 == 0 &&
        (read_flag(patience.stop) || nanoseconds_now() - begun > patience.nanoseconds))
      return false;
  }
  return true;
}
