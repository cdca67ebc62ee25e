// The free surface: rows -1 and -2 above the plane z = 0, which holds vz, sxz and syz of row 0.
//
// Velocities above it follow from zero traction (Graves 1996; Gottschaemmer & Olsen 2001, FS2).
// Stresses above it are the negative mirror image of those below (Levander 1988), plus a correction
// that makes the divergence of stress the negative transpose of the gradient of velocity, as in the
// interior. The surface then conserves energy in any medium, and source and receiver are
// interchangeable.
//
// vx and vy above the surface are deliberately extrapolated over SHEAR_REACH = 2 rows along the
// slope that zero shear traction gives, not one. The energy of the rows below is a midpoint rule
// with an error of h^2/24 times the derivative of the density at the end. The work that the extra
// row takes from sxz, which grows as h, cancels it. Rayleigh waves of ten cells are 0.15 % slow,
// not 0.66 %.
#pragma once
#include "layers.h"
#include "materials.h"
#include "rows.h"

// Memory variables of the horizontal derivatives at the surface: planes [4][NY][NX], along x at
// west faces, along y at south faces, and along x and y at centres.
struct SurfaceLayers {
  real* memory;
  const real *profile_x, *profile_y;
};

INLINE real surface_dx(const SurfaceLayers& layers, real difference, int i, int j, Place at) {
  real derivative = difference / HX;
  if (LAYERS_X > 0 && in_layer(i, NX, BEFORE_X, AFTER_X)) {
    real* memory = layers.memory + (static_cast<index_t>(at == FACE ? 0 : 2) * NY + j) * NX + i;
    const int l = layer_index(i, NX, BEFORE_X, AFTER_X);
    stretch(derivative, *memory, memory, layers.profile_x + at * LAYERS_X + l, LAYERS_X);
  }
  return derivative;
}
INLINE real surface_dy(const SurfaceLayers& layers, real difference, int i, int j, Place at) {
  real derivative = difference / HY;
  if (LAYERS_Y > 0 && in_layer(j, NY, BEFORE_Y, AFTER_Y)) {
    real* memory = layers.memory + (static_cast<index_t>(at == FACE ? 1 : 3) * NY + j) * NX + i;
    const int l = layer_index(j, NY, BEFORE_Y, AFTER_Y);
    stretch(derivative, *memory, memory, layers.profile_y + at * LAYERS_Y + l, LAYERS_Y);
  }
  return derivative;
}

// Moduli of the cells below the free surface. `free_share` is the ratio of -dz vz to the horizontal
// divergence for zero traction on z = 0.
struct SurfaceModuli {
  Modulus lam, compliance;
  const real* rows;
  METHOD real free_share(index_t c) const {
    return lam[c] / (lam[c] + REAL(2) / compliance[c] + correction<ALONG_Z>(rows, 0));
  }
};

KERNEL mirror_velocity(real* vx, real* vy, real* vz, const real* RESTRICT lam,
                       const real* RESTRICT compliance, const Class* RESTRICT classes,
                       const real* RESTRICT rows, real* memory, const real* RESTRICT profile_x,
                       const real* RESTRICT profile_y) {
  const SurfaceModuli moduli{{lam, classes}, {compliance, classes}, rows};
  const SurfaceLayers layers{memory, profile_x, profile_y};
  FOR_CELLS(i, NX, j, NY, k, 1) {
    const index_t c = cell_at(i, j, k);
    const real spreading = surface_dx(layers, vx[c + STEP_X] - vx[c], i, j, CENTRE) +
                           surface_dy(layers, vy[c + STEP_Y] - vy[c], i, j, CENTRE);
    const real dx_vz = surface_dx(layers, vz[c] - vz[c - STEP_X], i, j, FACE);
    const real dy_vz = surface_dy(layers, vz[c] - vz[c - STEP_Y], i, j, FACE);
    vx[c - STEP_Z] = vx[c] + SHEAR_REACH * HZ * dx_vz;
    vy[c - STEP_Z] = vy[c] + SHEAR_REACH * HZ * dy_vz;
    vz[c - STEP_Z] = vz[c + STEP_Z] + REAL(2) * HZ * moduli.free_share(c) * spreading;
  }
}

KERNEL mirror_stress(real* szz, real* sxz, real* syz, const real* RESTRICT lam,
                     const real* RESTRICT compliance, const Class* RESTRICT classes,
                     const real* RESTRICT rows, real* memory, const real* RESTRICT profile_x,
                     const real* RESTRICT profile_y) {
  const SurfaceModuli moduli{{lam, classes}, {compliance, classes}, rows};
  const SurfaceLayers layers{memory, profile_x, profile_y};
  FOR_CELLS(i, NX, j, NY, k, 1) {
    const index_t c = cell_at(i, j, k), b = c + STEP_Z;
    const auto freed = [&](index_t at) { return moduli.free_share(at) * szz[at]; };
    const real here = freed(c);
    const real pull = surface_dx(layers, sxz[b + STEP_X] - sxz[b], i, j, CENTRE) +
                      surface_dy(layers, syz[b + STEP_Y] - syz[b], i, j, CENTRE);
    const real west = here - freed(c - STEP_X);
    const real south = here - freed(c - STEP_Y);
    sxz[c - STEP_Z] = REAL(2) * HZ * surface_dx(layers, west, i, j, FACE) - sxz[b];
    syz[c - STEP_Z] = REAL(2) * HZ * surface_dy(layers, south, i, j, FACE) - syz[b];
    szz[c - STEP_Z] = -szz[c];
    szz[c - 2 * STEP_Z] = REAL(2) * SHEAR_REACH * HZ * pull - szz[b];
  }
}
