// Intensity measures of the motion of the surface, for maps; compiled only for cases that have them.
#pragma once
#include "record.h"
#include "seismology/kernels/shaken_oscillators.h"

// Oscillators at the surface of the region, every `every` steps. For their arrays see
// shaken_oscillators.h; the points are [REGION_Y][REGION_X].
KERNEL advance_oscillators(real* past, real* motion, real* largest, const real* RESTRICT vx,
                           const real* RESTRICT vy, const real* RESTRICT compliance,
                           const Class* RESTRICT classes, const real* RESTRICT frame,
                           const real* RESTRICT changes, const real* RESTRICT turns,
                           const long long* RESTRICT clock, index_t every, index_t periods,
                           index_t directions) {
  const Modulus soft{compliance, classes};
  const PastMotion ground = {past, frame, REGION_X * REGION_Y};
  const ShakenOscillators all = {ground, motion, largest, changes, turns, periods, directions};
  FOR_CELLS(i, REGION_X, j, REGION_Y, k, 1) {
    if (sample_due(clock, 0, every)) {
      const index_t c = cell_at(i + REGION_START_X, j + REGION_START_Y, k + REGION_START_Z);
      all.advance(static_cast<index_t>(j) * REGION_X + i, on_top<X>(vx, soft, c),
                  on_top<Y>(vy, soft, c));
    }
  }
}

// Integrals of the acceleration at the surface of the region, in each step.
KERNEL sum_motion(real* past, double* sums, const real* RESTRICT vx, const real* RESTRICT vy,
                  const real* RESTRICT compliance, const Class* RESTRICT classes,
                  const real* RESTRICT frame) {
  const Modulus soft{compliance, classes};
  const MotionIntegrals all = {{past, frame, REGION_X * REGION_Y}, sums};
  FOR_CELLS(i, REGION_X, j, REGION_Y, k, 1) {
    const index_t c = cell_at(i + REGION_START_X, j + REGION_START_Y, k + REGION_START_Z);
    all.advance(static_cast<index_t>(j) * REGION_X + i, on_top<X>(vx, soft, c),
                on_top<Y>(vy, soft, c));
  }
}
