// Acoustic waves in elements that are not bricks, see curved.h.
#pragma once

// The differentiated value that equals a field; -1 if there is none.
INLINE constexpr int column_of_field(int field) { return field ? -1 : 0; }

// Signs that convert the trace of the other side, whose normal is opposite, to this side's normal.
INLINE constexpr int sign_of_other(int n) { return n ? -1 : 1; }

// The differentiated values at a node: pressure, and the velocity flux across each reference axis.
// `metric(n)` and `value(field)` return values of the node.
template <class Metrics, class Values>
INLINE auto find_column(int n, const Metrics& metric, const Values& value) {
  if (n == 0) return value(0);
  const int axis = n - 1;
  const auto xy = FMA(metric(3 * axis), value(1), metric(3 * axis + 1) * value(2));
  return FMA(metric(3 * axis + 2), value(3), xy);
}

template <class Values>
INLINE void find_trace(const real (&normal)[3], const Values& value, real (&trace)[TRACE]) {
  trace[0] = value(0);
  trace[1] = 0;
  UNROLL
  for (int b = 0; b < 3; ++b) trace[1] = FMA(normal[b], value(1 + b), trace[1]);
}

// The same from differentiated values. side: -1 on the lower face of an axis, 1 on the upper one.
template <class Columns>
INLINE void find_trace(int axis, real side, const Normal& normal, const Columns& column,
                       real (&trace)[TRACE]) {
  trace[0] = column(0);
  trace[1] = side * normal.inverse_area * column(1 + axis);
}

// As in bricks, but velocities are multiplied by the surface Jacobian. Both traces refer to this
// side's normal.
INLINE void find_jump(const Impedances& m, const Face& face, const Normal& normal,
                      const real (&own)[TRACE], const real (&other)[TRACE], real (&jump)[JUMP]) {
  static_assert(JUMP == TRACE, "velocity and pressure");
  const real pressure = own[0] - other[0], velocity = own[1] - other[1];
  jump[0] = normal.area * FMA(face.upwind * face.weight, pressure, -face.share * velocity);
  jump[1] = -m.z * FMA(face.weight, pressure, -face.upwind * (face.share * velocity));
}

// Adds this side's pressure to the pressure jump, which gives the common pressure of the face; see
// mortars.h.
INLINE void add_own(int, const real (&own)[TRACE], real (&jump)[JUMP]) { jump[1] += own[0]; }

// Acoustic traces have no traction along a face; see curved_elastic.h.
INLINE void remove_shear(const Impedances&, const Normal&, real (&)[TRACE]) {}
INLINE void add_removed_shear(const Normal&, const real (&)[TRACE], const real (&)[TRACE],
                              real (&)[JUMP]) {}

// Maps derivatives along reference axes to those along x, y, z.
template <class Value>
INLINE void map_slopes(const Value (&metric)[METRICS], Slopes<Value>& slopes) {
  const Value inverse = inverse_jacobian(metric);
  const Value r = inverse * slopes.gradient[0], s = inverse * slopes.gradient[1],
              t = inverse * slopes.gradient[2];
  UNROLL
  for (int b = 0; b < 3; ++b)
    slopes.gradient[b] = FMA(metric[b], r, FMA(metric[3 + b], s, metric[6 + b] * t));
  UNROLL
  for (int n = 0; n < TERMS; ++n) slopes.terms[n] = inverse * slopes.terms[n];
}
