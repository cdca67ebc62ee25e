// Interpolation between two grids by a banded matrix for each axis: point n of the target is a
// weighted sum of `width` points of the source from first[n] on.
#pragma once
#include "portable.h"

#define BAND(axis) \
  const index_t *first_##axis, const real *weight_##axis, index_t width_##axis, index_t n##axis

// The sum replaces the target's value (keep 0) or is added to it (1), or the target's value is
// subtracted from the sum (-1).
KERNEL interpolate(const real* in, index_t in_row, index_t in_plane, real* out, index_t out_row,
                   index_t out_plane, index_t keep, BAND(x), BAND(y), BAND(z)) {
  FOR_CELLS(i, nx, j, ny, k, nz) {
    real sum = 0;
    for (index_t c = 0; c < width_z; ++c)
      for (index_t b = 0; b < width_y; ++b) {
        const real share = weight_z[k * width_z + c] * weight_y[j * width_y + b];
        const real* row = in + (first_z[k] + c) * in_plane + (first_y[j] + b) * in_row + first_x[i];
        for (index_t a = 0; a < width_x; ++a)
          sum = FMA(share * weight_x[i * width_x + a], row[a], sum);
      }
    real& place = out[k * out_plane + j * out_row + i];
    place = keep == 0 ? sum : keep > 0 ? place + sum : sum - place;
  }
}
