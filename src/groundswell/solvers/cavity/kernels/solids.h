// Solid blocks: points at rest that conduct heat. Only sources with HAS_SOLIDS have the arguments.
// To the fluid, a block is a wall on its outermost points. Heat passes between all neighbours, with
// the conductivity of the face between them. A block's pressure is never read.
#pragma once
#include "metric.h"

// Args: fluid, 1 at points in fluid and 0 at others; k, conductivity between a point and the next
// one along an axis, over the fluid's heat capacity, m^2/s; capacity, that of a point's cell over
// the fluid's; source, released heat over the fluid's heat capacity, K/s.
struct Solids {
  const real *fluid, *kx, *ky, *kz, *capacity, *source;
};

#if HAS_SOLIDS
#define SOLID_READS                                                                        \
  const real *fluid, const real *kx, const real *ky, const real *kz, const real *capacity, \
      const real *source,
#define SOLIDS \
  Solids { fluid, kx, ky, kz, capacity, source }
#else
#define SOLID_READS
#define SOLIDS \
  Solids {}
#endif

// A point among solids. Args: heat_limit, one over the longest step that is stable for conduction,
// 1/s.
struct Material {
  bool in_solid;
  real heat_limit, capacity, source;
};

template <class Axis> INLINE const real* conductivity(const Solids& solids) {
  return Axis::axis == 0 ? solids.kx : Axis::axis == 1 ? solids.ky : solids.kz;
}

template <class Axis>
INLINE real heat_limit_along(const Solids& solids, index_t c, const Node& node) {
  if (!varies<Axis>()) return REAL(0);
  const real* k = conductivity<Axis>(solids) + c;
  const real before = k[-Axis::step()];
  return STRETCHED ? FMA(k[0], node.high, before * node.low)
                   : (k[0] + before) / (Axis::h() * Axis::h());
}
INLINE Material material_at(const Solids& solids, index_t c, const Nodes& at) {
  const real heat_limit = heat_limit_along<X>(solids, c, at.x) +
                          heat_limit_along<Y>(solids, c, at.y) +
                          heat_limit_along<Z>(solids, c, at.z);
  return {solids.fluid[c] == REAL(0), heat_limit, solids.capacity[c], solids.source[c]};
}

// Heat that a point's neighbours along an axis conduct to it, over its cell's volume.
template <class Axis>
INLINE real conduct(const Solids& solids, index_t c, const Three& t, const Node& node) {
  const real* k = conductivity<Axis>(solids) + c;
  const real before = k[-Axis::step()];
  return STRETCHED ? FMA(k[0] * node.high, t.d - t.c, before * node.low * (t.b - t.c))
                   : FMA(k[0], t.d - t.c, before * (t.b - t.c)) / (Axis::h() * Axis::h());
}

// Closes the pressures of a point in fluid next to solids as those next to a wall at rest. On
// stretched grids, the weight of its gradient then follows from the distance to the other neighbour.
template <class Axis>
INLINE void meet_solids(const Solids& solids, index_t c, Five& p, Node& node, real speed) {
  const real* fluid = solids.fluid + c;
  const index_t step = Axis::step();
  const real missed = (REAL(0.5) / REAL(DAMPING)) * speed;
  const Five in = p;
  if (fluid[-step] == REAL(0)) {
    p.b = REAL(2) * in.c - in.d;
    p.a = REAL(3) * in.c - REAL(2) * in.d + missed;
    if (STRETCHED) node.push = REAL(0.25) * node.high / node.half;
  } else if (fluid[-2 * step] == REAL(0)) {
    p.a = REAL(2) * in.b - in.c;
  }
  if (fluid[step] == REAL(0)) {
    p.d = REAL(2) * in.c - in.b;
    p.e = REAL(3) * in.c - REAL(2) * in.b - missed;
    if (STRETCHED) node.push = REAL(0.25) * node.low / node.half;
  } else if (fluid[2 * step] == REAL(0)) {
    p.e = REAL(2) * in.d - in.c;
  }
}
