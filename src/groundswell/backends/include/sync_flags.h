// Flags in memory that several processes and devices see, atomic counters and fences. A reader that
// has waited for a flag sees everything that the writer stored before system_fence() and
// set_flag().
//
//   set_flag(flag, value)                stores the flag where every process and device of the host
//                                        sees it; call system_fence() before, if other stores must
//                                        be visible
//   read_flag(flag)                      loads the flag; later loads are not moved before it
//   wait_for_flag(flag, value, timeout)  waits until flag >= value; returns false after the timeout
//   fetch_add(counter, value)            adds atomically and returns the old value
//   compare_and_swap(word, old, next)    stores `next` if the word is `old`; returns what it was
//   system_fence()                       orders all earlier stores before all later ones
//   yield_thread()                       lets other threads of a CPU run
#pragma once
#include "portable.h"

#if !defined(__CUDACC__)
#include <sched.h>
#include <time.h>
#endif

// Ends a wait when `stop` becomes non-zero, or after `nanoseconds`.
struct Timeout {
  const long long* stop;
  long long nanoseconds;
};

#if defined(__CUDACC__)

INLINE void set_flag(long long* flag, long long value) {
  asm volatile("st.relaxed.sys.s64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
}
INLINE long long read_flag(const long long* flag) {
  long long value;
  asm volatile("ld.acquire.sys.s64 %0, [%1];" : "=l"(value) : "l"(flag) : "memory");
  return value;
}
INLINE void system_fence() { __threadfence_system(); }
INLINE long long fetch_add(long long* counter, long long value) {
  return static_cast<long long>(atomicAdd(reinterpret_cast<unsigned long long*>(counter),
                                          static_cast<unsigned long long>(value)));
}
INLINE long long compare_and_swap(long long* word, long long old, long long next) {
  return static_cast<long long>(atomicCAS(reinterpret_cast<unsigned long long*>(word),
                                          static_cast<unsigned long long>(old),
                                          static_cast<unsigned long long>(next)));
}
INLINE long long nanoseconds_now() {
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
INLINE void yield_thread() {}
// Whether a wait checks the clock and `stop` in this turn. Both are slow: `stop` may lie behind a
// bus.
INLINE bool is_check_due(int turn) { return turn % 1024 == 0; }

#else

INLINE void set_flag(long long* flag, long long value) {
  __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}
INLINE long long read_flag(const long long* flag) {
  return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}
INLINE void system_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
INLINE long long fetch_add(long long* counter, long long value) {
  return __atomic_fetch_add(counter, value, __ATOMIC_ACQ_REL);
}
INLINE long long compare_and_swap(long long* word, long long old, long long next) {
  __atomic_compare_exchange_n(word, &old, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return old;
}
INLINE long long nanoseconds_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// After a yield, another thread may keep the core for some milliseconds. If this has happened,
// threads sleep for some time instead: the system wakes a sleeper at once, as it has used less than
// its share of the core.
constexpr long long LONG_YIELD = 300000, NAP = 20000;  // ns
constexpr int NAPS = 2000;

INLINE void yield_thread() {
  static thread_local int naps = 0;
  if (naps > 0) {
    const timespec nap = {0, NAP};
    nanosleep(&nap, nullptr);
    --naps;
    return;
  }
  const long long begun = nanoseconds_now();
  sched_yield();
  if (nanoseconds_now() - begun > LONG_YIELD) naps = NAPS;
}
// More often than on a GPU, because a turn may last a time slice of other processes.
INLINE bool is_check_due(int turn) { return turn % 16 == 0; }

#endif

INLINE bool wait_for_flag(const long long* flag, long long value, const Timeout& timeout) {
  const long long start = nanoseconds_now();
  for (int turn = 1; read_flag(flag) < value; ++turn) {
    yield_thread();
    if (is_check_due(turn) &&
        (read_flag(timeout.stop) || nanoseconds_now() - start > timeout.nanoseconds))
      return false;
  }
  return true;
}
