// Loads of faults that break by themselves, and the onset of slip.
#pragma once
#include "portable.h"

constexpr double RUPTURED = 1e-3;  // slip rate at which a point counts as ruptured, m/s

// The part of the added shear stress that acts at a time, from 0 to 1 (TPV101 to 105 of the
// SCEC/USGS Spontaneous Rupture Code Verification Project).
INLINE double ramp(double time, double duration) {
  if (time <= 0) return 0;
  if (time >= duration) return 1;
  const double left = time - duration;
  return exp(left * left / (time * (time - 2 * duration)));
}

// When a rate exceeded RUPTURED during a step, counted back from its end in steps. Rates grow
// exponentially, but from 0 linearly.
INLINE double since_rupture(double before, double now) {
  if (before >= RUPTURED) return 0;
  return before > 0 ? log(now / RUPTURED) / log(now / before) : 1 - RUPTURED / now;
}
