// Recorders: they look at the clock, and when a sample is due write it to the next slot of a ring.
#pragma once
#include "stencil.h"

INLINE bool sample_due(const long long* RESTRICT clock, index_t every) {
  return clock[0] % every == 0;
}
INLINE index_t sample_slot(const long long* RESTRICT clock, index_t every, index_t slots) {
  return clock[0] / every % slots;
}

// Velocity at receivers: 4 x 4 x 4 Lagrange weights, one item a receiver and component.
//   ring [slots][receivers][3]; places [items]: first of the 64 cells; weights [items][3 axes][4]
KERNEL record_points(real* ring, const real* RESTRICT vx, const real* RESTRICT vy,
                     const real* RESTRICT vz, const long long* RESTRICT places,
                     const real* RESTRICT weights, const long long* RESTRICT clock,
                     index_t every, index_t slots, index_t items) {
  FOR_ITEMS(n, items) {
    if (sample_due(clock, every)) {
      const real* field = (n % 3 == 0 ? vx : n % 3 == 1 ? vy : vz) + places[n];
      const real *wx = weights + 12 * n, *wy = wx + 4, *wz = wx + 8;
      real sum = 0;
      UNROLL
      for (int k = 0; k < 4; ++k)
        UNROLL
        for (int j = 0; j < 4; ++j)
          UNROLL
          for (int i = 0; i < 4; ++i) sum += wz[k] * wy[j] * wx[i] * field[k * STEP_Z + j * STEP_Y + i];
      ring[sample_slot(clock, every, slots) * items + n] = sum;
    }
  }
}

// Horizontal velocity at the middle of a cell's upper face, as a receiver there would read it: cubics
// through four faces along its own axis, and down through rows -1 to 2; ABOVE is row -1's weight.
template <index_t STEP> INLINE real midway(const real* RESTRICT f) {
  return REAL(0.0625) * (REAL(9) * (f[0] + f[STEP]) - (f[-STEP] + f[2 * STEP]));
}
template <index_t STEP> INLINE real on_top(const real* RESTRICT f) {
  return ABOVE * midway<STEP>(f - STEP_Z) + (REAL(1.25) - ABOVE) * midway<STEP>(f) -
         REAL(0.3125) * midway<STEP>(f + STEP_Z) + REAL(0.0625) * midway<STEP>(f + 2 * STEP_Z);
}

// Peaks of the horizontal vector's length at the surface, over the region: PGV, and PGA by
// differences between steps. peaks [2][REGION_Y][REGION_X], past [2][REGION_Y][REGION_X].
KERNEL record_peaks(real* peaks, real* past, const real* RESTRICT vx, const real* RESTRICT vy) {
  FOR_CELLS(i, REGION_X, j, REGION_Y, k, 1) {
    const index_t c = cell_at(i + REGION_START_X, j + REGION_START_Y, k + REGION_START_Z);
    const index_t here = static_cast<index_t>(j) * REGION_X + i, count = REGION_X * REGION_Y;
    const real u = on_top<STEP_X>(vx + c), v = on_top<STEP_Y>(vy + c);
    const real du = u - past[here], dv = v - past[here + count];
    peaks[here] = fmax(peaks[here], sqrt(u * u + v * v));
    peaks[here + count] = fmax(peaks[here + count], sqrt(du * du + dv * dv) / DT);
    past[here] = u;
    past[here + count] = v;
  }
}

// The surface's velocity every `stride` cells from (first_x, first_y) of the region on: ring
// [slots][3][ny][nx].
KERNEL record_surface(real* ring, const real* RESTRICT vx, const real* RESTRICT vy,
                      const real* RESTRICT vz, const long long* RESTRICT clock, index_t every,
                      index_t slots, index_t stride, index_t first_x, index_t first_y, index_t nx,
                      index_t ny) {
  FOR_ITEMS(n, nx * ny) {
    if (sample_due(clock, every)) {
      const index_t c = cell_at(static_cast<int>(first_x + n % nx * stride) + REGION_START_X,
                                static_cast<int>(first_y + n / nx * stride) + REGION_START_Y,
                                REGION_START_Z);
      real* out = ring + sample_slot(clock, every, slots) * 3 * nx * ny + n;
      out[0] = on_top<STEP_X>(vx + c);
      out[nx * ny] = on_top<STEP_Y>(vy + c);
      out[2 * nx * ny] = vz[c];
    }
  }
}

// One field every `stride` cells from (first_x, first_y, first_z) of the region on: ring
// [slots][nz][ny][nx].
KERNEL record_volume(real* ring, const real* RESTRICT field, const long long* RESTRICT clock,
                     index_t every, index_t slots, index_t stride, index_t first_x,
                     index_t first_y, index_t first_z, index_t nx, index_t ny, index_t nz) {
  FOR_ITEMS(n, nx * ny * nz) {
    if (sample_due(clock, every)) {
      const index_t c =
          cell_at(static_cast<int>(first_x + n % nx * stride) + REGION_START_X,
                  static_cast<int>(first_y + n / nx % ny * stride) + REGION_START_Y,
                  static_cast<int>(first_z + n / (nx * ny) * stride) + REGION_START_Z);
      ring[sample_slot(clock, every, slots) * nx * ny * nz + n] = field[c];
    }
  }
}

// Leaves in `found` the place of some value that is not finite, if there is one.
KERNEL find_nonfinite(const real* RESTRICT field, long long* found) {
  FOR_CELLS(i, NX, j, NY, k, NZ) {
    const index_t c = cell_at(i, j, k);
    if (!(fabs(field[c]) <= LARGEST)) found[0] = c;
  }
}
