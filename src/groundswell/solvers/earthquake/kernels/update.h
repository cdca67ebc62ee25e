// The two hot kernels, portable: what happens at each cell, and a loop over all cells.
#include "signatures.h"

struct VelocityUpdate {
  Velocity v;
  const real *sxx, *syy, *szz, *sxy, *sxz, *syz, *rho, *sponge;
  Layers layers;

  template <class Flags> METHOD void operator()(int i, int j, int k, Flags in) const {
    const index_t c = cell_at(i, j, k);
    StressDivergence d{
        backward<STEP_X>(sxx + c), forward<STEP_Y>(sxy + c),  forward<STEP_Z>(sxz + c),
        forward<STEP_X>(sxy + c),  backward<STEP_Y>(syy + c), forward<STEP_Z>(syz + c),
        forward<STEP_X>(sxz + c),  forward<STEP_Y>(syz + c),  backward<STEP_Z>(szz + c)};
    absorb(d, layers, i, j, k, in);
    const FaceSums faces{rho[c] + rho[c - STEP_X], rho[c] + rho[c - STEP_Y],
                         rho[c] + rho[c - STEP_Z]};
    advance_velocity(v, d, c, faces, sponge_factor(sponge, i, j, k));
  }
};

KERNEL update_velocity(VELOCITY_ARGUMENTS) {
  for_cells_by_layer(VelocityUpdate{
      {vx, vy, vz}, sxx, syy, szz, sxy, sxz, syz, rho, sponge,
      {memory_x, memory_y, memory_z, profile_x, profile_y, profile_z}});
}

struct StressUpdate {
  TensorField stress, memory;
  const real *vx, *vy, *vz, *lam, *compliance, *inverse_qp, *inverse_qs, *mechanisms, *sponge;
  Layers layers;

  template <class Flags> METHOD void operator()(int i, int j, int k, Flags in) const {
    const index_t c = cell_at(i, j, k);
    VelocityGradient d{
        forward<STEP_X>(vx + c),  forward<STEP_Y>(vy + c),  forward<STEP_Z>(vz + c),
        backward<STEP_Y>(vx + c), backward<STEP_X>(vy + c), backward<STEP_Z>(vx + c),
        backward<STEP_X>(vz + c), backward<STEP_Z>(vy + c), backward<STEP_Y>(vz + c)};
    absorb(d, layers, i, j, k, in);
    Matter matter{lam[c], compliance[c], 0, 0, sum_over_edges(compliance + c), {}};
    Mechanism m{};
#if ATTENUATION
    matter.inverse_qp = inverse_qp[c];
    matter.inverse_qs = inverse_qs[c];
    matter.edge_inverse_qs = sum_over_edges(inverse_qs + c);
    m = mechanism_at(mechanisms, i, j, k);
#endif
    advance_stress(stress, memory, d, c, k, matter, m, sponge_factor(sponge, i, j, k));
  }
};

KERNEL update_stress(STRESS_ARGUMENTS) {
  for_cells_by_layer(StressUpdate{
      {sxx, syy, szz, sxy, sxz, syz}, {rxx, ryy, rzz, rxy, rxz, ryz}, vx, vy, vz, lam, compliance,
      inverse_qp, inverse_qs, mechanisms, sponge,
      {memory_x, memory_y, memory_z, profile_x, profile_y, profile_z}});
}
