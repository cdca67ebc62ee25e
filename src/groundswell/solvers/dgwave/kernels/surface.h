// Records the peak motion at points of the surface.
#pragma once
#include "seismology/kernels/peaks.h"

// The value of a field at a point: a weighted sum over the first `taps` nodes of its element.
INLINE real value_of(const real* RESTRICT nodes, const real* RESTRICT weights, index_t taps) {
  real sum = 0;
  for (index_t n = 0; n < taps; ++n) sum += weights[n] * nodes[n];
  return sum;
}

//   places [points]: offsets of the points' elements in the fields; weights [points][taps]; step: time step, s
KERNEL record_peaks(real* peaks, real* past, const real* RESTRICT vx, const real* RESTRICT vy,
                    const long long* RESTRICT places, const real* RESTRICT weights, index_t taps,
                    const double* step, index_t points) {
  const Peaks all = {peaks, past, points};
  FOR_ITEMS(n, points) {
    const real* const own = weights + n * taps;
    all.record(n, value_of(vx + places[n], own, taps), value_of(vy + places[n], own, taps),
               static_cast<real>(step[0]));
  }
}
