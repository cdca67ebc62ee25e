// The passes along x of the k-space scheme that update the density and the pressure.
#include "rows.h"

// p = c^2 (rho + B/(2A) rho^2 / rho_0 + tau rate - eta dispersion). `nonlinearity` is B/(2A rho_0).
struct Coefficients {
  Complex speed_squared, nonlinearity, tau, eta;
};
struct alignas(STATE_VALUES * sizeof(real)) StateRecord {
  real speed_squared, nonlinearity, tau, eta;
};
struct State {
  const real* RESTRICT speed_squared;
  const real* RESTRICT nonlinearity;
  const real* RESTRICT tau;
  const real* RESTRICT eta;

  METHOD Complex pressure(Place place, Complex rho, Complex rate, Complex dispersion) const {
    const Coefficients of = coefficients(place);
    Complex sum = rho;
    if (NONLINEAR) sum = multiply_add(multiply(of.nonlinearity, rho), rho, sum);
    if (ABSORBING) sum = multiply_add(of.tau, rate, sum);
    if (DISPERSIVE) sum = multiply_add(REAL(-1) * of.eta, dispersion, sum);
    return multiply(of.speed_squared, sum);
  }

  // With CLASSES, a thread reads records, whose first values are `speed_squared`.
  METHOD Coefficients coefficients(Place place) const {
    if (CLASSES) {
      const StateRecord* const records = reinterpret_cast<const StateRecord*>(speed_squared);
      const StateRecord a = records[place.classes.re], b = records[place.classes.im];
      return {{a.speed_squared, b.speed_squared},
              {a.nonlinearity, b.nonlinearity},
              {a.tau, b.tau},
              {a.eta, b.eta}};
    }
    Coefficients found = {property(speed_squared, UNIFORM_SPEED, place)};
    if (NONLINEAR) found.nonlinearity = property(nonlinearity, UNIFORM_NONLINEARITY, place);
    if (ABSORBING) found.tau = property(tau, UNIFORM_ABSORPTION, place);
    if (DISPERSIVE) found.eta = property(eta, UNIFORM_ABSORPTION, place);
    return found;
  }
};

// Of the split densities and the classes of a row. Where the medium has fields of properties, this
// gains nothing.
INLINE void prefetch_densities(Worker w, const real* rho_x, const real* rho_y, const real* rho_z,
                               const Class* classes) {
  prefetch_field(w, rho_x);
  prefetch_field(w, rho_y);
  prefetch_field(w, rho_z);
  if (CLASSES) prefetch_classes(w, classes);
}

// rho_i <- q (q rho_i - dt r du_i/di) with r = rho_0, or rho_0 + 2 rho in a nonlinear medium, plus
// sources of P_TERMS terms. The spectra are those of du_i/di. Results:
//   STATE_FOLLOWS   p by the equation of state; the first spectrum becomes that of p
//   FRACTIONAL      the first spectrum becomes that of rho_0 div u; unless sources DEFER_DENSITY,
//                   the second one becomes that of the density. With OVERLAPS, p and `total` become
//                   these two
//   otherwise       p becomes rho_0 div u in an ABSORBING medium
// With DEFER_SPECTRA, the spectra need values of overlaps. They remain as they are; later launches
// find them.
KERNEL compress(real* RESTRICT rho_x, real* RESTRICT rho_y, real* RESTRICT rho_z,
                Complex* spectrum_x, Complex* spectrum_y, Complex* spectrum_z, real* RESTRICT p,
                const real* RESTRICT layer_x, const real* RESTRICT layer_y,
                const real* RESTRICT layer_z, const real* RESTRICT density,
                const Class* RESTRICT classes, const real* RESTRICT speed_squared,
                const real* RESTRICT nonlinearity, const real* RESTRICT tau, real* RESTRICT total,
                const real* RESTRICT source_fields, const real* RESTRICT source_signals,
                const long long* RESTRICT clock, index_t samples, const Complex* RESTRICT roots,
                const Complex* RESTRICT twiddles, const int* RESTRICT rows, index_t count) {
  constexpr bool RATE = FRACTIONAL && ABSORBING, TOTAL = DISPERSIVE && !DEFER_DENSITY;
  constexpr bool FIRST = (STATE_FOLLOWS || RATE) && !DEFER_SPECTRA,
                 SECOND = TOTAL && !DEFER_SPECTRA;
  FOR_ROWS(w, 1, twiddles, rows, count) {
    const State state{speed_squared, nonlinearity, tau, nullptr};
    const Sources<P_TERMS> sources{source_fields, source_signals, clock, samples};
    if (CLASSES || UNIFORM_DENSITY) prefetch_densities(w, rho_x, rho_y, rho_z, classes);
    load_spectrum(w, 0, spectrum_x, roots);
    load_spectrum(w, 1, spectrum_y, roots);
    load_spectrum(w, 2, spectrum_z, roots);
    begin_inverse(w, 0, 1, 2);
    Outermost::butterflies(w.thread, [&](int first) {
      Complex x[R], y[R], z[R];
      get(x, w, 0, first);
      get(y, w, 1, first);
      get(z, w, 2, first);
      UNROLL
      for (int m = 0; m < R; ++m) {
        const int n = first + m * STRIDE;
        const index_t pair = w.pair(n);
        const Place place = place_of(classes, pair);
        const Complex rho_0 = property(density, UNIFORM_DENSITY, place);
        const Complex rate = multiply(rho_0, x[m] + y[m] + z[m]);
        Complex rx = load_pair(rho_x, pair), ry = load_pair(rho_y, pair),
                rz = load_pair(rho_z, pair);
        const Complex weight = DT * (NONLINEAR ? rho_0 + REAL(2) * (rx + ry + rz) : rho_0);
        rx = advanced(rx, layer_at(layer_x, 0, w, n), weight, x[m]);
        ry = advanced(ry, layer_at(layer_y, 1, w, n), weight, y[m]);
        rz = advanced(rz, layer_at(layer_z, 2, w, n), weight, z[m]);
        if (P_TERMS) {
          Complex source = {0, 0};
          sources.add(source, pair, 0, P_TERMS);
          rx = rx + source;
          ry = ry + source;
          rz = rz + source;
        }
        store_pair(rho_x, pair, rx);
        store_pair(rho_y, pair, ry);
        store_pair(rho_z, pair, rz);
        x[m] = STATE_FOLLOWS ? state.pressure(place, rx + ry + rz, rate, rate) : rate;
        y[m] = rx + ry + rz;
        if (STATE_FOLLOWS || (ABSORBING && (OVERLAPS || !FRACTIONAL))) store_pair(p, pair, x[m]);
        if (OVERLAPS && TOTAL) store_pair(total, pair, y[m]);
      }
      if (FIRST) put(x, w, 0, first);
      if (SECOND) put(y, w, 1, first);
    });
    if (FIRST) end_forward(w, 0);
    if (SECOND) end_forward(w, 1);
    if (FIRST) store_spectrum(w, 0, spectrum_x, roots);
    if (SECOND) store_spectrum(w, 1, spectrum_y, roots);
  }
}

