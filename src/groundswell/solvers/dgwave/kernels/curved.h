// Geometry of elements that are not bricks. The metric terms J a^d are the gradient of reference
// coordinate d times the Jacobian, at the nodes: (elements, 9, CUBE). Row 3 d + b is component b of
// axis d.
//
// Fluxes across reference axes are differentiated; derivatives of velocity (of pressure in a fluid)
// are combined. The two operators are adjoint, so the central flux conserves energy: Warburton,
// SIAM J. Sci. Comput. 35:A1987, 2013; Kozdon & Wilcox, J. Sci. Comput. 2018,
// doi:10.1007/s10915-018-0682-1. Material.scale is 1.
#pragma once
#include "spectral_elements/kernels/reference_element.h"

constexpr int METRICS = 9;

// The outward unit normal of a face at a node, the surface Jacobian, and its inverse.
struct Normal {
  real along[3], area, inverse_area;
};

// scaled: the outward normal times the surface Jacobian.
INLINE Normal unit_normal(const real (&scaled)[3]) {
  real square = 0;
  UNROLL
  for (int b = 0; b < 3; ++b) square = FMA(scaled[b], scaled[b], square);
  const real inverse = INVERSE_SQRT(square);
  return {
      {inverse * scaled[0], inverse * scaled[1], inverse * scaled[2]}, inverse * square, inverse};
}

// The outward normal times the surface Jacobian. metrics: metric terms of the element.
INLINE void find_scaled_normal(const real* metrics, int face, int node, real (&scaled)[3]) {
  const real side = face % 2 ? REAL(1) : REAL(-1);
  UNROLL
  for (int b = 0; b < 3; ++b) scaled[b] = side * metrics[(face / 2 * 3 + b) * CUBE + node];
}

INLINE Normal normal_at(const real* metrics, int face, int node) {
  real scaled[3];
  find_scaled_normal(metrics, face, node, scaled);
  return unit_normal(scaled);
}

template <class Value> INLINE Value inverse_root(Value value) {
  constexpr int COUNT = sizeof(Value) / sizeof(real);
  UNROLL
  for (int n = 0; n < COUNT; ++n)
    reinterpret_cast<real*>(&value)[n] = INVERSE_SQRT(reinterpret_cast<real*>(&value)[n]);
  return value;
}

// 1 / J, from the determinant of J a^d, which is J^2.
template <class Value> INLINE Value inverse_jacobian(const Value (&m)[METRICS]) {
  const Value x = m[4] * m[8] - m[5] * m[7], y = m[5] * m[6] - m[3] * m[8],
              z = m[3] * m[7] - m[4] * m[6];
  return inverse_root<Value>(m[0] * x + m[1] * y + m[2] * z);
}

// The node of the other side's face that coincides with node p of this side's face. Bits of `turn`:
// 1 reverses the fast axis, 2 reverses the slow axis, and 4 then swaps the axes.
INLINE int turned(int p, int turn) {
  const int fast = p % NODES, slow = p / NODES;
  const int a = turn & 1 ? NODES - 1 - fast : fast, b = turn & 2 ? NODES - 1 - slow : slow;
  return turn & 4 ? a * NODES + b : b * NODES + a;
}
