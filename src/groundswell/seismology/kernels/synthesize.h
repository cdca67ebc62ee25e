// Spectra of seismograms from those of Green tensors: a product of matrices whose left factor, the
// spectra of the sources, is computed on the way.
#pragma once
#include "portable.h"

// Shapes of moment rates of area 1 that start at time 0; see green/synthesis.py.
constexpr int IMPULSE = 0, BRUNE = 1, COSINE = 2, TRIANGLE = 3;

struct Complex {
  real re, im;
};

INLINE Complex product(const Complex& a, const Complex& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// Sine and cosine of a in [-pi / 4, pi / 4], by Taylor's series to rounding in double precision.
INLINE real small_sine(real a) {
  const real s = a * a;
  real sum = REAL(-7.6471637318198164759e-13);
  sum = FMA(sum, s, REAL(1.6059043836821614599e-10));
  sum = FMA(sum, s, REAL(-2.5052108385441718775e-8));
  sum = FMA(sum, s, REAL(2.7557319223985890653e-6));
  sum = FMA(sum, s, REAL(-1.9841269841269841270e-4));
  sum = FMA(sum, s, REAL(8.3333333333333333333e-3));
  sum = FMA(sum, s, REAL(-1.6666666666666666667e-1));
  return FMA(sum * s, a, a);
}
INLINE real small_cosine(real a) {
  const real s = a * a;
  real sum = REAL(4.7794773323873852974e-14);
  sum = FMA(sum, s, REAL(-1.1470745597729724714e-11));
  sum = FMA(sum, s, REAL(2.0876756987868098979e-9));
  sum = FMA(sum, s, REAL(-2.7557319223985890653e-7));
  sum = FMA(sum, s, REAL(2.4801587301587301587e-5));
  sum = FMA(sum, s, REAL(-1.3888888888888888889e-3));
  sum = FMA(sum, s, REAL(4.1666666666666666667e-2));
  sum = FMA(sum, s, REAL(-0.5));
  return FMA(sum, s, REAL(1));
}

// exp(-2 pi i x). Whole turns are removed in double precision.
INLINE Complex turned(double x) {
  const double whole = static_cast<double>(static_cast<long long>(x + (x < 0 ? -0.5 : 0.5)));
  const double quarters = 4 * (x - whole);
  const int k = static_cast<int>(quarters + (quarters < 0 ? -0.5 : 0.5));
  const real a = static_cast<real>(1.5707963267948966192 * (quarters - k));
  const real s = small_sine(a), c = small_cosine(a);
  const real cosine = k & 1 ? s : c, sine = k & 1 ? c : s;
  // Quarters 1 and 2 (modulo 4) have a negative cosine, 2 and 3 a negative sine.
  return {(k + 1) & 2 ? -cosine : cosine, k & 2 ? sine : -sine};
}

// sin(pi x) / (pi x).
INLINE real sinc(real x) {
  const real small = REAL(1e-4);
  if (fabs(x) < small) return FMA(REAL(-1.6449340668482264365) * x, x, REAL(1));
  return -turned(0.5 * static_cast<double>(x)).im / (REAL(3.1415926535897932385) * x);
}

// The spectrum of a moment rate of area 1 with this rise time, at a frequency, times the phase of
// its onset.
INLINE Complex moment_rate(double frequency, double onset, real rise) {
  const real u = static_cast<real>(frequency) * rise;
  if (SHAPE == IMPULSE) return turned(frequency * onset);
  if (SHAPE == BRUNE) {
    const real x = REAL(6.2831853071795864769) * u, scale = 1 / (1 + x * x);
    const Complex pole = {scale, -x * scale};
    return product(turned(frequency * onset), product(pole, pole));
  }
  const Complex phase = turned(frequency * (onset + 0.5 * static_cast<double>(rise)));
  const real half = sinc(REAL(0.5) * u);
  // The second form is accurate where u is about 1, and both factors of the first vanish.
  const real size = SHAPE == TRIANGLE ? half * half
                    : u < REAL(0.5)   ? sinc(u) / (1 - u * u)
                                      : sinc(1 - u) / (u * (1 + u));
  return {size * phase.re, size * phase.im};
}

// Adds up the rows of a rupture, such as subfaults, for each variation.
//   seismograms [variations][components][frequencies], green [rows][components][frequencies],
//   complex; onset [variations][rows], s; amplitude and rise (s) [variations][rows or 1]
//   step [1]: of the frequencies, Hz
KERNEL synthesize(Complex* seismograms, const Complex* RESTRICT green, const double* RESTRICT onset,
                  const real* RESTRICT amplitude, const real* RESTRICT rise,
                  const double* RESTRICT step, index_t variations, index_t rows,
                  index_t frequencies, index_t amplitudes, index_t rises) {
  const index_t tiles = (frequencies + TILE - 1) / TILE;
  FOR_BLOCKS(e, variations * tiles) {
    const index_t v = e / tiles;
    FOR_EXACT_THREADS(t, TILE) {
      const index_t f = e % tiles * TILE + t;
      if (f < frequencies) {
        const double frequency = static_cast<double>(f) * step[0];
        Complex sum[COMPONENTS] = {};
        for (index_t r = 0; r < rows; ++r) {
          const real size = amplitude[v * amplitudes + (amplitudes > 1 ? r : 0)];
          const real time = rise[v * rises + (rises > 1 ? r : 0)];
          const Complex rate = moment_rate(frequency, onset[v * rows + r], time);
          const Complex source = {size * rate.re, size * rate.im};
          UNROLL
          for (int c = 0; c < COMPONENTS; ++c) {
            const Complex& g = green[(r * COMPONENTS + c) * frequencies + f];
            sum[c].re += source.re * g.re - source.im * g.im;
            sum[c].im += source.re * g.im + source.im * g.re;
          }
        }
        UNROLL
        for (int c = 0; c < COMPONENTS; ++c)
          seismograms[(v * COMPONENTS + c) * frequencies + f] = sum[c];
      }
    }
  }
}

// Multiplies green [rows][components][frequencies] with factors [rows][frequencies], all complex.
KERNEL multiply_rows(Complex* green, const Complex* RESTRICT factors, index_t rows,
                     index_t frequencies) {
  FOR_ITEMS(n, rows * COMPONENTS * frequencies) {
    const index_t r = n / (COMPONENTS * frequencies), f = n % frequencies;
    green[n] = product(green[n], factors[r * frequencies + f]);
  }
}
