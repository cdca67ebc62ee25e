// Peaks of the horizontal motion at points: of velocity, and of acceleration from differences
// between steps.
#pragma once
#include "portable.h"

//   largest [2][count]: of velocity and acceleration; past [2][count]: velocity of the step before
struct Peaks {
  real *largest, *past;
  index_t count;

  // The horizontal velocity (u, v) at point n, `dt` after the one before.
  METHOD void record(index_t n, real u, real v, real dt) const {
    const real du = u - past[n], dv = v - past[n + count];
    largest[n] = fmax(largest[n], sqrt(u * u + v * v));
    largest[n + count] = fmax(largest[n + count], sqrt(du * du + dv * dv) / dt);
    past[n] = u;
    past[n + count] = v;
  }
};
