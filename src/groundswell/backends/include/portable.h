// One source, two machines: these few words let a kernel be an OpenMP loop nest or a CUDA grid.
//
//   KERNEL name(arguments)                       a function that a backend can launch
//   FOR_CELLS(i, ni, j, nj, k, nk) { ... }       independent points of a grid, i fastest
//   FOR_ITEMS(n, count) { ... }                  independent items of a list
//   FOR_BLOCKS(e, count) { ... }                 independent blocks (elements); inside one:
//     SHARED(type, name, extents)                  memory that the block's threads share
//     DYNAMIC_SHARED(type, name)                   the same for GPUs, of as many bytes as Blocks say,
//                                                  from a multiple of 128 on
//     FOR_THREADS(t, count) { ... }                work that the block's threads divide
//     FOR_WARPS(w, count) { ... }                  work that its warps divide
//     FOR_LANES(n, count) { ... }                  work that a warp's lanes divide
//     EACH_THREAD(t, count) { ... }                the same for blocks of `count` threads: one each
//     BARRIER();                                   between two FOR_THREADS that share memory
//   APART                                        whether what a thread works on lies apart, since
//                                                a GPU's neighbours like neighbouring values
//   ONCE { ... }                                 what one thread does for all
//   INLINE, METHOD                               a helper called from kernels: function, member
//   real, REAL(x)                                the floating-point type, a literal of that type
//   RECIPROCAL(x)                                1 / x, to within two units in the last place
//   ROOT(x)                                      the square root of x > 0, to a few units of 1e-12
//   fabs, fmax, fmin, sqrt                       of real: all that a CPU has of <cmath>
//   FMA(a, b, c)                                 a * b + c, rounded once on a GPU
//   CONTRACT_PRODUCTS                            from here on a CPU may do so, too
//   VECTOR_BYTES                                 of the widest vectors that a CPU works with
//   RESTRICT                                     pointers that never alias
//   ALIASED                                      of a struct: its memory holds other types, too
//   fetch(addresses...)                          have their lines brought to the second-level cache
//
// Sizes and physics switches are preprocessor constants that the backend prepends.
// docs/kernels.md explains how each loop maps to each machine.
#pragma once

#if !defined(__CUDACC__)
// To read <cmath> takes a compiler longer than most kernels do, and they want no more of it. Who does
// declares it here: the header itself must not follow.
#include <stdint.h>
#include <string.h>
extern "C" {  // before the others, or GCC takes them for a library's, and calls it
double fabs(double) noexcept;
double fmax(double, double) noexcept;
double fmin(double, double) noexcept;
double sqrt(double) noexcept;
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
#define ALIASED
#else
#define ALIASED __attribute__((may_alias))
#endif

#if defined(__CUDACC__)

#ifndef MOST_THREADS
#define MOST_THREADS 256
#endif
// How many blocks a processor must have room for decides how many registers a thread can have.
#ifdef BLOCKS_AT_ONCE
#define KERNEL extern "C" __global__ void __launch_bounds__(MOST_THREADS, BLOCKS_AT_ONCE)
#else
#define KERNEL extern "C" __global__ void __launch_bounds__(MOST_THREADS)
#endif
#define INLINE __device__ __forceinline__
#define METHOD __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define SHARED(type, name, ...) __shared__ type name __VA_ARGS__
#define DYNAMIC_SHARED(type, name)                          \
  extern __shared__ __align__(128) double bytes_of_block[]; \
  type* const name = reinterpret_cast<type*>(bytes_of_block)
#define TABLE __device__ const
#define UNIFORM_TABLE __constant__ const
#define BARRIER() __syncthreads()
constexpr bool APART = true;
// Compilers must not fuse products and sums as they please: which ones depends on the constants, and
// so a point's result would depend on the block that it lies in. What is worth it says so.
#ifdef DOUBLE_PRECISION
#define RECIPROCAL(x) (1.0 / (x))
#define FMA(a, b, c) __fma_rn(a, b, c)
#define ROOT(x) square_root(x)
#else
#define ROOT(x) sqrtf(x)
#define RECIPROCAL(x) __fdividef(1.0f, x)
#define FMA(a, b, c) __fmaf_rn(a, b, c)
#endif

#ifdef DOUBLE_PRECISION
// One step of Newton's from the processor's own guess, good to 20 bits; sqrt makes more, and branches.
INLINE double square_root(double x) {
  double guess;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(x));
  const double root = x * guess;
  return __fma_rn(0.5 * root, __fma_rn(-root, guess, 1.0), root);
}
#endif

