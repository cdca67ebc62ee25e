// Volume, flux and integration of a stage as in Hanindhito et al., GAPS, ICS 2022, sections 5 and
// 6. Faces read the fields of the neighbours. Unlike in the paper, each side of a face computes its
// own flux, so that no two elements write the same contributions.
//
//   rates [elements][FIELDS][CUBE]   contributions of volume and flux to the rates of the fields
//   r [elements][FIELDS][CUBE]       register of the time integration
#pragma once
#include "neighbours.h"

// Node p of a face. The lower axis of the face varies fastest.
INLINE int node_of_face(int face, int p) {
  const int slow = p / NODES, fast = p % NODES, end = face % 2 ? NODES - 1 : 0;
  if (face < 2) return (slow * NODES + fast) * NODES + end;
  if (face < 4) return (slow * NODES + end) * NODES + fast;
  return (end * NODES + slow) * NODES + fast;
}

// Sets the contribution of the volume at a node. u, rates: arrays of the element.
INLINE void set_volume(const Material& m, const real* u, int node, real* rates) {
  const int place[3] = {node % NODES, node / NODES % NODES, node / PLANE};
  const int step[3] = {1, NODES, PLANE};
  Slopes<real> slopes{};
  UNROLL
  for (int w = 0; w < NODES; ++w) {
    UNROLL
    for (int axis = 0; axis < 3; ++axis) {
      const int at = node + (w - place[axis]) * step[axis];
      const real factor = DERIVATIVE_AT[place[axis]][w] * m.scale[axis];
      add_slopes(slopes, axis, factor, [&](int field) { return u[field * CUBE + at]; });
    }
  }
  real found[FIELDS];
  find_rates(m, slopes, found);
  UNROLL
  for (int c = 0; c < FIELDS; ++c) rates[c * CUBE + node] = found[c];
}

// Adds the contribution of a face at one of its nodes. rates: array of the element.
INLINE void add_flux(const Mesh& mesh, const Material& m, index_t e, int face, int node,
                     real* rates) {
  const int axis = face / 2, step = axis == 0 ? 1 : axis == 1 ? NODES : PLANE;
  // The same point of the neighbour.
  const int across = node + (face % 2 ? -1 : 1) * (NODES - 1) * step;
  const real side = face % 2 ? REAL(1) : REAL(-1);
  const real *const u = mesh.u + e * VALUES, *const beyond = mesh.neighbour(e, face);
  const Face sides = mesh.faces[e * FACES + face];
  real own[TRACE], other[TRACE], jump[JUMP], found[FIELDS];
  UNROLL
  for (int n = 0; n < TRACE; ++n) {
    const int field = traced_field(axis, n) * CUBE;
    own[n] = u[field + node];
    other[n] = beyond ? beyond[field + across] : sign_of_mirror(n) * sides.reflection * own[n];
  }
  find_jump(m, sides, axis, side, own, other, jump);
  Slopes<real> slopes{};
  add_jump(m, jump, axis, side, m.scale[axis] * LIFT, slopes);
  find_rates(m, slopes, found);
  UNROLL
  for (int c = 0; c < FIELDS; ++c) rates[c * CUBE + node] += found[c];
}

KERNEL integrate(real* u, real* r, const real* rates, const Stage* stages, index_t stage,
                 index_t count) {
  const real a = static_cast<real>(stages[stage].a), b = static_cast<real>(stages[stage].b);
  FOR_BLOCKS(e, count) {
    FOR_THREADS(n, VALUES) {
      const index_t at = e * VALUES + n;
      const real now = a != 0 ? FMA(a, r[at], rates[at]) : rates[at];
      r[at] = now;
      u[at] = FMA(b, now, u[at]);
    }
  }
}
