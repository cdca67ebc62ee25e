// Implicit steps in time: what surrounds the solution of a linear system, see implicit_step.py.
// Values before are those of the elements' nodes, all others assembled; `real` is the type of the
// system. KEPT values are kept.
#pragma once
#include "portable.h"
#include "reductions.h"

constexpr int LANES = COALESCED ? MAX_THREADS_PER_BLOCK : 1;  // of a block that adds up
constexpr int NORMS = 2, EXTREMES = 3;                        // numbers of a block
constexpr double LARGEST = 1.7976931348623157e308;

// What the host chooses for a solution: factors of the values before, newest first, of which the
// inertia and the guess consist; and powers of two by which values are multiplied.
struct Choice {
  double base[KEPT], guess[KEPT];
  double to_system, from_system;      // u of the operator
  double to_square;                   // residuals that are squared
  double to_residual, from_residual;  // the right-hand side of conjugate gradients
};

// The largest value of a block; only thread 0 gets it.
INLINE double block_max(double value) {
#if defined(__CUDACC__)
  SHARED(double, warps, [32]);
  UNROLL
  for (int step = 16; step > 0; step /= 2)
    value = fmax(value, __shfl_down_sync(0xffffffffu, value, step));
  __syncthreads();  // a thread may still read `warps` of the previous one
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int n = 0; n < blockDim.x / 32; ++n) value = fmax(value, warps[n]);
#endif
  return value;
}

// target = the sum of factors[k] times vector k, which are a pitch apart.
KERNEL combine_vectors(const double* RESTRICT vectors, index_t pitch,
                       const double* RESTRICT factors, index_t terms, double* RESTRICT target,
                       index_t count) {
  FOR_ITEMS(n, count) {
    double sum = 0;
    for (int k = 0; k < terms; ++k) sum += factors[k] * vectors[k * pitch + n];
    target[n] = sum;
  }
}

// Replaces target[indices[n]] by values[n].
KERNEL put_values(const double* RESTRICT values, const index_t* RESTRICT indices,
                  double* RESTRICT target, index_t count) {
  FOR_ITEMS(n, count) target[indices[n]] = values[n];
}

// The sum of factors[n] * values[indices[n]] of each piece, from firsts[b] up to firsts[b + 1].
KERNEL sum_products(const double* RESTRICT values, const index_t* RESTRICT indices,
                    const double* RESTRICT factors, const index_t* RESTRICT firsts,
                    double* RESTRICT sums, index_t blocks) {
  FOR_BLOCKS(b, blocks) {
    double sum[1] = {0};
    FOR_THREADS(lane, LANES)
      for (index_t n = firsts[b] + lane; n < firsts[b + 1]; n += LANES)
        sum[0] += factors[n] * values[indices[n]];
    store_block_sums(sum, sums + b);
  }
}

// Combines the values before: KEPT arrays of the elements' nodes, a pitch apart, of which there are
// `terms`. `first` is the first node of each assembled value.
KERNEL combine_kept(const Choice* RESTRICT choice, const double* RESTRICT kept, index_t pitch,
                    const index_t* RESTRICT first, index_t terms, double* RESTRICT base,
                    double* RESTRICT guess, index_t count) {
  FOR_ITEMS(n, count) {
    double of_base = 0, of_guess = 0;
    for (int k = 0; k < terms; ++k) {
      const double u = kept[k * pitch + first[n]];
      of_base += choice->base[k] * u;
      of_guess += choice->guess[k] * u;
    }
    base[n] = of_base;
    guess[n] = of_guess;
  }
}

// Sets u to its prescribed values where it is not free, and converts it for the operator.
KERNEL prescribe_values(const Choice* RESTRICT choice, const unsigned char* RESTRICT free,
                        const double* RESTRICT prescribed, double* RESTRICT u, real* RESTRICT x,
                        index_t count) {
  FOR_ITEMS(n, count) {
    if (!free[n]) u[n] = prescribed[n];
    x[n] = static_cast<real>(choice->to_system * u[n]);
  }
}

// The residual of u, whose image under the operator is A u, and squares of each block: of the
// residual of what is 0 where it is free, whose image is `product`, and of this one, (blocks, 2).
KERNEL find_residual(const Choice* RESTRICT choice, const unsigned char* RESTRICT free,
                     const double* RESTRICT load, const double* RESTRICT inertia,
                     const double* RESTRICT base, const double* RESTRICT product,
                     const real* RESTRICT image, double* RESTRICT residual, index_t count,
                     double* RESTRICT squares, index_t blocks) {
  FOR_BLOCKS(b, blocks) {
    const IndexRange part = block_range(count, b, blocks);
    double sums[NORMS] = {0, 0};
    FOR_THREADS(lane, LANES)
      for (index_t n = part.first + lane; n < part.first + part.count; n += LANES) {
        const double all = load[n] + inertia[n] * base[n];
        const double before = free[n] ? all - product[n] : 0;
        const double now = free[n] ? all - choice->from_system * image[n] : 0;
        residual[n] = now;
        const double squared[NORMS] = {choice->to_square * before, choice->to_square * now};
        for (int q = 0; q < NORMS; ++q) sums[q] += squared[q] * squared[q];
      }
    store_block_sums(sums, squares + NORMS * b);
  }
}

// The image of u under the operator.
KERNEL convert_image(const Choice* RESTRICT choice, const real* RESTRICT image,
                     double* RESTRICT product, index_t count) {
  FOR_ITEMS(n, count) product[n] = choice->from_system * image[n];
}

// The residual as the right-hand side of conjugate gradients.
KERNEL convert_residual(const Choice* RESTRICT choice, const double* RESTRICT residual,
                        real* RESTRICT b, index_t count) {
  FOR_ITEMS(n, count) b[n] = static_cast<real>(choice->to_residual * residual[n]);
}

// Adds the solution x to u, of which the first `own` values are this rank's. Of these each block
// has the smallest, the largest, and the sum with weights, (blocks, 3).
KERNEL correct_values(const Choice* RESTRICT choice, const real* RESTRICT x,
                      const double* RESTRICT weights, double* RESTRICT u, index_t own,
                      index_t count, double* RESTRICT extremes, index_t blocks) {
  FOR_BLOCKS(b, blocks) {
    const IndexRange part = block_range(count, b, blocks);
    double low = LARGEST, high = -LARGEST, sum = 0;
    FOR_THREADS(lane, LANES)
      for (index_t n = part.first + lane; n < part.first + part.count; n += LANES) {
        const double found = u[n] + choice->from_residual * x[n];
        u[n] = found;
        if (n >= own) continue;
        low = found < low ? found : low;
        high = found > high ? found : high;
        sum += weights[n] * found;
      }
    const double found[EXTREMES] = {-block_max(-low), block_max(high), block_sum(sum)};
    FOR_THREADS(one, 1)
      for (int q = 0; q < EXTREMES; ++q) extremes[EXTREMES * b + q] = found[q];
  }
}

// Stores u at the nodes of elements, and moves the values before by a step.
KERNEL store_values(const double* RESTRICT u, const int* RESTRICT dofs, double* RESTRICT kept,
                    index_t count) {
  FOR_ITEMS(n, count) {
    for (index_t k = KEPT - 1; k > 0; --k) kept[k * count + n] = kept[(k - 1) * count + n];
    kept[n] = u[dofs[n]];
  }
}
