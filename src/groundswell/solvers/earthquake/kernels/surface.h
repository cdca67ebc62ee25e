// The free surface by stress imaging (Levander 1988; Graves 1996; FS2 of Gottschaemmer & Olsen 2001).
// The plane z = 0 holds vz, sxz and syz of row 0; rows -1 and -2 lie above it.
#pragma once
#include "stencil.h"

// vx one row above the surface, so that sxz = 0 there; likewise vy.
INLINE real vx_above(const real* RESTRICT vx, const real* RESTRICT vz, index_t c) {
  return vx[c] + HZ / HX * (vz[c] - vz[c - STEP_X]);
}
INLINE real vy_above(const real* RESTRICT vy, const real* RESTRICT vz, index_t c) {
  return vy[c] + HZ / HY * (vz[c] - vz[c - STEP_Y]);
}

// Velocities above the surface for which its tractions vanish, to second order.
KERNEL mirror_velocity(real* vx, real* vy, real* vz, const real* RESTRICT lam,
                       const real* RESTRICT compliance) {
  FOR_CELLS(i, NX, j, NY, k, 1) {
    const index_t c = cell_at(i, j, k);
    const real west = vx_above(vx, vz, c), east = vx_above(vx, vz, c + STEP_X);
    const real south = vy_above(vy, vz, c), north = vy_above(vy, vz, c + STEP_Y);
    const real spreading = ((east - west) + (vx[c + STEP_X] - vx[c])) / HX +
                           ((north - south) + (vy[c + STEP_Y] - vy[c])) / HY;
    const real ratio = lam[c] / (lam[c] + REAL(2) / compliance[c]);
    vx[c - STEP_Z] = west;
    vy[c - STEP_Z] = south;
    vz[c - STEP_Z] = vz[c + STEP_Z] + ratio * HZ * spreading;
  }
}

// Stresses above the surface are the mirror image of those below, with the sign turned.
KERNEL mirror_stress(real* szz, real* sxz, real* syz) {
  FOR_CELLS(i, NX, j, NY, k, 1) {
    const index_t c = cell_at(i, j, k);
    szz[c - STEP_Z] = -szz[c];
    szz[c - 2 * STEP_Z] = -szz[c + STEP_Z];
    sxz[c - STEP_Z] = -sxz[c + STEP_Z];
    syz[c - STEP_Z] = -syz[c + STEP_Z];
  }
}
