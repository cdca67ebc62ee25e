// Conjugate gradients with one global sum an iteration (Chronopoulos & Gear 1989, J. Comput. Appl.
// Math. 25). All numbers stay on the device. See cg.py.
#pragma once
#include "reductions.h"

constexpr int LANES = 256;  // of a block
constexpr int SUMS = 3;     // u.r, u.w, r.r
constexpr int STEPS = 10;   // kept for fused_cg.h

// Each block's sums over its part of the first `count` values, (blocks, SUMS).
KERNEL sum_products(const real* RESTRICT r, const real* RESTRICT u, const real* RESTRICT w,
                    index_t count, double* RESTRICT partial, index_t blocks) {
  FOR_BLOCKS(b, blocks) {
    const auto [first, mine] = block_range(count, b, blocks);
    double found[SUMS] = {0, 0, 0};
    FOR_THREADS(lane, LANES) {
      const real *rs = r + first, *us = u + first, *ws = w + first;
      const auto product = [](const real* a, const real* b) {
        return [=](index_t i) { return static_cast<double>(a[i]) * static_cast<double>(b[i]); };
      };
      found[0] += lane_sum<LANES>(mine, lane, product(us, rs));
      found[1] += lane_sum<LANES>(mine, lane, product(us, ws));
      found[2] += lane_sum<LANES>(mine, lane, product(rs, rs));
    }
    store_block_sums(found, partial + b * SUMS);
  }
}

// Adds up the sums of all blocks, (parts, SUMS), in one block; its first thread has the result.
INLINE void add_parts(const double* partial, index_t parts, double* sums) {
  if (parts == 1) {
    FOR_THREADS(one, 1)
      for (int q = 0; q < SUMS; ++q) sums[q] = partial[q];
    return;
  }
  double found[SUMS] = {0, 0, 0};
  FOR_THREADS(lane, LANES)
    for (int q = 0; q < SUMS; ++q)
      found[q] += lane_sum<LANES>(parts, lane, [=](index_t i) { return partial[i * SUMS + q]; });
  store_block_sums(found, sums);
}

KERNEL add_up_parts(const double* partial, index_t parts, double* sums) {
  FOR_BLOCKS(b, 1) { add_parts(partial, parts, sums); }
}

// x advances by alpha p, and the next p contains beta times the old one.
struct Step {
  double alpha, beta;
};

// The square of the relative tolerance, u.r, the number of iterations so far, and the last steps,
// newest first.
struct State {
  double tolerance, product, count;
  Step steps[STEPS];
};

// Computes the next step from the global sums and appends r.r to `history`. Once r is small enough,
// and after `max_iterations`, steps are 0.
INLINE void take_step(const double* sums, State* state, double* history, index_t max_iterations) {
  const State& old = *state;
  const double product = sums[0];
  const double beta = old.count > 0 && old.product != 0 ? product / old.product : 0;
  const double curvature = sums[1] - (beta != 0 ? beta * product / old.steps[0].alpha : 0);
  history[static_cast<index_t>(old.count)] = sums[2];
  const bool done = sums[2] <= old.tolerance * history[0] || old.count >= max_iterations;
  const double alpha = product != 0 && !done ? product / curvature : 0;
  State next = {old.tolerance, product, old.count + 1, {{alpha, beta}}};
  for (int n = 1; n < STEPS; ++n) next.steps[n] = old.steps[n - 1];
  *state = next;
}

KERNEL find_step(const double* partial, index_t parts, double* sums, State* state, double* history,
                 index_t max_iterations) {
  FOR_BLOCKS(b, 1) {
    add_parts(partial, parts, sums);
    FOR_THREADS(one, 1) take_step(sums, state, history, max_iterations);
  }
}

// p = u + beta p, s = A p = w + beta s, x += alpha p, r -= alpha s.
KERNEL advance_iterate(const State* RESTRICT state, const real* u, const real* RESTRICT w,
                       real* RESTRICT p, real* RESTRICT s, real* RESTRICT x, real* r,
                       index_t count) {
  FOR_ITEMS(i, count) {
    const Step& step = state->steps[0];
    const real alpha = static_cast<real>(step.alpha), beta = static_cast<real>(step.beta);
    const real direction = u[i] + beta * p[i], image = w[i] + beta * s[i];
    p[i] = direction;
    s[i] = image;
    x[i] += alpha * direction;
    r[i] -= alpha * image;
  }
}
