// Fourth-order staggered differences (Levander 1988, eq. 5) on the grid of docs/conventions.md.
#pragma once
#include "portable.h"

#define STEP_X static_cast<index_t>(1)
#define STEP_Y static_cast<index_t>(ROW)
#define STEP_Z static_cast<index_t>(PLANE)
enum Axis { X, Y, Z };
template <Axis A> INLINE index_t step_along() { return A == X ? STEP_X : A == Y ? STEP_Y : STEP_Z; }

INLINE index_t cell_at(int i, int j, int k) {
  return static_cast<index_t>(k) * PLANE + static_cast<index_t>(j) * ROW + i;
}

// 9/8 and 1/24 over the spacing along an axis.
template <Axis A> INLINE real near_weight() { return A == X ? NEAR_X : A == Y ? NEAR_Y : NEAR_Z; }
template <Axis A> INLINE real far_weight() { return A == X ? FAR_X : A == Y ? FAR_Y : FAR_Z; }

// d/dx between values a (-3/2), b (-1/2), c (+1/2), d (+3/2) cells away.
template <Axis A> INLINE real difference(real a, real b, real c, real d) {
  return FMA(near_weight<A>(), c - b, -far_weight<A>() * (d - a));
}

// At the face i, from values at cell centres.
template <Axis A> INLINE real backward(const real* f) {
  const index_t step = step_along<A>();
  return difference<A>(f[-2 * step], f[-step], f[0], f[step]);
}

// At the cell centre i, from values on faces.
template <Axis A> INLINE real forward(const real* f) {
  const index_t step = step_along<A>();
  return difference<A>(f[-step], f[0], f[step], f[2 * step]);
}

// Prefetch the planes that these differences read along z.
INLINE void fetch_forward_z(const real* f) { prefetch(f - STEP_Z, f, f + STEP_Z, f + 2 * STEP_Z); }
INLINE void fetch_backward_z(const real* f) { fetch_forward_z(f - STEP_Z); }
