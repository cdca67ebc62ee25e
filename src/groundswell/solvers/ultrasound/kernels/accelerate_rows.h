// The pass along x of the k-space scheme that updates the velocities.
#include "rows.h"

// The distance from pair n of a row of `count` pairs, `stride` apart, to the next one; the grid is
// periodic.
INLINE index_t to_next(int n, int count, index_t stride) {
  return n < count - 1 ? stride : (1 - count) * stride;
}

// rho_0 at pressure points: a field or, with CLASSES, a table.
struct Density {
  const real* RESTRICT values;
  const Class* RESTRICT classes;

  METHOD Complex at(index_t pair) const { return property(values, false, place_of(classes, pair)); }
  METHOD real first_of(index_t pair) const {
    return CLASSES ? values[classes[2 * pair]] : values[2 * pair];
  }
};

// dt / rho_0 at velocity points, which is `values`. With MEAN_DENSITY, `values` is rho_0 at pressure
// points, and velocity points have the mean of two.
INLINE Complex step_over_density(const real* RESTRICT values, const Class* RESTRICT classes,
                                 int axis, Worker w, int n) {
  const index_t pair = w.pair(n);
  if (UNIFORM_DENSITY) return {values[0], values[0]};
  if (!MEAN_DENSITY) return load_pair(values, pair);
  const Density density{values, classes};
  const Complex here = density.at(pair);
  Complex next = {here.im, REAL(0)};
  if (axis == 0) next.im = density.first_of(pair + to_next(n, MX, 1));
  if (axis == 1) next = density.at(pair + to_next(w.y(), NY, MX));
  if (axis == 2) next = density.at(pair + to_next(w.z(), NZ, static_cast<index_t>(NY) * MX));
  return {REAL(2) * DT * RECIPROCAL(here.re + next.re),
          REAL(2) * DT * RECIPROCAL(here.im + next.im)};
}

INLINE void prefetch_density(Worker w, const real* values, const Class* classes) {
  if (CLASSES && MEAN_DENSITY) prefetch_classes(w, classes);
  else if (!UNIFORM_DENSITY) prefetch_field(w, values);
}

// u <- s (s u - dt / rho_0 dp), with the factor s of the absorbing layer and the density at
// velocity points, plus sources. Their U_TERMS terms are those of u_x, of u_y from UY_TERM on, and
// of u_z from UZ_TERM on. The spectrum of dp becomes that of u, except for the axes in DEFERRED
// (bits), whose transforms follow later.
KERNEL accelerate(real* ux, real* uy, real* uz, Complex* spectrum_x, Complex* spectrum_y,
                  Complex* spectrum_z, const real* RESTRICT layer_x, const real* RESTRICT layer_y,
                  const real* RESTRICT layer_z, const real* RESTRICT density_x,
                  const real* RESTRICT density_y, const real* RESTRICT density_z,
                  const Class* RESTRICT classes, const real* RESTRICT source_fields,
                  const real* RESTRICT source_signals, const long long* RESTRICT clock,
                  index_t samples, const Complex* RESTRICT roots, const Complex* RESTRICT twiddles,
                  const int* RESTRICT rows, index_t count) {
  FOR_ROWS(w, 3, twiddles, rows, count) {
    const int axis = e % 3;
    real* const u = select(axis, ux, uy, uz);
    Complex* const spectrum = select(axis, spectrum_x, spectrum_y, spectrum_z);
    const real* const layer = select(axis, layer_x, layer_y, layer_z);
    const real* const density = select(axis, density_x, density_y, density_z);
    const Sources<U_TERMS> sources{source_fields, source_signals, clock, samples};
    const int first_term = select(axis, 0, UY_TERM, UZ_TERM),
              last_term = select(axis, UY_TERM, UZ_TERM, U_TERMS);
    prefetch_field(w, u);
    prefetch_density(w, density, classes);
    inverse_rows(w, spectrum, roots, [&](int first, Complex(&v)[R]) {
      UNROLL
      for (int m = 0; m < R; ++m) {
        const int n = first + m * STRIDE;
        const Complex weight = step_over_density(density, classes, axis, w, n);
        v[m] = advanced(load_pair(u, w.pair(n)), layer_at(layer, axis, w, n), weight, v[m]);
        if (U_TERMS) sources.add(v[m], w.pair(n), first_term, last_term);
        store_pair(u, w.pair(n), v[m]);
      }
      put(v, w, 0, first);
    });
    if (DEFERRED >> axis & 1) return;
    end_forward(w, 0);
    store_spectrum(w, 0, spectrum, roots);
  }
}
