// Records the motion at points of the surface: its peaks, and series of it.
#pragma once
#include "outputs/kernels/schedule.h"
#include "seismology/kernels/peaks.h"

// Points on faces of elements:
//   starts [points]: offsets of the elements in the fields; faces [points]: numbers of the faces
//   nodes [6][taps]: indices of a face's nodes in an element; weights [points][taps] of those
struct SurfacePoints {
  const long long* starts;
  const int *faces, *nodes;
  const real* weights;
  int taps;

  // The values of fields at point n.
  template <int COUNT>
  METHOD void find(const real* const (&fields)[COUNT], index_t n, real (&values)[COUNT]) const {
    const real* const own = weights + n * taps;
    const int* const inside = nodes + faces[n] * taps;
    for (int f = 0; f < COUNT; ++f) values[f] = 0;
    for (int m = 0; m < taps; ++m) {
      const index_t node = starts[n] + inside[m];
      for (int f = 0; f < COUNT; ++f) values[f] += own[m] * fields[f][node];
    }
  }
};

//   step: time step, s
KERNEL record_peaks(real* peaks, real* past, const real* RESTRICT vx, const real* RESTRICT vy,
                    const double* step, const long long* RESTRICT starts, const int* RESTRICT faces,
                    const int* RESTRICT nodes, const real* RESTRICT weights, index_t taps,
                    index_t points) {
  const Peaks all = {peaks, past, points};
  const SurfacePoints at = {starts, faces, nodes, weights, static_cast<int>(taps)};
  FOR_ITEMS(n, points) {
    real now[2];
    at.find({vx, vy}, n, now);
    all.record(n, now[0], now[1], static_cast<real>(step[0]));
  }
}

//   ring [slots][3][points]: a sample of all components every `every` steps
KERNEL record_velocity(real* ring, const long long* RESTRICT clock, index_t every, index_t slots,
                       const real* RESTRICT vx, const real* RESTRICT vy, const real* RESTRICT vz,
                       const long long* RESTRICT starts, const int* RESTRICT faces,
                       const int* RESTRICT nodes, const real* RESTRICT weights, index_t taps,
                       index_t points) {
  const bool due = sample_due(clock, 0, every);
  real* const sample = ring + (due ? 3 * points * sample_slot(clock, 0, every, slots) : 0);
  const SurfacePoints at = {starts, faces, nodes, weights, static_cast<int>(taps)};
  FOR_ITEMS(n, points) {
    if (due) {
      real now[3];
      at.find({vx, vy, vz}, n, now);
      for (int f = 0; f < 3; ++f) sample[f * points + n] = now[f];
    }
  }
}
