// drucker_prager.h at points: mean stress, J2, strength; see yielding_points.py.
#include "seismology/kernels/drucker_prager.h"

KERNEL evaluate_yield(real* out, const real* RESTRICT given, index_t points) {
  FOR_ITEMS(n, points) {
    const Strength rock{given[2 * points + n], given[3 * points + n]};
    out[n] = yield_factor(given[n], given[points + n], rock, REMEMBERED);
    out[points + n] = yield_strength(given[n], rock);
  }
}
