// Macros that compile one kernel source both as an OpenMP loop nest and as a CUDA grid.
//
//   KERNEL name(arguments)                  a function that a backend can launch
//   FOR_CELLS(i, ni, j, nj, k, nk) { ... }  loop over independent grid points, i fastest
//   FOR_ITEMS(n, count) { ... }             loop over independent list entries
//   FOR_BLOCKS(e, count) { ... }            loop over independent thread blocks, such as elements.
//                                           Within a block:
//     SHARED(type, name, extents)             an array in shared memory
//     DYNAMIC_SHARED(type, name)              dynamic shared memory, GPU only, aligned to 128
//                                             bytes; its size is Blocks.shared_bytes of the launch
//     FOR_THREADS(t, count) { ... }           loop divided among the threads of the block
//     FOR_EXACT_THREADS(t, count) { ... }     the same if the block has exactly `count` threads
//     FOR_WARPS(w, count) { ... }             loop divided among the warps of the block
//     FOR_LANES(n, count) { ... }             loop divided among the lanes of a warp
//     BARRIER();                              synchronises the threads of the block
//   COALESCED                               true on a GPU: neighbouring threads should access
//                                           neighbouring values. False on a CPU, where each thread
//                                           should access values that are contiguous
//   ONE_THREAD { ... }                      executed by one thread of the launch
//   INLINE, METHOD                          function or member function called from kernels
//   TABLE, UNIFORM_TABLE                    constant array; in a UNIFORM_TABLE all threads of a
//                                           warp read the same entry at a time (CUDA __constant__)
//   real, REAL(x)                           floating-point type of the case, literal of that type
//   RECIPROCAL(x)                           1 / x, to two units in the last place
//   FAST_SQRT(x)                            square root of x > 0, to a relative error of some 1e-12
//                                           in double precision
//   INVERSE_SQRT(x)                         1 / sqrt(x), to two units in the last place
//   fabs, fmax, fmin, sqrt                  of real
//   asinh, exp, expm1, log, log1p           of double only; no other function of <cmath> exists on
//                                           a CPU
//   FMA(a, b, c)                            a * b + c, rounded once on a GPU
//   ALLOW_FP_CONTRACT                       lets a CPU fuse products and sums from here on
//   VECTOR_BYTES                            width of the CPU's vector registers
//   RESTRICT                                for pointers that do not alias
//   MAY_ALIAS                               for structs that access memory of other types
//   UNROLL                                  unrolls the loop that follows
//   prefetch(addresses...)                  prefetches cache lines into the second-level cache
//   forget(n)                               (GPUs) the same int; the compiler computes anew what
//                                           depends on it instead of keeping it in registers
//
// The backend prepends preprocessor constants: sizes, physics switches, and for a GPU optionally
// MAX_THREADS_PER_BLOCK and MIN_BLOCKS_PER_SM (__launch_bounds__). docs/kernels.md explains how
// each loop maps to CPUs and GPUs.
#pragma once

#if !defined(__CUDACC__)
// Parsing <cmath> takes longer than compiling most kernels, so we declare the functions that
// kernels use. A kernel must not include <cmath> after this header.
#include <stdint.h>
#include <string.h>
// Declared first; after the float overloads GCC would call the library instead of inlining.
extern "C" {
double fabs(double) noexcept;
double fmax(double, double) noexcept;
double fmin(double, double) noexcept;
double sqrt(double) noexcept;
double asinh(double) noexcept;
double exp(double) noexcept;
double expm1(double) noexcept;
double log(double) noexcept;
double log1p(double) noexcept;
}
inline float fabs(float x) { return __builtin_fabsf(x); }
inline float fmax(float x, float y) { return __builtin_fmaxf(x, y); }
inline float fmin(float x, float y) { return __builtin_fminf(x, y); }
inline float sqrt(float x) { return __builtin_sqrtf(x); }
#endif

typedef long long index_t;
#ifdef DOUBLE_PRECISION
typedef double real;
#else
typedef float real;
#endif
#define REAL(x) (static_cast<real>(x))
#define RESTRICT __restrict__
#if defined(__CUDACC__)
#define MAY_ALIAS
#else
#define MAY_ALIAS __attribute__((may_alias))
#endif

