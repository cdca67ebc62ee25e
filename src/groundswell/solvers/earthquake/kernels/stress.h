// Hooke's law in rates, with coarse-grained memory variables for Q (Day & Bradley 2001, eqs.
// 12-16).
#pragma once
#include "layers.h"
#include "materials.h"
#include "memory.h"
#include "rows.h"

struct VelocityGradient {
  real dx_vx, dy_vy, dz_vz;
  real dy_vx, dx_vy;
  real dz_vx, dx_vz;
  real dz_vy, dy_vz;
};

template <class Flags>
INLINE void absorb(VelocityGradient& d, const Layers& layers, const LayerMemory& past, int i, int j,
                   int k, Flags in) {
  if (in.x)
    stretch_x(layers, past.x, in.layer_index_x(i), j, k, d.dx_vx, CENTRE, d.dx_vy, FACE, d.dx_vz,
              FACE);
  if (in.y) stretch_y(layers, past.y, i, j, k, d.dy_vx, FACE, d.dy_vy, CENTRE, d.dy_vz, FACE);
  if (in.z) stretch_z(layers, past.z, i, j, k, d.dz_vx, FACE, d.dz_vy, FACE, d.dz_vz, CENTRE);
}

// Compliances of the edges; those on faces between depth rows have the correction of row k.
INLINE EdgeSums softened(const EdgeSums& sums, const real* RESTRICT rows, int k) {
  const real factor = correction<COMPLIANCE>(rows, k);
  return {sums.xy, factor * sums.xz, factor * sums.yz};
}

// The relaxation mechanism of a cell: decay factor of a step, and coefficients of the weight as a
// polynomial in 1/Q. Mechanisms alternate in a 2 x 2 x 2 pattern.
struct Mechanism {
  real decay, linear, quadratic;
};

INLINE Mechanism mechanism_at(const real* RESTRICT table, int i, int j, int k) {
  const real* row = table + ((k & 1) * 2 + (j & 1)) * 3 * NX + i;
  return {row[0], row[NX], row[2 * NX]};
}

INLINE real weight(const Mechanism& m, real inverse_q) {
  return inverse_q * FMA(inverse_q, m.quadratic, m.linear);
}

// Advances a memory variable by a step; returns its contribution to the stress rate.
INLINE real relax(real& memory, const Mechanism& m, real drive) {
  const real past = memory;
  memory = FMA(m.decay, past, -(REAL(0.5) * (REAL(1) - m.decay) * drive));
  return past + memory;
}

// The six components of a symmetric tensor at one point, and their fields.
struct Tensor {
  real xx, yy, zz, xy, xz, yz;
};
struct TensorField {
  real *xx, *yy, *zz, *xy, *xz, *yz;
};
struct MemoryField {
  Stored *xx, *yy, *zz, *xy, *xz, *yz;
};

INLINE Tensor load(const TensorField& f, index_t c) {
  return {f.xx[c], f.yy[c], f.zz[c], f.xy[c], f.xz[c], f.yz[c]};
}
template <class Fields> INLINE void prefetch_all(const Fields& f, index_t c) {
  prefetch(f.xx + c, f.yy + c, f.zz + c, f.xy + c, f.xz + c, f.yz + c);
}
INLINE void store(const TensorField& f, index_t c, const Tensor& t) {
  f.xx[c] = t.xx;
  f.yy[c] = t.yy;
  f.zz[c] = t.zz;
  f.xy[c] = t.xy;
  f.xz[c] = t.xz;
  f.yz[c] = t.yz;
}
INLINE Tensor load(const MemoryField& f, index_t c) {
  return {restored(f.xx[c]), restored(f.yy[c]), restored(f.zz[c]),
          restored(f.xy[c]), restored(f.xz[c]), restored(f.yz[c])};
}
// Args: s, the stress before the step.
INLINE void store(const MemoryField& f, index_t c, const Tensor& r, const Tensor& s) {
  f.xx[c] = to_store(r.xx, s.xx);
  f.yy[c] = to_store(r.yy, s.yy);
  f.zz[c] = to_store(r.zz, s.zz);
  f.xy[c] = to_store(r.xy, s.xy);
  f.xz[c] = to_store(r.xz, s.xz);
  f.yz[c] = to_store(r.yz, s.yz);
}

