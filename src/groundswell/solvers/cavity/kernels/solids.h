// Solid blocks: points at rest that conduct heat. Only sources with HAS_SOLIDS have the arguments.
// To the fluid, a block is a wall on its outermost points. Heat passes between all neighbours, with
// the conductivity of the face between them. A block's pressure is never read.
#pragma once
#include "lines.h"

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

template <class Axis> INLINE real heat_limit_along(const Solids& solids, index_t c) {
  if (Axis::points() == 1) return REAL(0);
  const real* k = conductivity<Axis>(solids) + c;
  return (k[0] + k[-Axis::step()]) / (Axis::h() * Axis::h());
}
INLINE Material material_at(const Solids& solids, index_t c) {
  const real heat_limit = heat_limit_along<X>(solids, c) + heat_limit_along<Y>(solids, c) +
                          heat_limit_along<Z>(solids, c);
  return {solids.fluid[c] == REAL(0), heat_limit, solids.capacity[c], solids.source[c]};
}

// Heat that a point's neighbours along an axis conduct to it, over its cell's volume.
template <class Axis> INLINE real conduct(const Solids& solids, index_t c, const Three& t) {
  const real* k = conductivity<Axis>(solids) + c;
  return FMA(k[0], t.d - t.c, k[-Axis::step()] * (t.b - t.c)) / (Axis::h() * Axis::h());
}

// Closes the pressures of a point in fluid next to solids as those next to a wall at rest.
template <class Axis>
INLINE void meet_solids(const Solids& solids, index_t c, Five& p, real speed) {
  const real* fluid = solids.fluid + c;
  const index_t step = Axis::step();
  const real missed = (REAL(0.5) / REAL(DAMPING)) * speed;
  const Five in = p;
  if (fluid[-step] == REAL(0)) {
    p.b = REAL(2) * in.c - in.d;
    p.a = REAL(3) * in.c - REAL(2) * in.d + missed;
  } else if (fluid[-2 * step] == REAL(0)) {
    p.a = REAL(2) * in.b - in.c;
  }
  if (fluid[step] == REAL(0)) {
    p.d = REAL(2) * in.c - in.b;
    p.e = REAL(3) * in.c - REAL(2) * in.b - missed;
  } else if (fluid[2 * step] == REAL(0)) {
    p.e = REAL(2) * in.d - in.c;
  }
}
