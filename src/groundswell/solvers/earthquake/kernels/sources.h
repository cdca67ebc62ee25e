// Sources as body forces and stress glut, added to the fields before the update that follows. When
// forces are injected the clock counts the old step; the velocity update advances it before
// moments.
#pragma once
#include "materials.h"
#include "rows.h"
#include "seismology/kernels/sampled_function.h"
#include "stencil.h"

// Sparse matrix from sources to grid values. Each value adds its contributions in a fixed order.
//   targets [T]: offset in memory; components [T]: field; starts [T + 1]: first contribution
//   source_index, source_weight: source and weight of each contribution
//   times [S][2]: start and step of a source's samples, s; firsts [S + 1]: its first sample
struct Injection {
  const long long *targets, *components, *starts, *source_index;
  const real* source_weight;
  const double* times;
  const long long* firsts;
  const real* samples;
};

INLINE real injected_rate(const Injection& a, index_t n, double when) {
  real sum = 0;
  for (long long m = a.starts[n]; m < a.starts[n + 1]; ++m) {
    const long long source = a.source_index[m], first = a.firsts[source];
    sum += a.source_weight[m] * value_at(when, a.times[2 * source], a.times[2 * source + 1],
                                         a.samples + first, a.firsts[source + 1] - first);
  }
  return sum;
}

// Stress glut: a moment rate takes stress away (Graves 1996, eq. 9), at the velocities' time.
KERNEL inject_moments(real* sxx, real* syy, real* szz, real* sxy, real* sxz, real* syz,
                      const long long* targets, const long long* components,
                      const long long* starts, const long long* source_index,
                      const real* source_weight, const double* times, const long long* firsts,
                      const real* samples, const long long* clock, index_t count) {
  const Injection injection{targets,       components, starts, source_index,
                            source_weight, times,      firsts, samples};
  const double when = static_cast<double>(clock[0]) * DT_EXACT;
  FOR_ITEMS(n, count) {
    const long long which = components[n];
    real* field = which == 0   ? sxx
                  : which == 1 ? syy
                  : which == 2 ? szz
                  : which == 3 ? sxy
                  : which == 4 ? sxz
                               : syz;
    field[targets[n]] -= DT * injected_rate(injection, n, when);
  }
}

// Body force over the density that the velocity update uses, at the stresses' time.
KERNEL inject_forces(real* vx, real* vy, real* vz, const real* RESTRICT rho,
                     const Class* RESTRICT classes, const real* RESTRICT rows,
                     const long long* targets, const long long* components, const long long* starts,
                     const long long* source_index, const real* source_weight, const double* times,
                     const long long* firsts, const real* samples, const long long* clock,
                     index_t count) {
  const Density density{rho, classes};
  const Injection injection{targets,       components, starts, source_index,
                            source_weight, times,      firsts, samples};
  const double when = (static_cast<double>(clock[0]) + 0.5) * DT_EXACT;
  FOR_ITEMS(n, count) {
    const long long which = components[n];
    const index_t c = targets[n];
    const index_t step = which == 0 ? STEP_X : which == 1 ? STEP_Y : STEP_Z;
    real* field = which == 0 ? vx : which == 1 ? vy : vz;
    const real factor = which == 2 ? correction<DENSITY>(rows, c / PLANE) : REAL(1);
    field[c] += DT * REAL(2) / (factor * (density[c] + density[c - step])) *
                injected_rate(injection, n, when);
  }
}
