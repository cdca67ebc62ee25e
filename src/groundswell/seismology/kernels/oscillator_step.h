// A step of a damped oscillator, exact for acceleration that is linear between samples (Nigam &
// Jennings 1969); see seismology/intensity/oscillator.py.
#pragma once
#include "portable.h"

//   u: displacement relative to the ground; w: velocity over the angular frequency
struct OscillatorState {
  real u, w;

  // The state after a step from acceleration `before` to `after`; changes [2][4].
  METHOD OscillatorState advance(const real* RESTRICT changes, real before, real after) const {
    const real du = (changes[0] * u + changes[1] * w) + (changes[2] * before + changes[3] * after);
    const real dw = (changes[4] * u + changes[5] * w) + (changes[6] * before + changes[7] * after);
    return {u + du, w + dw};
  }
};