#if defined(__CUDACC__)

#ifndef MAX_THREADS_PER_BLOCK
#define MAX_THREADS_PER_BLOCK 256
#endif
// The number of blocks that must fit on a multiprocessor limits the registers of a thread.
#ifdef MIN_BLOCKS_PER_SM
#define KERNEL \
  extern "C" __global__ void __launch_bounds__(MAX_THREADS_PER_BLOCK, MIN_BLOCKS_PER_SM)
#else
#define KERNEL extern "C" __global__ void __launch_bounds__(MAX_THREADS_PER_BLOCK)
#endif
#define INLINE __device__ __forceinline__
#define METHOD __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define SHARED(type, name, ...) __shared__ type name __VA_ARGS__
#define DYNAMIC_SHARED(type, name)                                 \
  extern __shared__ __align__(128) double dynamic_shared_memory[]; \
  type* const name = reinterpret_cast<type*>(dynamic_shared_memory)
#define TABLE __device__ const
#define UNIFORM_TABLE __constant__ const
#define BARRIER() __syncthreads()
constexpr bool COALESCED = true;
// NVRTC must not fuse products and sums by itself: its choice depends on the constants, so the
// result at a point would depend on the block that contains the point. Kernels fuse explicitly with
// FMA.
#ifdef DOUBLE_PRECISION
#define RECIPROCAL(x) (1.0 / (x))
#define FMA(a, b, c) __fma_rn(a, b, c)
#define FAST_SQRT(x) fast_sqrt(x)
#define INVERSE_SQRT(x) rsqrt(x)
#else
#define FAST_SQRT(x) sqrtf(x)
#define INVERSE_SQRT(x) rsqrtf(x)
#define RECIPROCAL(x) __fdividef(1.0f, x)
#define FMA(a, b, c) __fmaf_rn(a, b, c)
#endif

#ifdef DOUBLE_PRECISION
// One Newton step from the hardware's estimate, which is accurate to 20 bits. sqrt takes more steps
// and branches.
INLINE double fast_sqrt(double x) {
  double estimate;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(estimate) : "d"(x));
  const double root = x * estimate;
  return __fma_rn(0.5 * root, __fma_rn(-root, estimate, 1.0), root);
}
#endif

