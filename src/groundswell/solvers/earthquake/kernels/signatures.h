// The arguments of the two hot kernels, shared by their portable loops and their CUDA twins.
#pragma once
#include "stress.h"
#include "velocity.h"

#define VELOCITY_ARGUMENTS                                                                       \
  real *vx, real *vy, real *vz, const real *RESTRICT sxx, const real *RESTRICT syy,              \
      const real *RESTRICT szz, const real *RESTRICT sxy, const real *RESTRICT sxz,              \
      const real *RESTRICT syz, const real *RESTRICT rho, real *memory_x, real *memory_y,        \
      real *memory_z, const real *profile_x, const real *profile_y, const real *profile_z,       \
      const real *RESTRICT sponge

#define STRESS_ARGUMENTS                                                                         \
  real *sxx, real *syy, real *szz, real *sxy, real *sxz, real *syz, real *rxx, real *ryy,        \
      real *rzz, real *rxy, real *rxz, real *ryz, const real *RESTRICT vx,                       \
      const real *RESTRICT vy, const real *RESTRICT vz, const real *RESTRICT lam,                \
      const real *RESTRICT compliance, const real *RESTRICT inverse_qp,                          \
      const real *RESTRICT inverse_qs, const real *RESTRICT mechanisms, real *memory_x,          \
      real *memory_y, real *memory_z, const real *profile_x, const real *profile_y,              \
      const real *profile_z, const real *RESTRICT sponge
