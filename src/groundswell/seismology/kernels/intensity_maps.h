// Oscillators and integrals of the acceleration at points of the surface. Acceleration is linear
// between samples; see ground_motion.h for `motion`, and seismology/intensity/maps.py.
#pragma once
#include "oscillator_step.h"
#include "outputs/kernels/schedule.h"

// A step of the oscillators every `every` steps of the clock.
//   state [periods][2][2][points]: displacement and scaled velocity, to the east and to the north
//   changes [periods][2][4]
KERNEL advance_oscillators(real* state, const real* RESTRICT motion, const real* RESTRICT changes,
                           const long long* RESTRICT clock, index_t every, index_t points,
                           index_t periods) {
  const bool due = sample_due(clock, 0, every);
  FOR_CELLS(i, points, c, 2, p, periods) {
    if (due) {
      real* const own = state + (2 * static_cast<index_t>(p) + c) * 2 * points + i;
      const real* const shaking = motion + (2 + c) * points + i;
      const OscillatorState before = {own[0], own[points]};
      const auto now = before.advance(changes + 8 * p, shaking[0], shaking[2 * points]);
      own[0] = now.u;
      own[points] = now.w;
    }
  }
}

// The largest displacements, where oscillators have made a step.
//   largest [periods][rows][points]: to the east, to the north, in any direction, in each direction
//   turns [rows][2]: cosine and sine of the direction; not read for any direction
KERNEL keep_peaks(real* largest, const real* RESTRICT state, const real* RESTRICT turns,
                  const long long* RESTRICT clock, index_t every, index_t points, index_t rows,
                  index_t periods) {
  const bool due = sample_due(clock, 0, every);
  FOR_CELLS(i, points, r, rows, p, periods) {
    if (due) {
      const real* const own = state + static_cast<index_t>(p) * 4 * points + i;
      const real east = own[0], north = own[2 * points];
      const real along = fabs(turns[2 * r] * east + turns[2 * r + 1] * north);
      const real moved = r == 2 ? sqrt(east * east + north * north) : along;
      real* const peak = largest + (rows * p + r) * points + i;
      *peak = moved > *peak ? moved : *peak;
    }
  }
}

// Integrals of the squared acceleration, to the east and north, and of its absolute value: sums
// [2][2][points].
KERNEL sum_motion(double* sums, const real* RESTRICT motion, const real* RESTRICT frame,
                  index_t points) {
  const double step = 1.0 / frame[2];
  FOR_CELLS(i, points, c, 2, k, 1) {
    const double a = motion[(2 + c) * points + i], b = motion[(4 + c) * points + i];
    const double length = fabs(a) + fabs(b), squares = a * a + b * b;
    sums[c * points + i] += step / 3 * (squares + a * b);
    sums[(2 + c) * points + i] += step / 2 * (a * b < 0 ? squares / length : length);
  }
}
