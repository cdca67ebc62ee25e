// The arguments of the two hot kernels, shared by their portable loops and their CUDA twins.
#pragma once
#include "stress.h"
#include "velocity.h"

#define IN const real *RESTRICT
#define INOUT real *RESTRICT

#define LAYER_ARGUMENTS                                                                      \
  INOUT memory_x, INOUT memory_y, INOUT memory_z, IN profile_x, IN profile_y, IN profile_z

#define VELOCITY_ARGUMENTS                                                                   \
  INOUT vx, INOUT vy, INOUT vz, IN sxx, IN syy, IN szz, IN sxy, IN sxz, IN syz, IN rho,      \
      LAYER_ARGUMENTS, IN sponge

#define STRESS_ARGUMENTS                                                                     \
  INOUT sxx, INOUT syy, INOUT szz, INOUT sxy, INOUT sxz, INOUT syz, INOUT rxx, INOUT ryy,    \
      INOUT rzz, INOUT rxy, INOUT rxz, INOUT ryz, IN vx, IN vy, IN vz, IN lam,               \
      IN compliance, IN inverse_qp, IN inverse_qs, IN mechanisms, LAYER_ARGUMENTS, IN sponge