// The spectrum of the density, after sources have acted on it. With OVERLAPS, `total` becomes the
// density.
KERNEL forward_density(const real* rho_x, const real* rho_y, const real* rho_z, Complex* spectrum,
                       real* RESTRICT total, const Complex* RESTRICT roots,
                       const Complex* RESTRICT twiddles, const int* RESTRICT rows, index_t count) {
  FOR_ROWS(w, 1, twiddles, rows, count) {
    Outermost::butterflies(w.thread, [&](int first) {
      Complex v[R];
      UNROLL
      for (int m = 0; m < R; ++m) {
        const index_t pair = w.pair(first + m * STRIDE);
        v[m] = load_pair(rho_x, pair) + load_pair(rho_y, pair) + load_pair(rho_z, pair);
        if (OVERLAPS) store_pair(total, pair, v[m]);
      }
      if (!DEFER_SPECTRA) put(v, w, 0, first);
    });
    if (DEFER_SPECTRA) return;
    end_forward(w, 0);
    store_spectrum(w, 0, spectrum, roots);
  }
}

// The equation of state, from the spectra of the fractional Laplacians, or from rho_0 div u in p if
// not FRACTIONAL. The first spectrum becomes that of p, unless it needs values of overlaps.
KERNEL find_pressure(real* RESTRICT p, const real* RESTRICT rho_x, const real* RESTRICT rho_y,
                     const real* RESTRICT rho_z, Complex* spectrum_rate,
                     const Complex* spectrum_density, const Class* RESTRICT classes,
                     const real* RESTRICT speed_squared, const real* RESTRICT nonlinearity,
                     const real* RESTRICT tau, const real* RESTRICT eta,
                     const Complex* RESTRICT roots, const Complex* RESTRICT twiddles,
                     const int* RESTRICT rows, index_t count) {
  constexpr bool RATE = FRACTIONAL && ABSORBING;
  FOR_ROWS(w, 1, twiddles, rows, count) {
    const State state{speed_squared, nonlinearity, tau, eta};
    if (CLASSES) prefetch_densities(w, rho_x, rho_y, rho_z, classes);
    if (RATE) load_spectrum(w, 0, spectrum_rate, roots);
    if (DISPERSIVE) load_spectrum(w, 1, spectrum_density, roots);
    if (RATE && DISPERSIVE) begin_inverse(w, 0, 1);
    if (RATE && !DISPERSIVE) begin_inverse(w, 0);
    if (!RATE && DISPERSIVE) begin_inverse(w, 1);
    Outermost::butterflies(w.thread, [&](int first) {
      Complex rate[R], dispersion[R];
      if (RATE) get(rate, w, 0, first);
      if (DISPERSIVE) get(dispersion, w, 1, first);
      UNROLL
      for (int m = 0; m < R; ++m) {
        const index_t pair = w.pair(first + m * STRIDE);
        const Complex rho =
            load_pair(rho_x, pair) + load_pair(rho_y, pair) + load_pair(rho_z, pair);
        if (ABSORBING && !FRACTIONAL) rate[m] = load_pair(p, pair);
        rate[m] = state.pressure(place_of(classes, pair), rho, rate[m], dispersion[m]);
        store_pair(p, pair, rate[m]);
      }
      if (!DEFER_SPECTRA) put(rate, w, 0, first);
    });
    if (DEFER_SPECTRA) return;
    end_forward(w, 0);
    store_spectrum(w, 0, spectrum_rate, roots);
  }
}
