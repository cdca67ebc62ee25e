// Peaks of oscillators driven by records: of each component, and of the horizontal motion in each
// direction. A thread block computes one oscillator at a station, some samples at a time: one
// thread advances each component, then the threads share the directions and look for peaks.
#pragma once
#include "oscillator_step.h"

constexpr int COMPONENTS = 3;
constexpr int SAMPLES = 64;  // at a time
constexpr int LANES = 8;     // independent maxima, which fill a vector register

//   ground [stations][COMPONENTS][samples]: acceleration; changes [oscillators][2][4]
//   directions [DIRECTIONS][2]: cosines and sines
//   peaks [stations][oscillators][COMPONENTS], turned [stations][oscillators][DIRECTIONS]
KERNEL respond(real* peaks, real* turned, const real* RESTRICT ground, const real* RESTRICT changes,
               const real* RESTRICT directions, index_t stations, index_t oscillators,
               index_t samples) {
  FOR_BLOCKS(e, stations * oscillators) {
    SHARED(real, moved, [COMPONENTS][SAMPLES]);
    SHARED(OscillatorState, state, [COMPONENTS]);
    SHARED(real, largest, [COMPONENTS]);
    SHARED(real, lately, [COMPONENTS]);  // largest of these samples
    SHARED(real, widest, [DIRECTIONS]);
    const real* const shaking = ground + e / oscillators * COMPONENTS * samples;
    const real* const own = changes + e % oscillators * 8;
    FOR_THREADS(c, COMPONENTS) {
      state[c] = {0, 0};
      largest[c] = 0;
    }
    FOR_THREADS(d, DIRECTIONS) widest[d] = 0;
    BARRIER();
    for (index_t first = 1; first < samples; first += SAMPLES) {
      FOR_THREADS(c, COMPONENTS) {
        const real* const a = shaking + c * samples;
        OscillatorState now = state[c];
        real most = 0;
        for (int s = 0; s < SAMPLES; ++s) {
          const index_t n = first + s;
          if (n < samples) now = now.advance(own, a[n - 1], a[n]);
          moved[c][s] = now.u;  // after the last sample the last value, which is not larger
          most = fmax(most, fabs(now.u));
        }
        state[c] = now;
        lately[c] = most;
        largest[c] = fmax(largest[c], most);
      }
      BARRIER();
      const real reach = sqrt(lately[0] * lately[0] + lately[1] * lately[1]);
      FOR_THREADS(d, DIRECTIONS) {
        if (reach < widest[d]) continue;
        const real along = directions[2 * d], across = directions[2 * d + 1];
        real most[LANES];
        for (int l = 0; l < LANES; ++l) most[l] = widest[d];
        for (int s = 0; s < SAMPLES; s += LANES)
          for (int l = 0; l < LANES; ++l) {
            const real there = fabs(along * moved[0][s + l] + across * moved[1][s + l]);
            most[l] = there > most[l] ? there : most[l];
          }
        for (int l = 0; l < LANES; ++l) widest[d] = fmax(widest[d], most[l]);
      }
      BARRIER();
    }
    FOR_THREADS(c, COMPONENTS) peaks[e * COMPONENTS + c] = largest[c];
    FOR_THREADS(d, DIRECTIONS) turned[e * DIRECTIONS + d] = widest[d];
  }
}
