// The acceleration of the surface, for maps of intensity measures; compiled only for cases that have
// them.
#pragma once
#include "seismology/kernels/ground_motion.h"
#include "surface.h"

// Every `every` steps; motion [6][points], see ground_motion.h; for the points see surface.h.
KERNEL record_motion(real* motion, const real* RESTRICT frame, const real* RESTRICT vx,
                     const real* RESTRICT vy, const long long* RESTRICT clock, index_t every,
                     const long long* RESTRICT starts, const int* RESTRICT faces,
                     const int* RESTRICT nodes, const real* RESTRICT weights, index_t taps,
                     index_t points) {
  const bool due = sample_due(clock, 0, every);
  const GroundMotion ground = {motion, frame, points};
  const SurfacePoints at = {starts, faces, nodes, weights, static_cast<int>(taps)};
  FOR_ITEMS(n, points) {
    if (due) {
      real now[2];
      at.find({vx, vy}, n, now);
      ground.record(n, now[0], now[1]);
    }
  }
}
