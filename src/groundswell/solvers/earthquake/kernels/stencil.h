// Fourth-order staggered differences (Levander 1988, eq. 5) on the grid of docs/conventions.md.
#pragma once
#include "portable.h"

constexpr index_t STEP_X = 1, STEP_Y = ROW, STEP_Z = PLANE;

INLINE index_t cell_at(int i, int j, int k) {
  return static_cast<index_t>(k) * PLANE + static_cast<index_t>(j) * ROW + i;
}

// 9/8 and 1/24 over the spacing of the axis that STEP walks along.
template <index_t STEP> INLINE real near_weight() {
  return STEP == STEP_X ? NEAR_X : STEP == STEP_Y ? NEAR_Y : NEAR_Z;
}
template <index_t STEP> INLINE real far_weight() {
  return STEP == STEP_X ? FAR_X : STEP == STEP_Y ? FAR_Y : FAR_Z;
}

// d/dx between values a (-3/2), b (-1/2), c (+1/2), d (+3/2) cells away.
template <index_t STEP> INLINE real difference(real a, real b, real c, real d) {
  return FMA(near_weight<STEP>(), c - b, -far_weight<STEP>() * (d - a));
}

// At the face i, from values at cell centres.
template <index_t STEP> INLINE real backward(const real* f) {
  return difference<STEP>(f[-2 * STEP], f[-STEP], f[0], f[STEP]);
}

// At the cell centre i, from values on faces.
template <index_t STEP> INLINE real forward(const real* f) {
  return difference<STEP>(f[-STEP], f[0], f[STEP], f[2 * STEP]);
}

// Prefetch the planes that these differences read along z.
INLINE void fetch_forward_z(const real* f) {
  prefetch(f - STEP_Z, f, f + STEP_Z, f + 2 * STEP_Z);
}
INLINE void fetch_backward_z(const real* f) { fetch_forward_z(f - STEP_Z); }
