// Hooke's law in rates, with coarse-grained memory variables for Q (Day & Bradley 2001, eqs. 12-16).
#pragma once
#include "layers.h"

struct VelocityGradient {
  real dx_vx, dy_vy, dz_vz;
  real dy_vx, dx_vy;
  real dz_vx, dx_vz;
  real dz_vy, dy_vz;
};

template <class Flags>
INLINE void absorb(VelocityGradient& d, const Layers& layers, int i, int j, int k, Flags in) {
  if (in.x) stretch_x(layers, i, j, k, d.dx_vx, CENTRE, d.dx_vy, FACE, d.dx_vz, FACE);
  if (in.y) stretch_y(layers, i, j, k, d.dy_vx, FACE, d.dy_vy, CENTRE, d.dy_vz, FACE);
  if (in.z) stretch_z(layers, i, j, k, d.dz_vx, FACE, d.dz_vy, FACE, d.dz_vz, CENTRE);
}

// Sums over the four cells that meet at the edge where each shear stress sits.
struct EdgeSums {
  real xy, xz, yz;
};

INLINE EdgeSums sum_over_edges(const real* RESTRICT f) {
  const real west = f[0] + f[-STEP_X], north = f[-STEP_Y], up = f[-STEP_Z];
  return {west + (north + f[-STEP_X - STEP_Y]), west + (up + f[-STEP_X - STEP_Z]),
          (f[0] + north) + (up + f[-STEP_Y - STEP_Z])};
}

// The cell's share of the relaxation spectrum: decay over a step, and the weight's polynomial in
// 1/Q. Cells take turns in a 2 x 2 x 2 pattern.
struct Mechanism {
  real decay, linear, quadratic;
};

INLINE Mechanism mechanism_at(const real* RESTRICT table, int i, int j, int k) {
  const real* row = table + ((k & 1) * 2 + (j & 1)) * 3 * NX + i;
  return {row[0], row[NX], row[2 * NX]};
}

INLINE real weight(const Mechanism& m, real inverse_q) {
  return inverse_q * (m.linear + inverse_q * m.quadratic);
}

// Moves a memory variable over a step; returns what it adds to the stress rate.
INLINE real relax(real* RESTRICT memory, const Mechanism& m, real drive) {
  const real past = *memory;
  const real next = m.decay * past - REAL(0.5) * (REAL(1) - m.decay) * drive;
  *memory = next;
  return past + next;
}

struct Stress {
  real *xx, *yy, *zz, *xy, *xz, *yz;
};

// Everything at one point once its velocity gradient is known; c is its place in memory.
INLINE void advance_stress(const Stress& s, const Stress& r, const VelocityGradient& d, index_t c,
                           int k, real lam, real mu, real inverse_qp, real inverse_qs,
                           const EdgeSums& edge_mu, const EdgeSums& edge_qs, const Mechanism& m,
                           real keep) {
  const real divergence = d.dx_vx + d.dy_vy + d.dz_vz;
  const real exy = d.dy_vx + d.dx_vy, exz = d.dz_vx + d.dx_vz, eyz = d.dz_vy + d.dy_vz;
  real rate_xx = lam * divergence + REAL(2) * mu * d.dx_vx;
  real rate_yy = lam * divergence + REAL(2) * mu * d.dy_vy;
  real rate_zz = lam * divergence + REAL(2) * mu * d.dz_vz;
  real rate_xy = edge_mu.xy * exy, rate_xz = edge_mu.xz * exz, rate_yz = edge_mu.yz * eyz;
#if ATTENUATION
  const real bulk = (lam + REAL(2) * mu) * weight(m, inverse_qp) * divergence;
  const real shear = REAL(2) * mu * weight(m, inverse_qs);
  rate_xx += relax(r.xx + c, m, bulk - shear * (d.dy_vy + d.dz_vz));
  rate_yy += relax(r.yy + c, m, bulk - shear * (d.dx_vx + d.dz_vz));
  rate_zz += relax(r.zz + c, m, bulk - shear * (d.dx_vx + d.dy_vy));
  rate_xy += relax(r.xy + c, m, rate_xy * weight(m, edge_qs.xy));
  rate_xz += relax(r.xz + c, m, rate_xz * weight(m, edge_qs.xz));
  rate_yz += relax(r.yz + c, m, rate_yz * weight(m, edge_qs.yz));
#endif
  s.xx[c] = keep * (s.xx[c] + DT * rate_xx);
  s.yy[c] = keep * (s.yy[c] + DT * rate_yy);
  s.zz[c] = keep * (s.zz[c] + DT * rate_zz);
  s.xy[c] = keep * (s.xy[c] + DT * rate_xy);
  // sxz and syz of row 0 lie on the free surface, where they vanish.
  const real below = FREE_SURFACE && k == 0 ? REAL(0) : keep;
  s.xz[c] = below * (s.xz[c] + DT * rate_xz);
  s.yz[c] = below * (s.yz[c] + DT * rate_yz);
}

KERNEL update_stress(real* sxx, real* syy, real* szz, real* sxy, real* sxz, real* syz, real* rxx,
                     real* ryy, real* rzz, real* rxy, real* rxz, real* ryz,
                     const real* RESTRICT vx, const real* RESTRICT vy, const real* RESTRICT vz,
                     const real* RESTRICT lam, const real* RESTRICT compliance,
                     const real* RESTRICT inverse_qp, const real* RESTRICT inverse_qs,
                     const real* RESTRICT mechanisms, real* memory_x, real* memory_y,
                     real* memory_z, const real* profile_x, const real* profile_y,
                     const real* profile_z, const real* RESTRICT sponge) {
  const Layers layers{memory_x, memory_y, memory_z, profile_x, profile_y, profile_z};
  const Stress s{sxx, syy, szz, sxy, sxz, syz}, r{rxx, ryy, rzz, rxy, rxz, ryz};
  for_cells_by_layer([=](int i, int j, int k, auto in) {
    const index_t c = cell_at(i, j, k);
    VelocityGradient d{
        forward<STEP_X>(vx + c),  forward<STEP_Y>(vy + c),  forward<STEP_Z>(vz + c),
        backward<STEP_Y>(vx + c), backward<STEP_X>(vy + c), backward<STEP_Z>(vx + c),
        backward<STEP_X>(vz + c), backward<STEP_Z>(vy + c), backward<STEP_Y>(vz + c)};
    absorb(d, layers, i, j, k, in);
    const EdgeSums softness = sum_over_edges(compliance + c);
    const EdgeSums edge_mu{REAL(4) * RECIPROCAL(softness.xy), REAL(4) * RECIPROCAL(softness.xz),
                           REAL(4) * RECIPROCAL(softness.yz)};
    EdgeSums edge_qs{};
    Mechanism m{};
    real qp = 0, qs = 0;
#if ATTENUATION
    qp = inverse_qp[c];
    qs = inverse_qs[c];
    edge_qs = sum_over_edges(inverse_qs + c);
    edge_qs = {REAL(0.25) * edge_qs.xy, REAL(0.25) * edge_qs.xz, REAL(0.25) * edge_qs.yz};
    m = mechanism_at(mechanisms, i, j, k);
#endif
    advance_stress(s, r, d, c, k, lam[c], RECIPROCAL(compliance[c]), qp, qs, edge_mu, edge_qs, m,
                   sponge_factor(sponge, i, j, k));
  });
}
