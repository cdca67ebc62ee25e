// Oscillators at points of the surface, which the waves shake, and integrals of the acceleration
// there. The acceleration of both is the difference of successive velocities, and linear between
// these differences; see seismology/intensity/maps.py.
#pragma once
#include "seismology/kernels/oscillator_step.h"

// The motion of `count` points up to the step before.
//   past [4][count]: velocity to the east and north, and acceleration
//   frame [3]: cosine and sine of the azimuth of the grid, and 1 / the time between samples
struct PastMotion {
  real* past;
  const real* frame;
  index_t count;

  struct Acceleration {
    real before[2], after[2];
  };

  // The acceleration to the east and north at both ends of a step, from the velocity (u, v) along x
  // and y at point n.
  METHOD Acceleration advance(index_t n, real u, real v) const {
    const real now[2] = {frame[0] * u + frame[1] * v, frame[0] * v - frame[1] * u};
    Acceleration found;
    for (int c = 0; c < 2; ++c) {
      real* const own = past + c * count + n;
      found.before[c] = own[2 * count];
      found.after[c] = (now[c] - own[0]) * frame[2];
      own[0] = now[c];
      own[2 * count] = found.after[c];
    }
    return found;
  }
};

//   motion [periods][4][count]: displacement and scaled velocity of the oscillator to the east, then
//   to the north
//   largest [periods][3 + directions][count]: displacement to the east, to the north, in any
//   direction, and in each direction
//   changes [periods][2][4]; turns [directions][2]: cosines and sines
struct ShakenOscillators {
  PastMotion ground;
  real *motion, *largest;
  const real *changes, *turns;
  index_t periods, directions;

  // A step of the oscillators at point n.
  METHOD void advance(index_t n, real u, real v) const {
    const auto a = ground.advance(n, u, v);
    const index_t count = ground.count;
    for (index_t p = 0; p < periods; ++p) {
      real moved[2];
      for (int c = 0; c < 2; ++c) {
        real* const own = motion + (4 * p + 2 * c) * count + n;
        const OscillatorState before = {own[0], own[count]};
        const auto now = before.advance(changes + 8 * p, a.before[c], a.after[c]);
        own[0] = moved[c] = now.u;
        own[count] = now.w;
      }
      keep(largest + (3 + directions) * p * count + n, moved[0], moved[1]);
    }
  }

  METHOD void keep(real* peak, real east, real north) const {
    const index_t count = ground.count;
    raise(peak, fabs(east));
    raise(peak + count, fabs(north));
    raise(peak + 2 * count, sqrt(east * east + north * north));
    for (index_t d = 0; d < directions; ++d)
      raise(peak + (3 + d) * count, fabs(turns[2 * d] * east + turns[2 * d + 1] * north));
  }

  METHOD static void raise(real* peak, real value) {
    if (value > *peak) *peak = value;
  }
};

//   sums [4][count]: of the squared acceleration to the east and north, and of its absolute value
struct MotionIntegrals {
  PastMotion ground;
  double* sums;

  METHOD void advance(index_t n, real u, real v) const {
    const auto a = ground.advance(n, u, v);
    const double step = 1.0 / ground.frame[2];
    for (int c = 0; c < 2; ++c) {
      const double before = a.before[c], after = a.after[c];
      sums[c * ground.count + n] += step / 3 * (before * before + before * after + after * after);
      sums[(2 + c) * ground.count + n] += step / 2 * absolute(before, after);
    }
  }

  // Twice the mean absolute value of a line between two values.
  METHOD static double absolute(double before, double after) {
    const double length = fabs(before) + fabs(after);
    return before * after < 0 ? (before * before + after * after) / length : length;
  }
};
