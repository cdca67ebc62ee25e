// Functions of time that are given by samples.
#pragma once
#include "portable.h"

// The value at `when`: linear between `count` samples, `step` apart from `start` on; zero outside
// them.
INLINE real value_at(double when, double start, double step, const real* RESTRICT samples,
                     index_t count) {
  const double place = (when - start) / step;
  if (!(place >= 0.0 && place <= static_cast<double>(count - 1))) return REAL(0);
  const index_t n = static_cast<index_t>(place);
  const real fraction = static_cast<real>(place - static_cast<double>(n));
  const real next = n + 1 < count ? samples[n + 1] : REAL(0);
  return samples[n] + fraction * (next - samples[n]);
}
