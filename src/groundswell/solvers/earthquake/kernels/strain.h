// Strains at grid values around points, which accumulate from the derivatives of the velocities
// that the stress update takes. Shear strains are those of engineering, 2 exy.
#pragma once
#include "stencil.h"

//   strain [count]; targets [count]: offset in memory; components [count]: xx, yy, zz, xy, xz, yz
KERNEL accumulate_strain(double* strain, const real* RESTRICT vx, const real* RESTRICT vy,
                         const real* RESTRICT vz, const long long* RESTRICT targets,
                         const long long* RESTRICT components, index_t count) {
  FOR_ITEMS(n, count) {
    const index_t c = targets[n];
    const long long which = components[n];
    const real rate = which == 0   ? forward<X>(vx + c)
                      : which == 1 ? forward<Y>(vy + c)
                      : which == 2 ? forward<Z>(vz + c)
                      : which == 3 ? backward<Y>(vx + c) + backward<X>(vy + c)
                      : which == 4 ? backward<Z>(vx + c) + backward<X>(vz + c)
                                   : backward<Z>(vy + c) + backward<Y>(vz + c);
    strain[n] += DT_EXACT * static_cast<double>(rate);
  }
}
