// rho dv/dt = div sigma (Graves 1996, eqs. 1-3), stresses at n + 1/2 taking velocities from n to n
// + 1.
#pragma once
#include "layers.h"

struct StressDivergence {
  real dx_sxx, dy_sxy, dz_sxz;
  real dx_sxy, dy_syy, dz_syz;
  real dx_sxz, dy_syz, dz_szz;
};

template <class Flags>
INLINE void absorb(StressDivergence& d, const Layers& layers, const LayerMemory& past, int i, int j,
                   int k, Flags in) {
  if (in.x)
    stretch_x(layers, past.x, in.layer_index_x(i), j, k, d.dx_sxx, FACE, d.dx_sxy, CENTRE, d.dx_sxz,
              CENTRE);
  if (in.y) stretch_y(layers, past.y, i, j, k, d.dy_sxy, CENTRE, d.dy_syy, FACE, d.dy_syz, CENTRE);
  if (in.z) stretch_z(layers, past.z, i, j, k, d.dz_sxz, CENTRE, d.dz_syz, CENTRE, d.dz_szz, FACE);
}

struct Velocity {
  real x, y, z;
};
struct VelocityField {
  real *x, *y, *z;
};

INLINE Velocity load(const VelocityField& f, index_t c) { return {f.x[c], f.y[c], f.z[c]}; }
INLINE void store(const VelocityField& f, index_t c, const Velocity& v) {
  f.x[c] = v.x;
  f.y[c] = v.y;
  f.z[c] = v.z;
}

// Density on the low faces of a cell: sums over the two cells on either side.
struct FaceSums {
  real x, y, z;
};

// Advances the velocity v at one point by a step and stores it at offset c.
INLINE void advance_velocity(const VelocityField& field, Velocity v, const StressDivergence& d,
                             index_t c, const FaceSums& rho, real keep) {
  const real twice = REAL(2) * DT;
  store(field, c,
        {keep * FMA(twice * RECIPROCAL(rho.x), d.dx_sxx + d.dy_sxy + d.dz_sxz, v.x),
         keep * FMA(twice * RECIPROCAL(rho.y), d.dx_sxy + d.dy_syy + d.dz_syz, v.y),
         keep * FMA(twice * RECIPROCAL(rho.z), d.dx_sxz + d.dy_syz + d.dz_szz, v.z)});
}
