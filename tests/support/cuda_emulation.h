// A GPU's blocks of threads on a CPU, one after the other, so that kernels which are written for a
// GPU alone can be tried without one. The threads of a block take turns: each runs until it has to
// wait for others. Half of the rounds begin with the last thread, so that a missing barrier shows
// whichever of two threads should have waited.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <ucontext.h>
#include <vector>

#define __CUDACC__ 1
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static
#define __constant__ static

struct Index {
  unsigned x = 0, y = 0, z = 0;
};
static Index threadIdx, blockIdx, blockDim, gridDim;

// The threads of a block, each with its own stack.
struct Turn {
  static constexpr std::size_t STACK = 1 << 18;
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[STACK]};
  bool ended;
};
static std::vector<std::unique_ptr<Turn>> turns;
static ucontext_t scheduler;
static std::function<void()> body;
static long long progress;  // how often somebody need not wait any more

inline void take_turn() {
  body();
  turns[threadIdx.x]->ended = true;
  ++progress;
}

// Lets the other threads run until a condition holds.
template <class Condition> void wait_until(const Condition& holds) {
  while (!holds()) swapcontext(&turns[threadIdx.x]->context, &scheduler);
  ++progress;
}

// Runs all threads of a block to their end; aborts if all of them wait.
inline void run_block(unsigned threads) {
  while (turns.size() < threads) turns.push_back(std::make_unique<Turn>());
  for (unsigned t = 0; t < threads; ++t) {
    Turn& turn = *turns[t];
    getcontext(&turn.context);
    turn.context.uc_stack.ss_sp = turn.stack.get();
    turn.context.uc_stack.ss_size = Turn::STACK;
    turn.context.uc_link = &scheduler;
    turn.ended = false;
    makecontext(&turn.context, take_turn, 0);
  }
  static unsigned random = 1;
  for (bool all_ended = false; !all_ended;) {
    const long long before = progress;
    random = random * 1664525 + 1013904223;
    const bool backwards = random >> 31;
    all_ended = true;
    for (unsigned n = 0; n < threads; ++n) {
      threadIdx.x = backwards ? threads - 1 - n : n;
      Turn& turn = *turns[threadIdx.x];
      if (!turn.ended) swapcontext(&scheduler, &turn.context);
      all_ended &= turn.ended;
    }
    if (!all_ended && progress == before) std::abort();
  }
}

struct Barrier {
  unsigned count, arrived = 0, round = 0;
  void arrive_and_wait() {
    if (++arrived == count) {
      arrived = 0, ++round, ++progress;
    } else {
      wait_until([this, before = round] { return round != before; });
    }
  }
};

constexpr int WARP_SIZE = 32;
struct Warp {
  Barrier together{WARP_SIZE};
  double values[2][WARP_SIZE];
  // Lanes that reduce values together, by their mask.
  struct Reduction {
    int arrived = 0, round = 0;
    unsigned largest = 0, result = 0;
  };
  std::map<unsigned, Reduction> reductions;
};
static Barrier everybody;
static std::vector<Warp> all_warps;

inline Warp& this_warp() { return all_warps[threadIdx.x / WARP_SIZE]; }
inline void __syncthreads() { everybody.arrive_and_wait(); }
inline void __syncwarp() { this_warp().together.arrive_and_wait(); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fdividef(float a, float b) { return a / b; }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }

inline double __shfl_down_sync(unsigned, double value, int step) {
  Warp& warp = this_warp();
  const int lane = threadIdx.x % WARP_SIZE;
  warp.values[0][lane] = value;
  __syncwarp();
  const double found = lane + step < WARP_SIZE ? warp.values[0][lane + step] : value;
  __syncwarp();
  return found;
}

inline unsigned __ballot_sync(unsigned, bool vote) {
  Warp& warp = this_warp();
  warp.values[0][threadIdx.x % WARP_SIZE] = vote;
  __syncwarp();
  unsigned found = 0;
  for (int lane = 0; lane < WARP_SIZE; ++lane)
    if (warp.values[0][lane] != 0) found |= 1u << lane;
  __syncwarp();
  return found;
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  Warp& warp = this_warp();
  if (!(mask >> threadIdx.x % WARP_SIZE & 1)) std::abort();
  Warp::Reduction& found = warp.reductions[mask];
  found.largest = std::max(found.largest, value);
  if (++found.arrived < __builtin_popcount(mask)) {
    wait_until([&, round = found.round] { return found.round != round; });
    return found.result;
  }
  found.result = found.largest, found.arrived = 0, found.largest = 0, ++found.round, ++progress;
  return found.result;
}
inline int __ffs(int bits) { return __builtin_ffs(bits); }

