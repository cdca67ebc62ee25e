// Acceleration at points of the surface: differences of successive velocities.
#pragma once
#include "portable.h"

// The motion of `count` points up to now.
//   motion [6][count]: velocity to the east and north; acceleration at the sample before, and now
//   frame [3]: cosine and sine of the azimuth of the grid, and 1 / the time between samples
struct GroundMotion {
  real* motion;
  const real* frame;
  index_t count;

  // Point n moves by (u, v) along x and y, m/s.
  METHOD void record(index_t n, real u, real v) const {
    const real now[2] = {frame[0] * u + frame[1] * v, frame[0] * v - frame[1] * u};
    for (int c = 0; c < 2; ++c) {
      real* const own = motion + c * count + n;
      own[2 * count] = own[4 * count];
      own[4 * count] = (now[c] - own[0]) * frame[2];
      own[0] = now[c];
    }
  }
};