INLINE void fetch_line(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

#define ONCE                                                                      \
  if (blockIdx.x + blockIdx.y + blockIdx.z + threadIdx.x + threadIdx.y + threadIdx.z == 0)
#define FOR_CELLS(i, ni, j, nj, k, nk)                                            \
  const int i = blockIdx.x * blockDim.x + threadIdx.x;                            \
  const int j = blockIdx.y * blockDim.y + threadIdx.y;                            \
  const int k = blockIdx.z * blockDim.z + threadIdx.z;                            \
  if (i < (ni) && j < (nj) && k < (nk))
#define FOR_ITEMS(n, count)                                                       \
  const index_t n = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;  \
  if (n < (count))
#define FOR_BLOCKS(e, count)                                                      \
  const index_t e = blockIdx.x;                                                   \
  if (e < (count))
#define FOR_THREADS(t, count) for (int t = threadIdx.x; t < (count); t += blockDim.x)
#define FOR_WARPS(w, count) for (int w = threadIdx.x / 32; w < (count); w += blockDim.x / 32)
#define FOR_LANES(n, count) for (int n = threadIdx.x % 32; n < (count); n += 32)
#define EACH_THREAD(t, count) if (const int t = threadIdx.x; true)

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
constexpr bool APART = false;
#define RECIPROCAL(x) (REAL(1) / (x))
#define FMA(a, b, c) ((a) * (b) + (c))
#define ROOT(x) sqrt(x)

// For kernels of which no loop is divided where the work is: see FLAGS in cpu.py.
#if defined(__clang__)
#define CONTRACT_PRODUCTS PRAGMA(clang fp contract(fast))
#else
#define CONTRACT_PRODUCTS PRAGMA(GCC optimize("fp-contract=fast"))
#endif

#if defined(__AVX512F__)
constexpr int VECTOR_BYTES = 64;
#else
constexpr int VECTOR_BYTES = 32;
#endif

INLINE void fetch_line(const void* address) { __builtin_prefetch(address, 0, 2); }

#define ONCE

// A loop over one of these goes round once.
struct FirstTime {
  bool used = false;
  bool first() {
    const bool before = used;
    used = true;
    return !before;
  }
};

// Waves decay into numbers too small for the usual format, which slow a CPU down a hundredfold.
// While one of these lives they count as zero in its thread; the caller's setting then returns.
#if defined(__SSE__)
#include <xmmintrin.h>
struct FlushTinyNumbers : FirstTime {
  const unsigned before = _mm_getcsr();
  FlushTinyNumbers() { _mm_setcsr(before | 0x8040); }
  ~FlushTinyNumbers() { _mm_setcsr(before); }
};
#else
using FlushTinyNumbers = FirstTime;
#endif

// The pair (k, j) is divided among the cores in contiguous runs, so a core sweeps a slab of
// planes and finds its neighbours' rows in cache; i is left to the vector unit.
#define FOR_CELLS(i, ni, j, nj, k, nk)                                            \
  PRAGMA(omp parallel for collapse(2) schedule(static))                           \
  for (int k = 0; k < (nk); ++k)                                                  \
    for (int j = 0; j < (nj); ++j)                                                \
      for (FlushTinyNumbers flush; flush.first();)                                \
        PRAGMA(omp simd)                                                          \
        for (int i = 0; i < (ni); ++i)
#define FOR_ITEMS(n, count)                                                       \
  PRAGMA(omp parallel for schedule(static))                                       \
  for (index_t n = 0; n < (count); ++n)
#define FOR_BLOCKS(e, count)                                                      \
  PRAGMA(omp parallel for schedule(static))                                       \
  for (index_t e = 0; e < (count); ++e)
#define FOR_THREADS(t, count) for (int t = 0; t < (count); ++t)
#define FOR_WARPS(w, count) FOR_THREADS(w, count)
#define FOR_LANES(n, count) FOR_THREADS(n, count)
#define EACH_THREAD(t, count) FOR_THREADS(t, count)

#endif

template <class... Values> INLINE void fetch(const Values*... addresses) {
  (fetch_line(addresses), ...);
}
