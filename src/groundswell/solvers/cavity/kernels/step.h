// The stages of a step, and the residuals: rates of change and their sums of squares.
#pragma once
#include "sweep.h"

#define READS(s) \
  const real *p##s, const real *u##s, const real *v##s, const real *w##s, const real *t##s
#define WRITES(s) real *p##s, real *u##s, real *v##s, real *w##s, real *t##s
#define FIELDS(s) {p##s, u##s, v##s, w##s, t##s}
// The flow, with the spacings of the grid and what solids there are.
#define FLOW(s) {p##s, u##s, v##s, w##s, t##s, metric, SOLIDS}

// What a point's waves and the spacings around it are to the loops below.
#define WAVES const Waves &wave, const Nodes &nodes

// Rates of change with the forcing, whose pressure is divided by beta^2: that of a finer grid, or of
// earlier values in unsteady flow.
INLINE State forced(const State& rate, const ConstFields& forcing, index_t c, const Waves& wave) {
  if (!FORCED) return rate;
  const State more = load(forcing, c);
  if (HAS_SOLIDS && wave.material.in_solid)
    return {REAL(0), REAL(0), REAL(0), REAL(0), rate.t + more.t};
  return {FMA(wave.beta2, more.p, rate.p), rate.u + more.u, rate.v + more.v, rate.w + more.w,
          rate.t + more.t};
}

// One stage: fields 2 = fields 0, the start of the step, plus the stage's step times the rates of
// fields 1. In the last stage, fields 2 may be fields 0.
KERNEL advance(READS(0), READS(1), READS(f), WRITES(2), SOLID_READS const real* metric,
               const real* pace, BOX_ARGUMENTS) {
  const ConstFields start = FIELDS(0), now = FLOW(1), forcing = FIELDS(f);
  const Fields next = FIELDS(2);
  const real step = pace[0];
  for_points(now, BOX, [&](index_t c, const State&, WAVES, const State& rate) {
    const State all = forced(rate, forcing, c, wave);
    store(next, c, moved_on(load(start, c), all, wave, nodes, step));
  });
}

// The same for the first stage, where fields 1 are the start of the step.
KERNEL advance_first(READS(1), READS(f), WRITES(2), SOLID_READS const real* metric,
                     const real* pace, BOX_ARGUMENTS) {
  const ConstFields now = FLOW(1), forcing = FIELDS(f);
  const Fields next = FIELDS(2);
  const real step = pace[0];
  for_points(now, BOX, [&](index_t c, const State& at, WAVES, const State& rate) {
    store(next, c, moved_on(at, forced(rate, forcing, c, wave), wave, nodes, step));
  });
}

// Computes rates of change, that of pressure divided by beta^2. Args: is_forced, whether to include
// the forcing. Fields 2 may be the forcing.
KERNEL find_rates(READS(1), READS(f), WRITES(2), SOLID_READS const real* metric, index_t is_forced,
                  BOX_ARGUMENTS) {
  const ConstFields now = FLOW(1), forcing = FIELDS(f);
  const Fields found = FIELDS(2);
  for_points(now, BOX, [&](index_t c, const State&, WAVES, const State& rate) {
    const State all = is_forced ? forced(rate, forcing, c, wave) : rate;
    store(found, c, {all.p / wave.beta2, all.u, all.v, all.w, all.t});
  });
}

#if HAS_SOLIDS
// Sets pressure and velocity in solids to zero.
KERNEL set_at_rest(real* p, real* u, real* v, real* w, const real* fluid) {
  FOR_CELLS(i, NX, j, NY, k, NZ) {
    const index_t c = k * PLANE + j * ROW + i;
    if (fluid[c] == REAL(0)) p[c] = u[c] = v[c] = w[c] = REAL(0);
  }
}
#endif

// Partial sums over rows along x: the squared rates, and the maximum of one over the longest stable
// step.
constexpr int LANES = 32, SUMS = 6;

KERNEL sum_rows(READS(1), READS(2), SOLID_READS const real* metric, double* sums, index_t parts) {
  FOR_BLOCKS(part, parts) {
    SHARED(double, shares, [SUMS][LANES]);
    FOR_THREADS(lane, LANES) {
      double sum[SUMS] = {0, 0, 0, 0, 0, 0};
      for (index_t row = part; row < static_cast<index_t>(NY) * NZ; row += parts) {
        const int j = static_cast<int>(row % NY), k = static_cast<int>(row / NY);
        const index_t first = point_at(0, j, k);
        for (index_t c = first + lane; c < first + NX; c += LANES) {
          const double rate[] = {p2[c], u2[c], v2[c], w2[c], t2[c]};
          for (int q = 0; q < SUMS - 1; ++q) sum[q] += rate[q] * rate[q];
          const Nodes nodes = nodes_at(metric, static_cast<int>(c - first), j, k);
          Waves wave = waves(u1[c], v1[c], w1[c]);
          if (HAS_SOLIDS) wave.material = material_at(SOLIDS, c, nodes);
          const Limits limits = step_limits(wave, nodes);
          const double limit = larger(limits.velocity, limits.heat);
          sum[SUMS - 1] = limit > sum[SUMS - 1] ? limit : sum[SUMS - 1];
        }
      }
      for (int q = 0; q < SUMS; ++q) shares[q][lane] = sum[q];
    }
    BARRIER();
    FOR_THREADS(q, SUMS) {
      double sum = 0;
      for (int lane = 0; lane < LANES; ++lane)
        sum = q < SUMS - 1 ? sum + shares[q][lane] : shares[q][lane] > sum ? shares[q][lane] : sum;
      sums[part * SUMS + q] = sum;
    }
  }
}
