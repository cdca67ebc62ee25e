// Soft soil as elastic, perfectly plastic elements in parallel (Iwan 1967, J. Appl. Mech. 34,
// 612-617), each with the yield condition of von Mises.
//
// Each element has a share of the shear modulus and its own deviatoric stress. iwan.py in
// seismology/plasticity/ computes the same in NumPy.
#pragma once
#include "portable.h"

// A symmetric tensor without a trace: zz = -(xx + yy).
struct Deviator {
  static constexpr int COMPONENTS = 5;
  real xx, yy, xy, xz, yz;

  // J2: half the sum of the squares of all nine components.
  METHOD real half_square() const {
    const real normal = FMA(xx, xx, FMA(yy, yy, xx * yy));
    return FMA(xy, xy, FMA(xz, xz, FMA(yz, yz, normal)));
  }
};

// a + factor * b
INLINE Deviator sum(const Deviator& a, real factor, const Deviator& b) {
  return {FMA(factor, b.xx, a.xx), FMA(factor, b.yy, a.yy), FMA(factor, b.xy, a.xy),
          FMA(factor, b.xz, a.xz), FMA(factor, b.yz, a.yz)};
}

// The part of its stress that an element loses when it yields at the shear stress `strength`; 0
// exactly where it does not.
INLINE real lost_part(real half_square, real strength) {
  const real kept = strength * INVERSE_SQRT(half_square);
  return half_square > strength * strength ? REAL(1) - kept : REAL(0);
}
