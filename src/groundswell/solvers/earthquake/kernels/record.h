// Outputs of the motion of the surface; for other outputs see outputs/kernels/record.h.
#pragma once
#include "materials.h"
#include "outputs/kernels/schedule.h"
#include "seismology/kernels/peaks.h"
#include "stencil.h"

// Horizontal velocity at the centre of the upper face of a cell, interpolated as for a receiver:
// cubics through four faces along its own axis, and through rows -1 to 2; ABOVE is the weight of
// row -1. It vanishes on a fluid under a free surface, where pressure is constant.
template <Axis A> INLINE real midway(const real* RESTRICT f) {
  const index_t step = step_along<A>();
  return REAL(0.0625) * (REAL(9) * (f[0] + f[step]) - (f[-step] + f[2 * step]));
}
template <Axis A> INLINE real on_top(const real* RESTRICT f, const Modulus& compliance, index_t c) {
#if WET_SURFACE
  if (RECIPROCAL(compliance[c]) == REAL(0)) return REAL(0);
#endif
  f += c;
  return ABOVE * midway<A>(f - STEP_Z) + (REAL(1.25) - ABOVE) * midway<A>(f) -
         REAL(0.3125) * midway<A>(f + STEP_Z) + REAL(0.0625) * midway<A>(f + 2 * STEP_Z);
}

// Peaks at the surface of the region: peaks [2][REGION_Y][REGION_X], past [2][REGION_Y][REGION_X].
KERNEL record_peaks(real* peaks, real* past, const real* RESTRICT vx, const real* RESTRICT vy,
                    const real* RESTRICT compliance, const Class* RESTRICT classes) {
  const Modulus soft{compliance, classes};
  const Peaks all = {peaks, past, REGION_X * REGION_Y};
  FOR_CELLS(i, REGION_X, j, REGION_Y, k, 1) {
    const index_t c = cell_at(i + REGION_START_X, j + REGION_START_Y, k + REGION_START_Z);
    all.record(static_cast<index_t>(j) * REGION_X + i, on_top<X>(vx, soft, c),
               on_top<Y>(vy, soft, c), DT);
  }
}

// Velocity at the surface, every `stride` cells from (first_x, first_y) of the region: ring
// [slots][3][ny][nx].
KERNEL record_surface(real* ring, const real* RESTRICT vx, const real* RESTRICT vy,
                      const real* RESTRICT vz, const real* RESTRICT compliance,
                      const Class* RESTRICT classes, const long long* RESTRICT clock, index_t every,
                      index_t slots, index_t stride, index_t first_x, index_t first_y, index_t nx,
                      index_t ny) {
  const Modulus soft{compliance, classes};
  FOR_ITEMS(n, nx * ny) {
    if (sample_due(clock, 0, every)) {
      const index_t c =
          cell_at(static_cast<int>(first_x + n % nx * stride) + REGION_START_X,
                  static_cast<int>(first_y + n / nx * stride) + REGION_START_Y, REGION_START_Z);
      real* out = ring + sample_slot(clock, 0, every, slots) * 3 * nx * ny + n;
      out[0] = on_top<X>(vx, soft, c);
      out[nx * ny] = on_top<Y>(vy, soft, c);
      out[2 * nx * ny] = vz[c];
    }
  }
}
