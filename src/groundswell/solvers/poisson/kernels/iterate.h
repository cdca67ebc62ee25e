// Conjugate gradients whose vectors go forward together with the gathering of what elements add up to.
// See merged.py.
#pragma once
#include "sliced.h"
#include "sums.h"

constexpr int LANES = 256;  // of a block

// Of an iteration, and the steps of the one before; must agree with linear/cg.h.
struct State {
  double product, alpha, beta, count, older_alpha, older_beta;
};

// Of one rank: residuals of this iteration and of the one before, whose place the next ones take; A
// times the direction; the direction and the solution as they were before both. SCALED says whether
// residuals times `scale` are what directions are made of; 0 where values are prescribed.
struct Vectors {
  const real *r, *scale;
  real *other, *s, *p, *x;
};

// u.r and r.r.
struct Products {
  double preconditioned, squared;

  METHOD void add(real factor, real r) {
    const double square = static_cast<double>(r) * static_cast<double>(r);
    squared += square;
    preconditioned += SCALED ? static_cast<double>(factor) * square : square;
  }
};

// Row n, of which the elements' parts of A u come to w. The direction and the solution follow every
// other time only, two steps at once: they are not needed before, and so are read half as often.
template <bool FOLLOW>
INLINE void advance(const State& state, const Vectors& v, index_t n, real w, Products& sum) {
  const real alpha = static_cast<real>(state.alpha), beta = static_cast<real>(state.beta);
  const real factor = SCALED ? v.scale[n] : REAL(1), r = v.r[n];
  if (SCALED && factor == 0) w = 0;
  const real image = FMA(beta, v.s[n], w);
  v.s[n] = image;
  if (FOLLOW) {
    const real older_alpha = static_cast<real>(state.older_alpha);
    const real older_beta = static_cast<real>(state.older_beta);
    const real older = FMA(older_beta, v.p[n], factor * v.other[n]);
    const real direction = FMA(beta, older, factor * r);
    v.p[n] = direction;
    v.x[n] = FMA(alpha, direction, FMA(older_alpha, older, v.x[n]));
  }
  const real next = FMA(-alpha, image, r);
  v.other[n] = next;
  sum.add(factor, next);
}

template <bool FOLLOW, int WIDTH>
INLINE Products advance_narrow(const State& state, const Vectors& v, const real* y,
                               const Places& from, index_t first) {
  Products sum = {0, 0};
  FOR_THREADS(row, from.count) {
    place_t places[WIDTH];
    real found[WIDTH];
    UNROLL
    for (int n = 0; n < WIDTH; ++n) places[n] = from.at(row, n);
    UNROLL
    for (int n = 0; n < WIDTH; ++n) found[n] = places[n] >= 0 ? y[places[n]] : 0;
    UNROLL
    for (int n = 1; n < WIDTH; ++n) found[0] += found[n];
    advance<FOLLOW>(state, v, first + row, found[0], sum);
  }
  return sum;
}

template <bool FOLLOW>
INLINE Products advance_wide(const State& state, const Vectors& v, const real* y,
                             const Places& from, index_t first) {
  Products sum = {0, 0};
  FOR_THREADS(row, from.count) {
    real found = 0;
    for (int n = 0; n < from.width; ++n) {
      const place_t place = from.at(row, n);
      if (place >= 0) found += y[place];
    }
    advance<FOLLOW>(state, v, first + row, found, sum);
  }
  return sum;
}

template <bool FOLLOW>
INLINE Products advance_slice(const State& state, const Vectors& v, const real* y,
                              const Slice& slice, const place_t* places) {
  const Places from{places + slice.from, static_cast<int>(slice.from_width),
                    static_cast<int>(slice.count), static_cast<place_t>(slice.first)};
  switch (slice.from_width) {
    case 0:
    case 1: return advance_narrow<FOLLOW, 1>(state, v, y, from, slice.first);
    case 2: return advance_narrow<FOLLOW, 2>(state, v, y, from, slice.first);
    case 4: return advance_narrow<FOLLOW, 4>(state, v, y, from, slice.first);
    case 8: return advance_narrow<FOLLOW, 8>(state, v, y, from, slice.first);
    default: return advance_wide<FOLLOW>(state, v, y, from, slice.first);
  }
}

INLINE void keep(const Products& sum, double* products) {
  const double preconditioned = sum_of_threads(sum.preconditioned);
  const double squared = sum_of_threads(sum.squared);
  FOR_THREADS(n, 1) {
    products[0] = preconditioned;
    products[1] = squared;
  }
}

// Slices of rows, (count,), of y, and what the new residuals' products come to, (COMPONENTS, count, 2).
// If FOLLOWED the direction and the solution follow. Components lie a pitch apart.
KERNEL advance_rows(const State* RESTRICT state, const real* RESTRICT y, index_t y_pitch,
                    const Slice* RESTRICT slices, const place_t* RESTRICT places,
                    const real* RESTRICT r, const real* RESTRICT scale, real* RESTRICT other,
                    real* RESTRICT s, real* RESTRICT p, real* RESTRICT x, index_t pitch,
                    index_t own_pitch, index_t count, double* RESTRICT products) {
  FOR_BLOCKS(b, count * COMPONENTS) {
    const index_t c = COMPONENTS > 1 ? b / count : 0, all = c * pitch, own = c * own_pitch;
    const Vectors vectors = {r + all, scale, other + all, s + own, p + own, x + all};
    const Slice& slice = slices[b - c * count];
    keep(advance_slice<FOLLOWED>(*state, vectors, y + c * y_pitch, slice, places),
         products + 2 * b);
  }
}

// What the products of the first residuals come to, in equal parts, (blocks, 2).
KERNEL measure_rows(const real* RESTRICT r, const real* RESTRICT scale, index_t pitch,
                    index_t count, double* RESTRICT products, index_t blocks) {
  FOR_BLOCKS(b, blocks) {
    Products sum = {0, 0};
    const index_t each = (count + blocks - 1) / blocks, first = b * each;
    const index_t end = first + each < count ? first + each : count;
    FOR_THREADS(lane, LANES)
      for (index_t n = first + lane; n < end; n += LANES)
        for (int c = 0; c < COMPONENTS; ++c)
          sum.add(SCALED ? scale[n] : REAL(1), r[c * pitch + n]);
    keep(sum, products + 2 * b);
  }
}

// All blocks' sums as linear/cg.h wants them: u.r, u.w, r.r.
KERNEL add_up_sums(const double* RESTRICT products, index_t count, const double* RESTRICT energies,
                   index_t blocks, double* RESTRICT sums) {
  FOR_BLOCKS(b, 1) {
    Products sum = {0, 0};
    double energy = 0;
    FOR_THREADS(lane, LANES) {
      for (index_t n = lane; n < count; n += LANES) {
        sum.preconditioned += products[2 * n];
        sum.squared += products[2 * n + 1];
      }
      for (index_t n = lane; n < blocks; n += LANES) energy += energies[n];
    }
    keep(sum, sums + 1);
    const double all = sum_of_threads(energy);
    FOR_THREADS(n, 1) {
      sums[0] = sums[1];
      sums[1] = all;
    }
  }
}
