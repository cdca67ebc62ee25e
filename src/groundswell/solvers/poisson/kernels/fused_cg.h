// Conjugate gradients that gather the elements' results and update the vectors in the same sweep.
// See fused_cg.py.
#pragma once
#include "sliced_ellpack.h"
#include "reductions.h"

constexpr int LANES = MAX_THREADS_PER_BLOCK;  // of a block
constexpr int WARP = 32;
constexpr int MAX_IN_FLIGHT = 4;      // loads of elements' results in flight a lane
constexpr int STRIPS_PER_BLOCK = 16;  // strips a block

// Must agree with linear/cg.h.
constexpr int STEPS = 10;

struct State {
  double tolerance, product, count;
  struct {
    double alpha, beta;
  } steps[STEPS];
};

// ADVANCED iterations by which the direction and the solution now advance together, this one
// included.
constexpr int OLDER = ADVANCED > 1 ? ADVANCED - 1 : 0;  // before this one
static_assert(ADVANCED <= STEPS, "only STEPS steps are kept");

// The vectors of one rank: residuals r of this iteration and `next` of the following one; residuals
// of the OLDER iterations, a pitch apart from `first` on, which `next` may overwrite; s = A p; the
// direction p and the solution x before these iterations. If SCALED, `scale` is a diagonal
// preconditioner, 0 where values are prescribed.
struct Vectors {
  const real *r, *scale;
  real* next;
  const real* first;
  index_t first_pitch;
  real *s, *p, *x;
};

// u.r and r.r.
struct Products {
  double sums[2] = {0, 0};

  METHOD void add(real factor, real r) {
    const double square = static_cast<double>(r) * static_cast<double>(r);
    sums[0] += SCALED ? static_cast<double>(factor) * square : square;
    sums[1] += square;
  }
};

// The steps of these iterations, this one's last.
struct Steps {
  real alpha[OLDER + 1], beta[OLDER + 1];

  METHOD explicit Steps(const State& state) {
    UNROLL
    for (int n = 0; n <= OLDER; ++n) {
      alpha[n] = static_cast<real>(state.steps[OLDER - n].alpha);
      beta[n] = static_cast<real>(state.steps[OLDER - n].beta);
    }
  }
};

// The entries of the vectors in one row; one residual an iteration, this one's last.
struct Row {
  real factor, s, p, x, r[OLDER + 1];
};

// Issues all loads before the indices of the elements' results are known.
INLINE Row row_of(const Vectors& v, index_t n) {
  Row row = {SCALED ? v.scale[n] : REAL(1), v.s[n]};
  row.r[OLDER] = v.r[n];
  if (ADVANCED) {
    row.p = v.p[n];
    row.x = v.x[n];
  }
  UNROLL
  for (int k = 0; k < OLDER; ++k) row.r[k] = v.first[k * v.first_pitch + n];
  return row;
}

// Advances row n, in which A u is w. The direction and the solution advance several steps at once,
// so that they are read and written less often.
INLINE void advance(const Steps& step, const Vectors& v, index_t n, Row& row, real w,
                    Products& sum) {
  if (SCALED && row.factor == 0) w = 0;
  const real image = FMA(step.beta[OLDER], row.s, w);
  const real next = FMA(-step.alpha[OLDER], image, row.r[OLDER]);
  v.s[n] = image;
  v.next[n] = next;
  if (ADVANCED) {
    UNROLL
    for (int k = 0; k <= OLDER; ++k) {
      row.p = FMA(step.beta[k], row.p, row.factor * row.r[k]);
      row.x = FMA(step.alpha[k], row.p, row.x);
    }
    v.p[n] = row.p;
    v.x[n] = row.x;
  }
  sum.add(row.factor, next);
}

// Rows of at most WIDTH summands. A lane has several rows in flight.
template <int WIDTH>
INLINE void advance_narrow(const Steps& step, const Vectors& v, const real* y, const Strip& strip,
                           const SliceIndices& from, Products& sum) {
  constexpr int AT_ONCE = COALESCED && WIDTH < MAX_IN_FLIGHT ? MAX_IN_FLIGHT / WIDTH : 1;
  const int last = strip.count - 1;
  FOR_LANES(lane, COALESCED ? WARP : strip.count) {
    Row rows[AT_ONCE];
    stored_index_t places[AT_ONCE][WIDTH];
    real found[AT_ONCE][WIDTH];
    UNROLL
    for (int u = 0; u < AT_ONCE; ++u) {
      const int row = lane + u * WARP < last ? lane + u * WARP : last;
      rows[u] = row_of(v, strip.first + row);
      UNROLL
      for (int k = 0; k < WIDTH; ++k) places[u][k] = from.at(row, k);
    }
    UNROLL
    for (int u = 0; u < AT_ONCE; ++u) {
      UNROLL
      for (int k = 0; k < WIDTH; ++k) found[u][k] = places[u][k] >= 0 ? y[places[u][k]] : 0;
    }
    UNROLL
    for (int u = 0; u < AT_ONCE; ++u) {
      UNROLL
      for (int k = 1; k < WIDTH; ++k) found[u][0] += found[u][k];
      if (const int row = lane + u * WARP; row <= last)
        advance(step, v, strip.first + row, rows[u], found[u][0], sum);
    }
  }
}

