// iwan.h at points, for tests/support/iwan_points.py.
#include "seismology/kernels/iwan.h"

INLINE Deviator load(const real* values, index_t points) {
  return {values[0], values[points], values[2 * points], values[3 * points], values[4 * points]};
}
INLINE void store(real* values, index_t points, const Deviator& d) {
  values[0] = d.xx;
  values[points] = d.yy;
  values[2 * points] = d.xy;
  values[3 * points] = d.xz;
  values[4 * points] = d.yz;
}

//   stresses [elements][5][points], lost [5][points], increment [5][points], shares and strengths
//   [elements], scale [points]: of the strengths
KERNEL advance_elements(real* stresses, real* lost, const real* increment, const real* shares,
                        const real* strengths, const real* scale, index_t elements,
                        index_t points) {
  FOR_ITEMS(n, points) {
    Deviator sum_lost{};
    for (int e = 0; e < elements; ++e) {
      real* const own = stresses + e * 5 * points + n;
      const Deviator trial = sum(load(own, points), shares[e], load(increment + n, points));
      const real part = lost_part(trial.half_square(), strengths[e] * scale[n]);
      sum_lost = sum(sum_lost, part, trial);
      store(own, points, sum(trial, -part, trial));
    }
    store(lost + n, points, sum_lost);
  }
}
