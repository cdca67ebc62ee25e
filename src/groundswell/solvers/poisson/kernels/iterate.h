// Conjugate gradients whose vectors go forward together with the gathering of what elements add up to.
// See merged.py.
#pragma once
#include "sliced.h"
#include "sums.h"

constexpr int LANES = MOST_THREADS;  // of a block
constexpr int WARP = 32;
constexpr int MOST_AT_ONCE = 4;      // elements' parts that a lane has under way
constexpr int TOGETHER = 16;         // strips that a block works on

// Must agree with linear/cg.h.
constexpr int STEPS = 10;

struct State {
  double enough, product, count;
  struct {
    double alpha, beta;
  } steps[STEPS];
};

// Iterations that the direction and the solution go through now, all at once; this one is the last.
constexpr int OLDER = FOLLOWED > 1 ? FOLLOWED - 1 : 0;  // before this one
static_assert(FOLLOWED <= STEPS, "so many steps are remembered");

// Of one rank: residuals of this iteration, and where the next ones go; those of OLDER ones lie a pitch
// apart from `first` on, which the next ones may overwrite; A times the direction; the direction and the
// solution as they were before all of these. SCALED says whether residuals times `scale` are what
// directions are made of; 0 where values are prescribed.
struct Vectors {
  const real *r, *scale;
  real *next;
  const real *first;
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

// The steps as rows take them, this iteration's last.
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

// What vectors have for a row: of each iteration its residual, this one's last.
struct Row {
  real factor, s, p, x, r[OLDER + 1];
};

// All on their way at once, before it is known where the elements' parts are.
INLINE Row row_of(const Vectors& v, index_t n) {
  Row row = {SCALED ? v.scale[n] : REAL(1), v.s[n]};
  row.r[OLDER] = v.r[n];
  if (FOLLOWED) {
    row.p = v.p[n];
    row.x = v.x[n];
  }
  UNROLL
  for (int k = 0; k < OLDER; ++k) row.r[k] = v.first[k * v.first_pitch + n];
  return row;
}

// Row n, of which the elements' parts of A u come to w. The direction and the solution are not needed
// before the end: they follow now and then, several steps at once, and so are read less often.
INLINE void advance(const Steps& step, const Vectors& v, index_t n, Row& row, real w,
                    Products& sum) {
  if (SCALED && row.factor == 0) w = 0;
  const real image = FMA(step.beta[OLDER], row.s, w);
  const real next = FMA(-step.alpha[OLDER], image, row.r[OLDER]);
  v.s[n] = image;
  v.next[n] = next;
  if (FOLLOWED) {
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

// Rows of at most WIDTH parts; a lane has several under way.
template <int WIDTH>
INLINE void advance_narrow(const Steps& step, const Vectors& v, const real* y, const Strip& strip,
                           const Places& from, Products& sum) {
  constexpr int AT_ONCE = APART && WIDTH < MOST_AT_ONCE ? MOST_AT_ONCE / WIDTH : 1;
  const int last = strip.count - 1;
  FOR_LANES(lane, APART ? WARP : strip.count) {
    Row rows[AT_ONCE];
    place_t places[AT_ONCE][WIDTH];
    real found[AT_ONCE][WIDTH];
    UNROLL
    for (int u = 0; u < AT_ONCE; ++u) {
      const int row = lane + u * WARP < last ? lane + u * WARP : last;
      rows[u] = row_of(v, strip.first + row);
      UNROLL
      for (int k = 0; k < WIDTH; ++k) places[u][k] = from.at(row, k);
    }
    UNROLL
    for (int u = 0; u < AT_ONCE; ++u)
      UNROLL
      for (int k = 0; k < WIDTH; ++k) found[u][k] = places[u][k] >= 0 ? y[places[u][k]] : 0;
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
                         const Places& from, Products& sum) {
  FOR_LANES(lane, strip.count) {
    const index_t n = strip.first + lane;
    real found = 0;
    for (int k = 0; k < from.width; ++k) {
      const place_t place = from.at(lane, k);
      if (place >= 0) found += y[place];
    }
    Row row = row_of(v, n);
    advance(step, v, n, row, found, sum);
  }
}

INLINE void advance_strip(const Steps& step, const Vectors& v, const real* y, const Strip& strip,
                          const place_t* places, Products& sum) {
  const Places from{places + strip.from, static_cast<int>(strip.width),
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

// Strips of rows, (count,), of y, and what the new residuals' products come to, for each TOGETHER of
// the strips, (COMPONENTS, parts, 2). Components lie a pitch apart.
KERNEL advance_rows(const State* RESTRICT state, const real* RESTRICT y, index_t y_pitch,
                    const Strip* RESTRICT strips, const place_t* RESTRICT places,
                    const real* RESTRICT r, const real* RESTRICT scale, real* next,
                    const real* first, index_t first_pitch, real* RESTRICT s, real* RESTRICT p,
                    real* RESTRICT x, index_t pitch, index_t own_pitch, index_t count,
                    double* RESTRICT products) {
  const index_t parts = (count + TOGETHER - 1) / TOGETHER;
  FOR_BLOCKS(b, parts * COMPONENTS) {
    const index_t c = COMPONENTS > 1 ? b / parts : 0, all = c * pitch, own = c * own_pitch;
    const index_t begin = (b - c * parts) * TOGETHER, left = count - begin;
    const int here = left < TOGETHER ? left : TOGETHER;
    SHARED(Strip, mine, [TOGETHER]);
    FOR_THREADS(n, here) mine[n] = strips[begin + n];
    BARRIER();
    const Vectors vectors = {r + all, scale,   next + all, first + all, first_pitch,
                             s + own, p + own, x + all};
    const Steps step(*state);
    Products sum;
    FOR_WARPS(n, here) advance_strip(step, vectors, y + c * y_pitch, mine[n], places, sum);
    keep_sums(sum.sums, products + 2 * b);
  }
}

// What the products of the first residuals come to, in equal parts, (blocks, 2).
KERNEL measure_rows(const real* RESTRICT r, const real* RESTRICT scale, index_t pitch,
                    index_t count, double* RESTRICT products, index_t blocks) {
  FOR_BLOCKS(b, blocks) {
    const Part part = part_of(count, b, blocks);
    Products sum;
    FOR_THREADS(lane, LANES)
      for (index_t n = part.first + lane; n < part.first + part.count; n += LANES)
        for (int c = 0; c < COMPONENTS; ++c)
          sum.add(SCALED ? scale[n] : REAL(1), r[c * pitch + n]);
    keep_sums(sum.sums, products + 2 * b);
  }
}

// All blocks' sums as linear/cg.h wants them: u.r, u.w, r.r; in equal parts, (parts, 3).
KERNEL add_up_sums(const double* RESTRICT products, index_t count, const double* RESTRICT energies,
                   index_t blocks, double* RESTRICT sums, index_t parts) {
  FOR_BLOCKS(b, parts) {
    const Part some = part_of(count, b, parts), others = part_of(blocks, b, parts);
    double found[3] = {0, 0, 0};
    FOR_THREADS(lane, LANES) {
      for (int q = 0; q < 2; ++q)
        found[2 * q] += sum_of_lane<LANES>(
            some.count, lane, [=](index_t n) { return products[2 * (some.first + n) + q]; });
      found[1] += sum_of_lane<LANES>(
          others.count, lane, [=](index_t n) { return energies[others.first + n]; });
    }
    keep_sums(found, sums + 3 * b);
  }
}