INLINE void advance_wide(const Steps& step, const Vectors& v, const real* y, const Strip& strip,
                         const SliceIndices& from, Products& sum) {
  FOR_LANES(lane, strip.count) {
    const index_t n = strip.first + lane;
    real found = 0;
    for (int k = 0; k < from.width; ++k) {
      const stored_index_t place = from.at(lane, k);
      if (place >= 0) found += y[place];
    }
    Row row = row_of(v, n);
    advance(step, v, n, row, found, sum);
  }
}

INLINE void advance_strip(const Steps& step, const Vectors& v, const real* y, const Strip& strip,
                          const stored_index_t* places, Products& sum) {
  const SliceIndices from{places + strip.from, static_cast<int>(strip.width),
                          static_cast<int>(strip.count), strip.first};
  switch (strip.width) {
    case 0:
    case 1: return advance_narrow<1>(step, v, y, strip, from, sum);
    case 2: return advance_narrow<2>(step, v, y, strip, from, sum);
    case 4: return advance_narrow<4>(step, v, y, strip, from, sum);
    case 8: return advance_narrow<8>(step, v, y, strip, from, sum);
    default: return advance_wide(step, v, y, strip, from, sum);
  }
}

// Advances the rows in these strips, (count,). `products`, (COMPONENTS, parts, 2), receive the sums
// of the new residuals, one part per STRIPS_PER_BLOCK strips. Components are a pitch apart.
KERNEL advance_rows(const State* RESTRICT state, const real* RESTRICT y, index_t y_pitch,
                    const Strip* RESTRICT strips, const stored_index_t* RESTRICT places,
                    const real* RESTRICT r, const real* RESTRICT scale, real* next,
                    const real* first, index_t first_pitch, real* RESTRICT s, real* RESTRICT p,
                    real* RESTRICT x, index_t pitch, index_t own_pitch, index_t count,
                    double* RESTRICT products) {
  const index_t parts = (count + STRIPS_PER_BLOCK - 1) / STRIPS_PER_BLOCK;
  FOR_BLOCKS(b, parts * COMPONENTS) {
    const index_t c = COMPONENTS > 1 ? b / parts : 0, all = c * pitch, own = c * own_pitch;
    const index_t begin = (b - c * parts) * STRIPS_PER_BLOCK, left = count - begin;
    const int here = left < STRIPS_PER_BLOCK ? left : STRIPS_PER_BLOCK;
    SHARED(Strip, mine, [STRIPS_PER_BLOCK]);
    FOR_THREADS(n, here) mine[n] = strips[begin + n];
    BARRIER();
    const Vectors vectors = {r + all,     scale,   next + all, first + all,
                             first_pitch, s + own, p + own,    x + all};
    const Steps step(*state);
    Products sum;
    FOR_WARPS(n, here) advance_strip(step, vectors, y + c * y_pitch, mine[n], places, sum);
    store_block_sums(sum.sums, products + 2 * b);
  }
}

// The same sums for the first residuals, in equal parts, (blocks, 2).
KERNEL measure_rows(const real* RESTRICT r, const real* RESTRICT scale, index_t pitch,
                    index_t count, double* RESTRICT products, index_t blocks) {
  FOR_BLOCKS(b, blocks) {
    const IndexRange part = block_range(count, b, blocks);
    Products sum;
    FOR_THREADS(lane, LANES)
      for (index_t n = part.first + lane; n < part.first + part.count; n += LANES)
        for (int c = 0; c < COMPONENTS; ++c) sum.add(SCALED ? scale[n] : REAL(1), r[c * pitch + n]);
    store_block_sums(sum.sums, products + 2 * b);
  }
}

// Adds up all blocks' sums for linear/cg.h: u.r, u.w, r.r; in equal parts, (parts, 3).
KERNEL add_up_sums(const double* RESTRICT products, index_t count, const double* RESTRICT energies,
                   index_t blocks, double* RESTRICT sums, index_t parts) {
  FOR_BLOCKS(b, parts) {
    const IndexRange some = block_range(count, b, parts), others = block_range(blocks, b, parts);
    double found[3] = {0, 0, 0};
    FOR_THREADS(lane, LANES) {
      for (int q = 0; q < 2; ++q)
        found[2 * q] += lane_sum<LANES>(
            some.count, lane, [=](index_t n) { return products[2 * (some.first + n) + q]; });
      found[1] += lane_sum<LANES>(others.count, lane,
                                  [=](index_t n) { return energies[others.first + n]; });
    }
    store_block_sums(found, sums + 3 * b);
  }
}
