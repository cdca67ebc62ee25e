// The screened Poisson operator on one element: for each node's basis function v, the integral of
// k grad v . grad u + c v u. With derivatives D along the three reference axes, geometric factors G
// and mass W this is D' k G D u + c W u (see geometric_factors.py).
#pragma once
#include "spectral_elements/kernels/reference_element.h"

// The six distinct factors of k G at a node, and its mass times c.
struct Metric {
  real rr, rs, rt, ss, st, tt, mass;
};

constexpr int FACTORS = LAMBDA != 0 ? 7 : 6;

// A stored metric keeps the factors of RUN nodes together, in the order of Metric: (elements, CUBE
// / RUN, RUN_PITCH). The first (FACTORS, RUN) values of each run are factors, the rest is padding
// (see metric_layout.py).
constexpr int RUN = METRIC_RUN, RUN_PITCH = METRIC_PITCH;
// Values from each row of nodes, plane and element to the next.
constexpr int LINE_PITCH = RUN > NODES ? NODES : RUN_PITCH;
constexpr int PLANE_PITCH = RUN > PLANE ? PLANE : PLANE / RUN * RUN_PITCH;
constexpr int ELEMENT_PITCH = CUBE / RUN * RUN_PITCH;

INLINE Metric stored_metric(const real* g) {
  return {g[0],
          g[RUN],
          g[2 * RUN],
          g[3 * RUN],
          g[4 * RUN],
          g[5 * RUN],
          FACTORS == 7 ? g[(FACTORS - 1) * RUN] : REAL(0)};
}

// Values of k and of c that follow an element's geometry if its metric is computed: 0 if all elements
// have one, which is part of the constants or of the geometry; otherwise 1, or one for each node.
constexpr int VALUES = K_VALUES + C_VALUES;

// Products with the value of k, or of c, of a node; `values` are those of its element.
INLINE real times_k(real a, const real* values, int node) {
  return K_VALUES > 0 ? a * values[K_VALUES > 1 ? node : 0] : a;
}
INLINE real times_c(real a, const real* values, int node) {
  return C_VALUES > 0 ? a * values[K_VALUES + (C_VALUES > 1 ? node : 0)] : a;
}

// The metric along a line of nodes in direction t: at(t) returns it at one node.
#if GEOMETRY == 0
// `geometry` is a stored metric.
struct Line {
  const real* first;

  METHOD Line(const real* geometry, index_t e, int s, int r)
      : first(geometry + e * ELEMENT_PITCH + s * LINE_PITCH + r) {}

  METHOD Metric at(int t) const { return stored_metric(first + t * PLANE_PITCH); }
};
#elif GEOMETRY == 1
// Parallelepipeds: `geometry`, (elements, 7 + VALUES), is a Metric without the quadrature weights.
struct Line {
  Metric all;
  const real* values;
  int node;

  METHOD Line(const real* geometry, index_t e, int s, int r) : node(s * NODES + r) {
    const real *g = geometry + (7 + VALUES) * e, weight = WEIGHT[s] * WEIGHT[r];
    values = g + 7;
    all = {weight * g[0], weight * g[1], weight * g[2], weight * g[3],
           weight * g[4], weight * g[5], weight * g[6]};
  }

  METHOD Metric at(int t) const {
    const int at = t * PLANE + node;
    const real w = times_k(WEIGHT[t], values, at), of_mass = times_c(WEIGHT[t], values, at);
    return {w * all.rr, w * all.rs, w * all.rt,        w * all.ss,
            w * all.st, w * all.tt, of_mass * all.mass};
  }
};
#else
struct Vector {
  real x, y, z;

  METHOD Vector plus(real a, const Vector& v) const {
    return {FMA(a, v.x, x), FMA(a, v.y, y), FMA(a, v.z, z)};
  }
};

INLINE Vector cross(const Vector& a, const Vector& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

INLINE real dot(const Vector& a, const Vector& b) {
  return FMA(a.x, b.x, FMA(a.y, b.y, a.z * b.z));
}

// Elements with straight edges: `geometry`, (elements, 21 + VALUES), begins with the coefficients of
// r, s, t, rs, rt, st and rst of the trilinear map, (7, 3), in multiples of a unit of length. UNIT is
// this unit times what k has in common, LAMBDA what c has in common times unit^3 / UNIT.
struct Line {
  Vector r, r_by_t, s, s_by_t, t;  // tangents at t = 0, and their derivatives along t
  real weight;
  const real* values;
  int node;

  METHOD Line(const real* geometry, index_t e, int row, int column)
      : values(geometry + (21 + VALUES) * e + 21), node(row * NODES + column) {
    const auto term = [=](int n) {
      const real* v = geometry + (21 + VALUES) * e + 3 * n;
      return Vector{v[0], v[1], v[2]};
    };
    const real at_r = POINT[column], at_s = POINT[row];
    r = term(0).plus(at_s, term(3));
    r_by_t = term(4).plus(at_s, term(6));
    s = term(1).plus(at_r, term(3));
    s_by_t = term(5).plus(at_r, term(6));
    t = term(2).plus(at_r, term(4)).plus(at_s, term(5)).plus(at_r * at_s, term(6));
    weight = UNIT * WEIGHT[row] * WEIGHT[column];
  }

  METHOD Metric at(int place) const {
    const Vector along_r = r.plus(POINT[place], r_by_t), along_s = s.plus(POINT[place], s_by_t);
    const Vector of_r = cross(along_s, t), of_s = cross(t, along_r), of_t = cross(along_r, along_s);
    const real determinant = dot(along_r, of_r), w = weight * WEIGHT[place];
    const real scale = times_k(w * RECIPROCAL(determinant), values, place * PLANE + node);
    return {scale * dot(of_r, of_r),
            scale * dot(of_r, of_s),
            scale * dot(of_r, of_t),
            scale * dot(of_s, of_s),
            scale * dot(of_s, of_t),
            scale * dot(of_t, of_t),
            times_c(w * (LAMBDA * determinant), values, place * PLANE + node)};
  }
};
#endif

// Derivatives along r, s and t, or fluxes.
struct Gradient {
  real r, s, t;
};

INLINE real dot(const Gradient& a, const Gradient& b) {
  return FMA(a.r, b.r, FMA(a.s, b.s, a.t * b.t));
}

INLINE Gradient flux(const Metric& g, const Gradient& u) {
  return {FMA(g.rr, u.r, FMA(g.rs, u.s, g.rt * u.t)), FMA(g.rs, u.r, FMA(g.ss, u.s, g.st * u.t)),
          FMA(g.rt, u.r, FMA(g.st, u.s, g.tt * u.t))};
}

// The arrays of the operator: assembled values x, multiplied by `scale` first if SCALED; the index
// of each element's nodes among them; the elements' results y. `component` counts the components
// that this block has processed before.
struct Operands {
  const real *x, *scale;
  const int* dofs;
  const real* geometry;
  real* y;
  int component;

  METHOD const int* row(index_t e, int t, int s) const {
    return dofs + e * CUBE + t * PLANE + s * NODES;
  }
  METHOD real value_at(index_t n) const { return SCALED ? scale[n] * x[n] : x[n]; }
  METHOD real value(index_t e, int node) const { return value_at(dofs[e * CUBE + node]); }
};
