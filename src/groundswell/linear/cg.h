// Conjugate gradients with one sum over all ranks an iteration (Chronopoulos & Gear 1989, J. Comput.
// Appl. Math. 25), all of whose numbers stay on the device. See cg.py.
#pragma once
#include "sums.h"

constexpr int LANES = 256;   // of a block
constexpr int AT_ONCE = 8;   // sums that a lane has under way, and adds up in the end
constexpr int SUMS = 3;      // u.r, u.w, r.r

// A GPU's neighbouring lanes like neighbouring values, a core likes its own side by side.
#if defined(__CUDACC__)
constexpr bool APART = true;
#else
constexpr bool APART = false;
#endif

// What a lane's share of `count` terms comes to.
template <class Term> INLINE double sum_of_lane(index_t count, int lane, const Term& term) {
  const index_t each = (count + LANES - 1) / LANES, step = APART ? LANES : 1;
  const index_t upto = (lane + 1) * each < count ? (lane + 1) * each : count;
  const index_t end = APART ? count : upto;
  index_t i = APART ? lane : lane * each;
  double sum[AT_ONCE] = {0};
  for (; i + (AT_ONCE - 1) * step < end; i += AT_ONCE * step) {
    UNROLL
    for (int q = 0; q < AT_ONCE; ++q) sum[q] += term(i + q * step);
  }
  for (; i < end; i += step) sum[0] += term(i);
  for (int q = 1; q < AT_ONCE; ++q) sum[0] += sum[q];
  return sum[0];
}

// What all lanes' sums come to is one entry each of `sums`.
INLINE void keep(const double (&found)[SUMS], double* sums) {
  for (int q = 0; q < SUMS; ++q) {
    const double all = sum_of_threads(found[q]);
    FOR_THREADS(n, 1) sums[q] = all;
  }
}

// The sums of each block's share of the first `count` values, (blocks, SUMS).
KERNEL sum_products(const real* RESTRICT r, const real* RESTRICT u, const real* RESTRICT w,
                    index_t count, double* RESTRICT partial, index_t blocks) {
  FOR_BLOCKS(b, blocks) {
    const index_t each = (count + blocks - 1) / blocks, first = b * each;
    const index_t mine = first >= count ? 0 : first + each < count ? each : count - first;
    double found[SUMS] = {0, 0, 0};
    FOR_THREADS(lane, LANES) {
      const real *rs = r + first, *us = u + first, *ws = w + first;
      const auto product = [](const real* a, const real* b) {
        return [=](index_t i) { return static_cast<double>(a[i]) * static_cast<double>(b[i]); };
      };
      found[0] += sum_of_lane(mine, lane, product(us, rs));
      found[1] += sum_of_lane(mine, lane, product(us, ws));
      found[2] += sum_of_lane(mine, lane, product(rs, rs));
    }
    keep(found, partial + b * SUMS);
  }
}

// The sums of all blocks, (SUMS,).
KERNEL sum_blocks(const double* RESTRICT partial, index_t blocks, double* RESTRICT sums) {
  FOR_BLOCKS(b, 1) {
    double found[SUMS] = {0, 0, 0};
    FOR_THREADS(lane, LANES)
      for (int q = 0; q < SUMS; ++q)
        found[q] += sum_of_lane(blocks, lane, [=](index_t i) { return partial[i * SUMS + q]; });
    keep(found, sums);
  }
}

// Of an iteration: u.r, the step along p, what p keeps of itself, and how many there have been; and the
// steps of the one before.
struct State {
  double product, alpha, beta, count, older_alpha, older_beta;
};

// The next step from all ranks' sums; `history` gets r.r. Nothing moves once r is 0.
KERNEL find_step(const double* RESTRICT sums, State* RESTRICT state, double* RESTRICT history) {
  ONCE {
    const State old = *state;
    const double product = sums[0];
    const double beta = old.count > 0 && old.product != 0 ? product / old.product : 0;
    const double curvature = sums[1] - (beta != 0 ? beta * product / old.alpha : 0);
    const double alpha = product != 0 ? product / curvature : 0;
    history[static_cast<index_t>(old.count)] = sums[2];
    *state = State{product, alpha, beta, old.count + 1, old.alpha, old.beta};
  }
}

// p = u + beta p, s = A p = w + beta s, x += alpha p, r -= alpha s.
KERNEL advance_iterate(const State* RESTRICT state, const real* u, const real* RESTRICT w,
                       real* RESTRICT p, real* RESTRICT s, real* RESTRICT x, real* r,
                       index_t count) {
  FOR_ITEMS(i, count) {
    const real alpha = static_cast<real>(state->alpha), beta = static_cast<real>(state->beta);
    const real direction = u[i] + beta * p[i], image = w[i] + beta * s[i];
    p[i] = direction;
    s[i] = image;
    x[i] += alpha * direction;
    r[i] -= alpha * image;
  }
}
