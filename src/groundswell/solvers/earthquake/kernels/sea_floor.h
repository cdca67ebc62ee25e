// Corrections at boundaries between fluids and solids. The hot kernels take the same differences
// everywhere. These kernels add what they lack to the differences of sea_floor.py.
#pragma once
#include "stress.h"
#include "velocity.h"

// Sparse matrix from values to cells, row by row.
//   targets [T]: offset in memory; starts [T + 1]: first term
//   slots: the sum that a term adds to; weights: 1/m
//   fields, sources: component of its value, and the offset of this in memory
struct Terms {
  const long long *targets, *starts, *sources;
  const int *slots, *fields;
  const real* weights;
};

#define TERMS                                                                                \
  const long long *targets, const long long *starts, const long long *sources,               \
      const int *slots, const int *fields, const real *weights, index_t count

// Adds to the slots of one cell: sums [S] over its terms.
template <int S, int F>
INLINE void add_terms(real (&sums)[S], const real* const (&values)[F], const Terms& terms,
                      index_t n) {
  for (long long m = terms.starts[n]; m < terms.starts[n + 1]; ++m)
    sums[terms.slots[m]] += terms.weights[m] * values[terms.fields[m]][terms.sources[m]];
}

// Slots: vx, vy, vz; fields: sxx, syy, szz, sxy, sxz, syz.
KERNEL correct_velocity(real* vx, real* vy, real* vz, const real* sxx, const real* syy,
                        const real* szz, const real* sxy, const real* sxz, const real* syz,
                        const real* RESTRICT rho, const real* RESTRICT rows,
                        const real* RESTRICT sponge, TERMS) {
  const Terms terms{targets, starts, sources, slots, fields, weights};
  const real* const stress[] = {sxx, syy, szz, sxy, sxz, syz};
  FOR_ITEMS(n, count) {
    const index_t c = targets[n];
    const int k = static_cast<int>(c / PLANE), j = static_cast<int>(c % PLANE / ROW);
    const real keep = sponge_factor(sponge, static_cast<int>(c % ROW), j, k);
    real force[3] = {};
    add_terms(force, stress, terms, n);
    const real z = correction<DENSITY>(rows, k), twice = REAL(2) * DT;
    vx[c] += keep * (twice / (rho[c] + rho[c - STEP_X]) * force[X]);
    vy[c] += keep * (twice / (rho[c] + rho[c - STEP_Y]) * force[Y]);
    vz[c] += keep * (twice / (z * (rho[c] + rho[c - STEP_Z])) * force[Z]);
  }
}

// Slots: derivatives in the strains xx, yy, zz, xy, xz and yz; fields: vx, vy, vz.
KERNEL correct_stress(real* sxx, real* syy, real* szz, real* sxy, real* sxz, real* syz, real* rxx,
                     real* ryy, real* rzz, real* rxy, real* rxz, real* ryz, const real* vx,
                     const real* vy, const real* vz, const real* RESTRICT lam,
                     const real* RESTRICT compliance, const real* RESTRICT inverse_qp,
                     const real* RESTRICT inverse_qs, const real* RESTRICT rows,
                     const real* RESTRICT mechanisms, const real* RESTRICT sponge, TERMS) {
  const Terms terms{targets, starts, sources, slots, fields, weights};
  const real* const velocity[] = {vx, vy, vz};
  FOR_ITEMS(n, count) {
    const index_t c = targets[n];
    const int k = static_cast<int>(c / PLANE), j = static_cast<int>(c % PLANE / ROW);
    const int i = static_cast<int>(c % ROW);
    real e[6] = {};
    add_terms(e, velocity, terms, n);
    const VelocityGradient d{e[0], e[1], e[2], e[3], REAL(0), e[4], REAL(0), e[5], REAL(0)};
    const Matter matter{lam[c], compliance[c], ATTENUATION ? inverse_qp[c] : REAL(0),
                        ATTENUATION ? inverse_qs[c] : REAL(0), sum_over_edges(compliance + c),
                        ATTENUATION ? sum_over_edges(inverse_qs + c) : EdgeSums{},
                        correction<ACROSS_Z>(rows, k)};
    Tensor rate = elastic_rate(d, matter, rows, k);
#if ATTENUATION
    // Memory variables are linear in the rates, so their change is that of variables at rest.
    Tensor r{};
    add_memory(rate, r, d, matter, mechanism_at(mechanisms, i, j, k));
    rxx[c] += r.xx, ryy[c] += r.yy, rzz[c] += r.zz;
    rxy[c] += r.xy, rxz[c] += r.xz, ryz[c] += r.yz;
#endif
    const real step = sponge_factor(sponge, i, j, k) * DT;
    sxx[c] += step * rate.xx, syy[c] += step * rate.yy, szz[c] += step * rate.zz;
    sxy[c] += step * rate.xy, sxz[c] += step * rate.xz, syz[c] += step * rate.yz;
  }
}
