// rho dv/dt = div sigma (Graves 1996, eqs. 1-3), stresses at n + 1/2 taking velocities from n to n + 1.
#pragma once
#include "layers.h"

struct StressDivergence {
  real dx_sxx, dy_sxy, dz_sxz;
  real dx_sxy, dy_syy, dz_syz;
  real dx_sxz, dy_syz, dz_szz;
};

template <class Flags>
INLINE void absorb(StressDivergence& d, const Layers& layers, int i, int j, int k, Flags in) {
  if (in.x) stretch_x(layers, i, j, k, d.dx_sxx, FACE, d.dx_sxy, CENTRE, d.dx_sxz, CENTRE);
  if (in.y) stretch_y(layers, i, j, k, d.dy_sxy, CENTRE, d.dy_syy, FACE, d.dy_syz, CENTRE);
  if (in.z) stretch_z(layers, i, j, k, d.dz_sxz, CENTRE, d.dz_syz, CENTRE, d.dz_szz, FACE);
}

// Density on a face is the mean of the two cells it parts; `rho` points at cell (i, j, k).
INLINE real buoyancy(const real* RESTRICT rho, index_t step) {
  return RECIPROCAL(rho[0] + rho[-step]) * REAL(2);
}

KERNEL update_velocity(real* RESTRICT vx, real* RESTRICT vy, real* RESTRICT vz,
                       const real* RESTRICT sxx, const real* RESTRICT syy,
                       const real* RESTRICT szz, const real* RESTRICT sxy,
                       const real* RESTRICT sxz, const real* RESTRICT syz,
                       const real* RESTRICT rho, real* memory_x, real* memory_y, real* memory_z,
                       const real* profile_x, const real* profile_y, const real* profile_z,
                       const real* RESTRICT sponge) {
  const Layers layers{memory_x, memory_y, memory_z, profile_x, profile_y, profile_z};
  for_cells_by_layer([=](int i, int j, int k, auto in) {
    const index_t c = cell_at(i, j, k);
    StressDivergence d{
        backward<STEP_X>(sxx + c), forward<STEP_Y>(sxy + c),  forward<STEP_Z>(sxz + c),
        forward<STEP_X>(sxy + c),  backward<STEP_Y>(syy + c), forward<STEP_Z>(syz + c),
        forward<STEP_X>(sxz + c),  forward<STEP_Y>(syz + c),  backward<STEP_Z>(szz + c)};
    absorb(d, layers, i, j, k, in);
    const real keep = sponge_factor(sponge, i, j, k);
    const real* here = rho + c;
    vx[c] = keep * (vx[c] + DT * buoyancy(here, STEP_X) * (d.dx_sxx + d.dy_sxy + d.dz_sxz));
    vy[c] = keep * (vy[c] + DT * buoyancy(here, STEP_Y) * (d.dx_sxy + d.dy_syy + d.dz_syz));
    vz[c] = keep * (vz[c] + DT * buoyancy(here, STEP_Z) * (d.dx_sxz + d.dy_syz + d.dz_szz));
  });
}
