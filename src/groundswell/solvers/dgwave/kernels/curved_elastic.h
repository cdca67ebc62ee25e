// Elastic waves in elements that are not bricks, see curved.h.
#pragma once

// The differentiated value that equals a field; -1 if there is none.
INLINE constexpr int column_of_field(int field) {
  return field < STRESSES ? -1 : velocity_column(field - STRESSES);
}

// Signs that convert the trace of the other side, whose normal is opposite, to this side's normal.
INLINE constexpr int sign_of_other(int n) { return n < 3 ? -1 : 1; }

// The differentiated values at a node. `metric(n)` and `value(field)` return values of the node.
template <class Metrics, class Values>
INLINE auto find_column(int n, const Metrics& metric, const Values& value) {
  if (n < 3) return value(STRESSES + n);
  const int axis = n / 3 - 1, c = n % 3;
  const auto xy =
      FMA(metric(3 * axis), value(stress(0, c)), metric(3 * axis + 1) * value(stress(1, c)));
  return FMA(metric(3 * axis + 2), value(stress(2, c)), xy);
}

template <class Values>
INLINE void find_trace(const real (&normal)[3], const Values& value, real (&trace)[TRACE]) {
  UNROLL
  for (int c = 0; c < 3; ++c) {
    const real xy = FMA(normal[0], value(stress(0, c)), normal[1] * value(stress(1, c)));
    trace[c] = FMA(normal[2], value(stress(2, c)), xy);
    trace[3 + c] = value(STRESSES + c);
  }
}

// The same from differentiated values. side: -1 on the lower face of an axis, 1 on the upper one.
template <class Columns>
INLINE void find_trace(int axis, real side, const Normal& normal, const Columns& column,
                       real (&trace)[TRACE]) {
  const real scale = side * normal.inverse_area;
  UNROLL
  for (int c = 0; c < 3; ++c) {
    trace[c] = scale * column(traction_column(axis, c));
    trace[3 + c] = column(velocity_column(c));
  }
}

// As in bricks, but tractions are multiplied by the surface Jacobian. Both traces refer to this
// side's normal.
INLINE void find_jump(const Impedances& m, const Face& face, const Normal& normal,
                      const real (&own)[TRACE], const real (&other)[TRACE], real (&jump)[JUMP]) {
  static_assert(JUMP == TRACE, "velocity and traction");
  real change[TRACE], traction = 0, velocity = 0;  // traction and velocity along the normal
  UNROLL
  for (int n = 0; n < TRACE; ++n) change[n] = own[n] - other[n];
  UNROLL
  for (int c = 0; c < 3; ++c) {
    traction = FMA(normal.along[c], change[c], traction);
    velocity = FMA(normal.along[c], change[3 + c], velocity);
  }
  const real p[2] = {-FMA(face.p_share, velocity, face.upwind * (face.p_weight * traction)),
                     -m.zp * FMA(face.upwind * face.p_share, velocity, face.p_weight * traction)};
  UNROLL
  for (int c = 0; c < 3; ++c) {
    const real along = normal.along[c];
    const real across[2] = {FMA(-along, traction, change[c]), FMA(-along, velocity, change[3 + c])};
    jump[c] =
        FMA(along, p[0], -FMA(face.s_share, across[1], face.upwind * (face.s_weight * across[0])));
    jump[3 + c] = normal.area * FMA(along, p[1],
                                    -m.zs * FMA(face.upwind * face.s_share, across[1],
                                                face.s_weight * across[0]));
  }
}

// Removes the traction along a face from the trace of a fluid, because fluids slip. Interpolated
// traces have such a traction if the normal varies.
INLINE void remove_shear(const Impedances& m, const Normal& normal, real (&trace)[TRACE]) {
  if (m.zs > 0) return;
  real across = 0;
  for (int c = 0; c < 3; ++c) across = FMA(normal.along[c], trace[c], across);
  for (int c = 0; c < 3; ++c) trace[c] = across * normal.along[c];
}

// Adds the change of the traction by `remove_shear` to the jump. before, after: the traces.
INLINE void add_removed_shear(const Normal& normal, const real (&before)[TRACE],
                              const real (&after)[TRACE], real (&jump)[JUMP]) {
  for (int c = 0; c < 3; ++c) jump[3 + c] = FMA(normal.area, after[c] - before[c], jump[3 + c]);
}

// Maps derivatives along reference axes to those along x, y, z.
template <class Value>
INLINE void map_slopes(const Value (&metric)[METRICS], Slopes<Value>& slopes) {
  const Value inverse = inverse_jacobian(metric);
  UNROLL
  for (int c = 0; c < 3; ++c) {
    const Value r = inverse * slopes.velocity[c][0], s = inverse * slopes.velocity[c][1],
                t = inverse * slopes.velocity[c][2];
    UNROLL
    for (int b = 0; b < 3; ++b)
      slopes.velocity[c][b] = FMA(metric[b], r, FMA(metric[3 + b], s, metric[6 + b] * t));
    UNROLL
    for (int n = 0; n < TERMS; ++n) slopes.terms[c][n] = inverse * slopes.terms[c][n];
  }
}
