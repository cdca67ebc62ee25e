// The two hot kernels, portable: one loop over all cells each.
#include "signatures.h"

KERNEL update_velocity(VELOCITY_ARGUMENTS) {
  const Layers layers{memory_x, memory_y, memory_z, profile_x, profile_y, profile_z};
  const Velocity v{vx, vy, vz};
  for_cells_by_layer([=](int i, int j, int k, auto in) {
    const index_t c = cell_at(i, j, k);
    StressDivergence d{
        backward<STEP_X>(sxx + c), forward<STEP_Y>(sxy + c),  forward<STEP_Z>(sxz + c),
        forward<STEP_X>(sxy + c),  backward<STEP_Y>(syy + c), forward<STEP_Z>(syz + c),
        forward<STEP_X>(sxz + c),  forward<STEP_Y>(syz + c),  backward<STEP_Z>(szz + c)};
    absorb(d, layers, i, j, k, in);
    const FaceSums faces{rho[c] + rho[c - STEP_X], rho[c] + rho[c - STEP_Y],
                         rho[c] + rho[c - STEP_Z]};
    advance_velocity(v, d, c, faces, sponge_factor(sponge, i, j, k));
  });
}

KERNEL update_stress(STRESS_ARGUMENTS) {
  const Layers layers{memory_x, memory_y, memory_z, profile_x, profile_y, profile_z};
  const TensorField s{sxx, syy, szz, sxy, sxz, syz}, r{rxx, ryy, rzz, rxy, rxz, ryz};
  for_cells_by_layer([=](int i, int j, int k, auto in) {
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
    advance_stress(s, r, d, c, k, matter, m, sponge_factor(sponge, i, j, k));
  });
}
