// Intensity measures of the motion of the surface, for maps; compiled only for cases that have them.
#pragma once
#include "seismology/kernels/shaken_oscillators.h"
#include "surface.h"

// Oscillators at points of the surface, every `every` steps. For their arrays see
// shaken_oscillators.h, for those of the points surface.h.
KERNEL advance_oscillators(real* past, real* motion, real* largest, const real* RESTRICT vx,
                           const real* RESTRICT vy, const real* RESTRICT frame,
                           const real* RESTRICT changes, const real* RESTRICT turns,
                           const long long* RESTRICT clock, index_t every, index_t periods,
                           index_t directions, const long long* RESTRICT starts,
                           const int* RESTRICT faces, const int* RESTRICT nodes,
                           const real* RESTRICT weights, index_t taps, index_t points) {
  const bool due = sample_due(clock, 0, every);
  const PastMotion ground = {past, frame, points};
  const ShakenOscillators all = {ground, motion, largest, changes, turns, periods, directions};
  const SurfacePoints at = {starts, faces, nodes, weights, static_cast<int>(taps)};
  FOR_ITEMS(n, points) {
    if (due) {
      real now[2];
      at.find({vx, vy}, n, now);
      all.advance(n, now[0], now[1]);
    }
  }
}

// Integrals of the acceleration at points of the surface, in each step.
KERNEL sum_motion(real* past, double* sums, const real* RESTRICT vx, const real* RESTRICT vy,
                  const real* RESTRICT frame, const long long* RESTRICT starts,
                  const int* RESTRICT faces, const int* RESTRICT nodes,
                  const real* RESTRICT weights, index_t taps, index_t points) {
  const MotionIntegrals all = {{past, frame, points}, sums};
  const SurfacePoints at = {starts, faces, nodes, weights, static_cast<int>(taps)};
  FOR_ITEMS(n, points) {
    real now[2];
    at.find({vx, vy}, n, now);
    all.advance(n, now[0], now[1]);
  }
}
