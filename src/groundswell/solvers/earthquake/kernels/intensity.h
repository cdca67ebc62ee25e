// The acceleration of the surface, for maps of intensity measures; compiled only for cases that have
// them.
#pragma once
#include "record.h"
#include "seismology/kernels/ground_motion.h"

// Every `every` steps; motion [6][REGION_Y][REGION_X], see ground_motion.h.
KERNEL record_motion(real* motion, const real* RESTRICT frame, const real* RESTRICT vx,
                     const real* RESTRICT vy, const real* RESTRICT compliance,
                     const Class* RESTRICT classes, const long long* RESTRICT clock,
                     index_t every) {
  const Modulus soft{compliance, classes};
  const GroundMotion ground = {motion, frame, REGION_X * REGION_Y};
  FOR_CELLS(i, REGION_X, j, REGION_Y, k, 1) {
    if (sample_due(clock, 0, every)) {
      const index_t c = cell_at(i + REGION_START_X, j + REGION_START_Y, k + REGION_START_Z);
      ground.record(static_cast<index_t>(j) * REGION_X + i, on_top<X>(vx, soft, c),
                    on_top<Y>(vy, soft, c));
    }
  }
}