INLINE void prefetch_line(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

INLINE int forget(int n) {
  asm volatile("" : "+r"(n));
  return n;
}

#define ONE_THREAD \
  if (blockIdx.x + blockIdx.y + blockIdx.z + threadIdx.x + threadIdx.y + threadIdx.z == 0)
#define FOR_CELLS(i, ni, j, nj, k, nk)                 \
  const int i = blockIdx.x * blockDim.x + threadIdx.x; \
  const int j = blockIdx.y * blockDim.y + threadIdx.y; \
  const int k = blockIdx.z * blockDim.z + threadIdx.z; \
  if (i < (ni) && j < (nj) && k < (nk))
#define FOR_ITEMS(n, count)                                                      \
  const index_t n = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; \
  if (n < (count))
#define FOR_BLOCKS(e, count)    \
  const index_t e = blockIdx.x; \
  if (e < (count))
#define FOR_THREADS(t, count) for (int t = threadIdx.x; t < (count); t += blockDim.x)
#define FOR_WARPS(w, count) for (int w = threadIdx.x / 32; w < (count); w += blockDim.x / 32)
#define FOR_LANES(n, count) for (int n = threadIdx.x % 32; n < (count); n += 32)
#define FOR_EXACT_THREADS(t, count) if (const int t = threadIdx.x; true)

#else

#define KERNEL extern "C" void
#define INLINE static inline __attribute__((always_inline))
#define PRAGMA(text) _Pragma(#text)
#define METHOD inline __attribute__((always_inline))
#define UNROLL PRAGMA(GCC unroll 16)
#define SHARED(type, name, ...) alignas(64) type name __VA_ARGS__
#define TABLE static constexpr
#define UNIFORM_TABLE static constexpr
#define BARRIER() static_cast<void>(0)
constexpr bool COALESCED = false;
#define RECIPROCAL(x) (REAL(1) / (x))
#define FMA(a, b, c) ((a) * (b) + (c))
#define FAST_SQRT(x) sqrt(x)
#define INVERSE_SQRT(x) (REAL(1) / sqrt(x))

// Only for kernels whose vectorised loops do not depend on the decomposition, see FLAGS in cpu.py.
#if defined(__clang__)
#define ALLOW_FP_CONTRACT PRAGMA(clang fp contract(fast))
#else
#define ALLOW_FP_CONTRACT PRAGMA(GCC optimize("fp-contract=fast"))
#endif

#if defined(__AVX512F__)
constexpr int VECTOR_BYTES = 64;
#else
constexpr int VECTOR_BYTES = 32;
#endif

INLINE void prefetch_line(const void* address) { __builtin_prefetch(address, 0, 2); }

#define ONE_THREAD

// The loop `for (RunOnce once; once.first();)` runs its body once.
struct RunOnce {
  bool used = false;
  bool first() {
    const bool before = used;
    used = true;
    return !before;
  }
};

// Decaying waves leave denormal numbers, which slow a CPU down a hundredfold. While an object of
// this type exists, its thread treats denormals as zero. The destructor restores the caller's
// setting.
#if defined(__SSE__)
#include <xmmintrin.h>
struct FlushDenormals : RunOnce {
  const unsigned before = _mm_getcsr();
  FlushDenormals() { _mm_setcsr(before | 0x8040); }
  ~FlushDenormals() { _mm_setcsr(before); }
};
#else
using FlushDenormals = RunOnce;
#endif

// GCC compiles a parallel loop into a call of GOMP_parallel. These definitions, which other
// libraries do not see, lead to the threads of thread_team.h, or of OpenMP itself. Without either,
// a kernel runs in the calling thread.
#if defined(_OPENMP) && !defined(__clang__)
struct ThreadTeam {
  void (*parallel)(void (*body)(void*), void* data, unsigned threads, unsigned flags);
  int (*size)();    // number of threads that run the present loop
  int (*number)();  // of this thread among them
};
static ThreadTeam thread_team = {
    [](void (*body)(void*), void* data, unsigned, unsigned) { body(data); }, [] { return 1; },
    [] { return 0; }};
#define HIDDEN extern "C" __attribute__((visibility("hidden")))
HIDDEN void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  thread_team.parallel(body, data, threads, flags);
}
HIDDEN int omp_get_num_threads() { return thread_team.size(); }
HIDDEN int omp_get_thread_num() { return thread_team.number(); }
extern "C" void set_thread_team(const ThreadTeam* team) { thread_team = *team; }
#endif

// Loops up to these lengths take less time on one thread than it takes to start several. An item
// may be as much work as many cells, and a block is always worth a thread.
constexpr index_t SHORT_CELLS = 512, SHORT_ITEMS = 64;

// Each core gets a contiguous range of rows (k, j), so it sweeps a slab of planes and finds the
// neighbouring rows in its cache. The loop over i is vectorised.
// clang-format off
#define FOR_CELLS(i, ni, j, nj, k, nk)                              \
  PRAGMA(omp parallel for collapse(2) schedule(static)              \
         if (SHORT_CELLS < static_cast<index_t>(ni) * (nj) * (nk))) \
  for (int k = 0; k < (nk); ++k)                                    \
    for (int j = 0; j < (nj); ++j)                                  \
      for (FlushDenormals flush; flush.first();)                    \
        PRAGMA(omp simd)                                            \
        for (int i = 0; i < (ni); ++i)
// clang-format on
#define FOR_ITEMS(n, count)                                            \
  PRAGMA(omp parallel for schedule(static) if (SHORT_ITEMS < (count))) \
  for (index_t n = 0; n < (count); ++n)
#define FOR_BLOCKS(e, count)                                 \
  PRAGMA(omp parallel for schedule(static) if (1 < (count))) \
  for (index_t e = 0; e < (count); ++e)
#define FOR_THREADS(t, count) for (int t = 0; t < (count); ++t)
#define FOR_WARPS(w, count) FOR_THREADS(w, count)
#define FOR_LANES(n, count) FOR_THREADS(n, count)
#define FOR_EXACT_THREADS(t, count) FOR_THREADS(t, count)

#endif

template <class... Values> INLINE void prefetch(const Values*... addresses) {
  (prefetch_line(addresses), ...);
}
