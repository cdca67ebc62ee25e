// Elastic waves: stress and velocity in an isotropic solid, or in a fluid, where mu = 0 and zs = 0.
//
// A Value is one number or, on a CPU, a vector of numbers.
#pragma once
#include "equations.h"

// FIELDS: sxx, syy, szz, syz, sxz, sxy, vx, vy, vz. The TRACE of a face is its traction and
// velocity.
constexpr int STRESSES = 6;

INLINE constexpr int stress(int a, int b) { return a == b ? a : 6 - a - b; }
INLINE constexpr int traced_field(int axis, int n) {
  return n < 3 ? stress(axis, n) : STRESSES + n - 3;
}
INLINE constexpr int sign_of_mirror(int n) { return n < 3 ? 1 : -1; }

// COLUMNS, the differentiated values: velocity, and the traction on planes normal to each axis. In
// bricks these are fields.
#if CURVED
INLINE constexpr int velocity_column(int c) { return c; }
INLINE constexpr int traction_column(int axis, int c) { return 3 + 3 * axis + c; }
#else
INLINE constexpr int velocity_column(int c) { return STRESSES + c; }
INLINE constexpr int traction_column(int axis, int c) { return stress(c, axis); }
#endif

template <class Value> struct Moduli {
  Value lam, mu, buoyancy;  // Pa, Pa, 1 / density
};
struct Impedances {
  real zp, zs;  // of P and S waves
};
#if NODAL
typedef Edges Material;  // the other values belong to nodes
#else
struct Material : Moduli<real>, Impedances, Edges {};
#endif

// Weights of a face for P and S waves, 1 / (Z- + Z+) and Z+ / (Z- + Z+); Z+ is the impedance of the
// other side. Those for S waves are 0 in a fluid, because it slips along the face.
struct Weights {
  real p_weight, p_share, s_weight, s_share;
};
struct Face : Weights, Flux {};

// Derivatives at a node: those of velocity, [component][axis], and the divergence of stress, a
// force per volume. Matched layers change the terms of the divergence along each axis separately.
template <class Value> struct Slopes {
  Value velocity[3][3], terms[3][TERMS];

  METHOD Value& force_along(int axis, int c) { return terms[c][MATCHED ? axis : 0]; }
  METHOD Value force(int c) const {
    return MATCHED ? terms[c][0] + terms[c][1] + terms[c][TERMS - 1] : terms[c][0];
  }
};

// The STRETCHED derivatives along an axis.
template <class Value> INLINE Value& stretched(Slopes<Value>& slopes, int axis, int n) {
  return n < 3 ? slopes.velocity[n][axis] : slopes.force_along(axis, n - 3);
}

// Adds the contribution of the values at one node of a line along `axis` to the derivatives at
// another node.
template <class Value, class Factor, class Values>
INLINE void add_slopes(Slopes<Value>& slopes, int axis, Factor factor, const Values& value) {
  UNROLL
  for (int c = 0; c < 3; ++c) {
    slopes.velocity[c][axis] = FMA(factor, value(velocity_column(c)), slopes.velocity[c][axis]);
    Value& force = slopes.force_along(axis, c);
    force = FMA(factor, value(traction_column(axis, c)), force);
  }
}

// The common state of a face minus the state of this side: velocity, and also traction with
// WHOLE_JUMPS. Without (Riemann flux of conforming bricks with a material each), it is the velocity
// times an impedance.
//
// own, other: traces of this side and of the other side; side: 1 if the outward normal points along
// the axis, -1 otherwise. The Riemann flux follows Wilcox, Stadler, Burstedde & Ghattas, J. Comput.
// Phys. 229, 2010, section 3. The central flux omits the dissipative terms; it is the
// impedance-weighted mean.
INLINE void find_jump(const Impedances& m, const Face& face, int axis, real side,
                      const real (&own)[TRACE], const real (&other)[TRACE], real (&jump)[JUMP]) {
  UNROLL
  for (int c = 0; c < 3; ++c) {
    const bool normal = c == axis;
    const real traction = side * (own[c] - other[c]), velocity = own[3 + c] - other[3 + c];
    const real weight = normal ? face.p_weight : face.s_weight,
               share = normal ? face.p_share : face.s_share;
#if WHOLE_JUMPS
    const real z = normal ? m.zp : m.zs;
    jump[c] = -FMA(share, velocity, face.upwind * (weight * traction));
    jump[3 + c] = -z * FMA(face.upwind * share, velocity, weight * traction);
#else
    jump[c] = -FMA(share, velocity, weight * traction);
#endif
  }
}

#if WHOLE_JUMPS
// Adds this side's velocity to the velocity jump, which gives the common velocity of the face.
INLINE void add_own(int, const real (&own)[TRACE], real (&jump)[JUMP]) {
  for (int c = 0; c < 3; ++c) jump[c] += own[3 + c];
}
#endif

// Adds the contribution of a face to the derivatives at its nodes.
template <class Value, class Side>
INLINE void add_jump(const Material& m, const Value (&jump)[JUMP], int axis, Side side, real lift,
                     Slopes<Value>& slopes) {
  UNROLL
  for (int c = 0; c < 3; ++c) {
    Value& force = slopes.force_along(axis, c);
    slopes.velocity[c][axis] = FMA(side * lift, jump[c], slopes.velocity[c][axis]);
#if WHOLE_JUMPS
    force = FMA(lift, jump[3 + c], force);
#else
    force = FMA(lift * (c == axis ? m.zp : m.zs), jump[c], force);
#endif
  }
}

// m: moduli of the element or of the nodes.
template <class Value, class Modulus>
INLINE void find_rates(const Moduli<Modulus>& m, const Slopes<Value>& slopes,
                       Value (&rates)[FIELDS]) {
  const auto& g = slopes.velocity;
  const Value bulk = m.lam * (g[0][0] + g[1][1] + g[2][2]);
  UNROLL
  for (int c = 0; c < 3; ++c) {
    const int a = (c + 1) % 3, b = (c + 2) % 3;
    rates[c] = FMA(2 * m.mu, g[c][c], bulk);
    rates[3 + c] = m.mu * (g[a][b] + g[b][a]);
    rates[STRESSES + c] = m.buoyancy * slopes.force(c);
  }
}

// STRAINS: rates of xx, yy, zz, and twice yz, xz, xy. Relaxed: lambda and mu that a mechanism
// relaxes, Pa. Shares: the fractions of lambda + 2 mu and of mu.
template <class Value> struct Relaxed {
  Value lam, mu;
};
struct Shares {
  real p, s;
};

template <class Value>
INLINE void strain_rates(const Slopes<Value>& slopes, Value (&strain)[STRAINS]) {
  const auto& g = slopes.velocity;
  UNROLL
  for (int c = 0; c < 3; ++c) {
    const int a = (c + 1) % 3, b = (c + 2) % 3;
    strain[c] = g[c][c];
    strain[3 + c] = g[a][b] + g[b][a];
  }
}

// Subtracts the stress rates of a mechanism.
template <class Value, class Modulus>
INLINE void take_off(const Relaxed<Modulus>& m, const Value (&strain)[STRAINS],
                     Value (&rates)[FIELDS]) {
  const Value bulk = m.lam * (strain[0] + strain[1] + strain[2]);
  UNROLL
  for (int c = 0; c < 3; ++c) {
    rates[c] -= FMA(2 * m.mu, strain[c], bulk);
    rates[3 + c] = FMA(-m.mu, strain[3 + c], rates[3 + c]);
  }
}
#if CURVED
#include "curved_elastic.h"
#endif
#if NODAL
#include "nodal_elastic.h"
#endif
