// Acoustic waves: pressure and velocity in a fluid.
//
// A Value is one number or, on a CPU, a vector of numbers.
#pragma once
#include "equations.h"

// FIELDS: p, vx, vy, vz. The TRACE of a face is its pressure and normal velocity.
INLINE constexpr int traced_field(int axis, int n) { return n ? 1 + axis : 0; }
INLINE constexpr int sign_of_mirror(int n) { return n ? -1 : 1; }

template <class Value> struct Moduli {
  Value bulk, buoyancy;  // bulk modulus, Pa; 1 / density
};
struct Impedances {
  real z;
};
#if NODAL
typedef Edges Material;  // the other values belong to nodes
#else
struct Material : Moduli<real>, Impedances, Edges {};
#endif

// Weights of a face, 1 / (Z- + Z+) and Z+ / (Z- + Z+); Z+ is the impedance of the other side.
struct Weights {
  real weight, share;
};
struct Face : Weights, Flux {};

// Derivatives at a node: divergence of velocity, and gradient of pressure. Matched layers change
// the terms of the divergence along each axis separately.
template <class Value> struct Slopes {
  Value terms[TERMS], gradient[3];

  METHOD Value& divergence_along(int axis) { return terms[MATCHED ? axis : 0]; }
  METHOD Value divergence() const {
    return MATCHED ? terms[0] + terms[1] + terms[TERMS - 1] : terms[0];
  }
};

// The STRETCHED derivatives along an axis.
template <class Value> INLINE Value& stretched(Slopes<Value>& slopes, int axis, int n) {
  return n ? slopes.gradient[axis] : slopes.divergence_along(axis);
}

// Adds the contribution of the values at one node of a line along `axis` to the derivatives at
// another node.
template <class Value, class Factor, class Values>
INLINE void add_slopes(Slopes<Value>& slopes, int axis, Factor factor, const Values& value) {
  slopes.divergence_along(axis) = FMA(factor, value(1 + axis), slopes.divergence_along(axis));
  slopes.gradient[axis] = FMA(factor, value(0), slopes.gradient[axis]);
}

// The common state of a face minus the state of this side: outward normal velocity, and also
// pressure with WHOLE_JUMPS. Without (Riemann flux of conforming bricks with a material each), it
// is the velocity times an impedance.
//
// own, other: traces of this side and of the other side; side: 1 if the outward normal points along
// the axis, -1 otherwise. The Riemann flux follows LeVeque, Finite volume methods for hyperbolic
// problems, 2002, section 9.9. The central flux omits the dissipative terms; it is the
// impedance-weighted mean.
INLINE void find_jump(const Impedances& m, const Face& face, int, real side,
                      const real (&own)[TRACE], const real (&other)[TRACE], real (&jump)[JUMP]) {
  const real pressure = own[0] - other[0], velocity = side * (own[1] - other[1]);
#if WHOLE_JUMPS
  jump[0] = FMA(face.upwind * face.weight, pressure, -face.share * velocity);
  jump[1] = -m.z * FMA(face.weight, pressure, -face.upwind * (face.share * velocity));
#else
  jump[0] = FMA(face.weight, pressure, -face.share * velocity);
#endif
}

#if WHOLE_JUMPS && !CURVED
// Adds this side's velocity to the velocity jump, which gives the common velocity of the face.
INLINE void add_own(int face, const real (&own)[TRACE], real (&jump)[JUMP]) {
  jump[0] += face % 2 ? own[1] : -own[1];
}
#endif

// Adds the contribution of a face to the derivatives at its nodes.
template <class Value, class Side>
INLINE void add_jump(const Material& m, const Value (&jump)[JUMP], int axis, Side side, real lift,
                     Slopes<Value>& slopes) {
  slopes.divergence_along(axis) = FMA(lift, jump[0], slopes.divergence_along(axis));
#if WHOLE_JUMPS
  slopes.gradient[axis] = FMA(side * lift, jump[1], slopes.gradient[axis]);
#else
  slopes.gradient[axis] = FMA(-side * (lift * m.z), jump[0], slopes.gradient[axis]);
#endif
}

// m: moduli of the element or of the nodes.
template <class Value, class Modulus>
INLINE void find_rates(const Moduli<Modulus>& m, const Slopes<Value>& slopes,
                       Value (&rates)[FIELDS]) {
  rates[0] = -m.bulk * slopes.divergence();
  UNROLL
  for (int c = 0; c < 3; ++c) rates[1 + c] = -m.buoyancy * slopes.gradient[c];
}

// STRAINS: the divergence of velocity. Relaxed: the bulk modulus that a mechanism relaxes, Pa.
// Shares: the fraction of the bulk modulus.
template <class Value> struct Relaxed {
  Value bulk;
};
struct Shares {
  real p;
};

template <class Value>
INLINE void strain_rates(const Slopes<Value>& slopes, Value (&strain)[STRAINS]) {
  strain[0] = slopes.divergence();
}

// Subtracts the stress rates of a mechanism; pressure has the opposite sign.
template <class Value, class Modulus>
INLINE void take_off(const Relaxed<Modulus>& m, const Value (&strain)[STRAINS],
                     Value (&rates)[FIELDS]) {
  rates[0] = FMA(m.bulk, strain[0], rates[0]);
}
#if CURVED
#include "curved_acoustic.h"
#endif
#if NODAL
#include "nodal_acoustic.h"
#endif