// Elastic stress rate. Shear moduli on edges are harmonic means of four cells. Corrected rows are
// transversely isotropic.
INLINE Tensor elastic_rate(const VelocityGradient& d, const Matter& matter,
                           const real* RESTRICT rows, int k) {
  const real bulk = matter.lam * (d.dx_vx + d.dy_vy + d.dz_vz);
  const real horizontal = FMA(matter.across_z, d.dx_vx + d.dy_vy, bulk);
  const real vertical = FMA(correction<ALONG_Z>(rows, k), d.dz_vz, bulk);
  const real twice_mu = REAL(2) * RECIPROCAL(matter.compliance);
  const EdgeSums soft = softened(matter.edge_compliance, rows, k);
  return {FMA(twice_mu, d.dx_vx, horizontal),
          FMA(twice_mu, d.dy_vy, horizontal),
          FMA(twice_mu, d.dz_vz, vertical),
          REAL(4) * RECIPROCAL(soft.xy) * (d.dy_vx + d.dx_vy),
          REAL(4) * RECIPROCAL(soft.xz) * (d.dz_vx + d.dx_vz),
          REAL(4) * RECIPROCAL(soft.yz) * (d.dz_vy + d.dy_vz)};
}

// Adds the contribution of the memory variables r to the stress rate and advances them. P and S
// waves have separate weights; 1/Q on edges is the arithmetic mean of four cells.
INLINE void add_memory(Tensor& rate, Tensor& r, const VelocityGradient& d, const Matter& matter,
                       const Mechanism& m) {
  const real twice_mu = REAL(2) * RECIPROCAL(matter.compliance);
  const real bulk =
      (matter.lam + twice_mu) * weight(m, matter.inverse_qp) * (d.dx_vx + d.dy_vy + d.dz_vz);
  const real shear = twice_mu * weight(m, matter.inverse_qs);
  const EdgeSums& q = matter.edge_inverse_qs;
  rate.xx += relax(r.xx, m, FMA(-shear, d.dy_vy + d.dz_vz, bulk));
  rate.yy += relax(r.yy, m, FMA(-shear, d.dx_vx + d.dz_vz, bulk));
  rate.zz += relax(r.zz, m, FMA(-shear, d.dx_vx + d.dy_vy, bulk));
  rate.xy += relax(r.xy, m, rate.xy * weight(m, REAL(0.25) * q.xy));
  rate.xz += relax(r.xz, m, rate.xz * weight(m, REAL(0.25) * q.xz));
  rate.yz += relax(r.yz, m, rate.yz * weight(m, REAL(0.25) * q.yz));
}

// Stress and memory variables at one point before the step.
struct StressState {
  Tensor s, r;
};
struct StressFields {
  TensorField stress;
  MemoryField memory;
};

INLINE StressState load(const StressFields& f, index_t c) {
  StressState state{load(f.stress, c), {}};
#if ATTENUATION
  state.r = load(f.memory, c);
#endif
  return state;
}

// Advances stress and memory variables at one point by a step and stores them at offset c; returns
// the stress.
INLINE Tensor advance_stress(const StressFields& fields, StressState state,
                             const VelocityGradient& d, index_t c, int k, const Matter& matter,
                             const real* RESTRICT rows, const Mechanism& m, real keep) {
  Tensor rate = elastic_rate(d, matter, rows, k);
#if ATTENUATION
  add_memory(rate, state.r, d, matter, m);
  store(fields.memory, c, state.r, state.s);
#endif
  // sxz and syz of row 0 lie on the free surface, where they vanish.
  const real below = FREE_SURFACE && k == 0 ? REAL(0) : keep;
  const Tensor& s = state.s;
  const Tensor after = {keep * FMA(DT, rate.xx, s.xx),  keep * FMA(DT, rate.yy, s.yy),
                        keep * FMA(DT, rate.zz, s.zz),  keep * FMA(DT, rate.xy, s.xy),
                        below * FMA(DT, rate.xz, s.xz), below * FMA(DT, rate.yz, s.yz)};
  store(fields.stress, c, after);
  return after;
}
