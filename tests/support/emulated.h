// A GPU's blocks of threads on a CPU, one after the other, so that kernels which are written for a GPU
// alone can be tried without one. Slow: every thread is one of the operating system's.
#pragma once
#include <barrier>
#include <cmath>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#define __CUDACC__ 1
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __constant__ static

struct Index {
  unsigned x = 0, y = 0, z = 0;
};
static thread_local Index threadIdx, blockIdx;
static Index blockDim;

constexpr int WARP_SIZE = 32;
struct Warp {
  std::barrier<> together{WARP_SIZE};
  double values[2][WARP_SIZE];
};
static std::unique_ptr<std::barrier<>> everybody;
static std::vector<std::unique_ptr<Warp>> all_warps;

inline Warp& this_warp() { return *all_warps[threadIdx.x / WARP_SIZE]; }
inline void __syncthreads() { everybody->arrive_and_wait(); }
inline void __syncwarp() { this_warp().together.arrive_and_wait(); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fdividef(float a, float b) { return a / b; }

inline double __shfl_down_sync(unsigned, double value, int step) {
  Warp& warp = this_warp();
  const int lane = threadIdx.x % WARP_SIZE;
  warp.values[0][lane] = value;
  __syncwarp();
  const double found = lane + step < WARP_SIZE ? warp.values[0][lane + step] : value;
  __syncwarp();
  return found;
}

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

template <class Kernel> void launch(unsigned blocks, unsigned threads, const Kernel& kernel) {
  blockDim.x = threads;
  everybody = std::make_unique<std::barrier<>>(threads);
  all_warps.clear();
  for (unsigned n = 0; n < threads; n += WARP_SIZE) all_warps.push_back(std::make_unique<Warp>());
  for (unsigned b = 0; b < blocks; ++b) {
    std::vector<std::thread> running;
    for (unsigned t = 0; t < threads; ++t)
      running.emplace_back([=, &kernel] {
        blockIdx.x = b;
        threadIdx.x = t;
        kernel();
      });
    for (auto& thread : running) thread.join();
  }
}