// m8n8k4 in double precision, as the PTX ISA has it.
inline void emulated_mma(double (&c)[2], double a, double b) {
  Warp& warp = this_warp();
  const int lane = threadIdx.x % WARP_SIZE, row = lane / 4, column = lane % 4 * 2;
  warp.values[0][lane] = a;
  warp.values[1][lane] = b;
  __syncwarp();
  for (int k = 0; k < 4; ++k)
    for (int h = 0; h < 2; ++h)
      c[h] = std::fma(warp.values[0][4 * row + k], warp.values[1][4 * (column + h) + k], c[h]);
  __syncwarp();
}

// Emulates backends/include/bulk_copy.h. Every other copy is made at once, to detect copies that
// overwrite values which are still needed. The rest is made when a thread waits for it, to detect
// reads without a wait.
#ifndef HAS_BULK_COPY
#define HAS_BULK_COPY 1
#endif
struct mbarrier_t {
  int turn, waiting, bytes;
};
struct Copy {
  void* to;
  const void* from;
  int bytes;
  mbarrier_t* arrival;
};
static std::vector<Copy> late;
static bool at_once;

inline void end_turn(mbarrier_t* arrival) {
  if (arrival->waiting || arrival->bytes) return;
  arrival->turn ^= 1;
  arrival->waiting = 1;
}

inline void fence_async_proxy() {}
inline void init_mbarrier(mbarrier_t* arrival) { *arrival = {0, 1, 0}; }

inline void expect_bytes(mbarrier_t* arrival, int bytes) {
  arrival->waiting -= 1;
  arrival->bytes += bytes;
  end_turn(arrival);
}

inline void make(const Copy& copy) {
  std::memcpy(copy.to, copy.from, copy.bytes);
  copy.arrival->bytes -= copy.bytes;
  end_turn(copy.arrival);
}

inline void make_late(mbarrier_t* arrival) {
  for (auto copy = late.begin(); copy != late.end();)
    if (copy->arrival == arrival) {
      make(*copy);
      copy = late.erase(copy);
    } else {
      ++copy;
    }
}

inline void bulk_copy(void* to, const void* from, int bytes, mbarrier_t* arrival) {
  const auto places = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  if ((places | bytes) % 16) std::abort();
  const Copy copy{to, from, bytes, arrival};
  at_once = !at_once;
  if (at_once) make(copy);
  else late.push_back(copy);
  ++progress;
}

inline void bulk_prefetch(const void* from, int bytes) {
  if ((reinterpret_cast<std::uintptr_t>(from) | bytes) % 16) std::abort();
}

inline void wait_mbarrier(mbarrier_t* arrival, int parity) {
  wait_until([=] {
    make_late(arrival);
    return arrival->turn != parity;
  });
}

inline bool is_last_arrival(unsigned* here, unsigned count) {
  *here = *here + 1 == count ? 0 : *here + 1;
  return *here == 0;
}

// What blocks share besides what kernels declare; beyond what they asked for nothing is to change.
constexpr std::size_t MOST_SHARED = 1 << 18;
alignas(128) static double dynamic_shared_memory[MOST_SHARED / sizeof(double)];

// Whether blocks kept to `shared` bytes.
template <class Kernel>
bool launch(unsigned blocks, unsigned threads, std::size_t shared, const Kernel& kernel) {
  char* const bytes = reinterpret_cast<char*>(dynamic_shared_memory);
  constexpr char UNTOUCHED = 0x55;
  if (shared > MOST_SHARED) std::abort();
  std::memset(bytes + shared, UNTOUCHED, MOST_SHARED - shared);
  blockDim.x = threads;
  body = kernel;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    everybody = {threads};
    all_warps.assign((threads + WARP_SIZE - 1) / WARP_SIZE, Warp());
    run_block(threads);
  }
  return std::all_of(bytes + shared, bytes + MOST_SHARED, [](char c) { return c == UNTOUCHED; });
}
