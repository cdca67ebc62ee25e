// One step of the k-space pseudospectral method; see propagation.py for the order of the kernels.
//
// Real arrays are (NZ, NY, NX), spectra (NZ, NY, MX) with MX = NX / 2 + 1. A property of the medium
// has one value per point, or a single value if its constant UNIFORM_... is set; see also classes.h.
// For the perfectly matched layers, the density is split along the coordinate axes, of which there
// are AXES (2 or 3).
#include "classes.h"

struct Complex {
  real re, im;
};

INLINE Complex product(Complex a, Complex b) {
  return {FMA(a.re, b.re, -(a.im * b.im)), FMA(a.re, b.im, a.im * b.re)};
}

INLINE index_t point(int i, int j, int k) { return (static_cast<index_t>(k) * NY + j) * NX + i; }

INLINE index_t mode(int i, int j, int k) { return (static_cast<index_t>(k) * NY + j) * MX + i; }

template <int AXIS> INLINE int along(int i, int j, int k) {
  return AXIS == 0 ? i : AXIS == 1 ? j : k;
}

// --- in the spectrum -----------------------------------------------------------------------------

// Derivative of `in` along an axis: `factors` depend on the wavenumber along it.
template <int AXIS>
INLINE void derivative(Complex* RESTRICT out, const Complex* RESTRICT in,
                       const Complex* RESTRICT factors, const real* RESTRICT kappa) {
  FOR_CELLS(i, MX, j, NY, k, NZ) {
    const index_t m = mode(i, j, k);
    const Complex d = product(factors[along<AXIS>(i, j, k)], in[m]);
    out[m] = {kappa[m] * d.re, kappa[m] * d.im};
  }
}

KERNEL derivative_x(Complex* out, const Complex* in, const Complex* factors, const real* kappa) {
  derivative<0>(out, in, factors, kappa);
}

KERNEL derivative_y(Complex* out, const Complex* in, const Complex* factors, const real* kappa) {
  derivative<1>(out, in, factors, kappa);
}

KERNEL derivative_z(Complex* out, const Complex* in, const Complex* factors, const real* kappa) {
  derivative<2>(out, in, factors, kappa);
}

// Multiplication by real factors, in place.
KERNEL scale(Complex* RESTRICT values, const real* RESTRICT factors) {
  FOR_CELLS(i, MX, j, NY, k, NZ) {
    const index_t m = mode(i, j, k);
    values[m] = {factors[m] * values[m].re, factors[m] * values[m].im};
  }
}

// --- at points -----------------------------------------------------------------------------------

#if MEAN_DENSITY_OF_CLASSES

// dt / rho_0 at the velocity point between a point and the next one along an axis; the grid is
// periodic. In double precision, it has the bits of the field that is stored without CLASSES.
template <int AXIS>
INLINE real step_over_density_at(const double* RESTRICT density, const Class* RESTRICT classes,
                                 int i, int j, int k) {
  const index_t next = AXIS == 0   ? point(i < NX - 1 ? i + 1 : 0, j, k)
                       : AXIS == 1 ? point(i, j < NY - 1 ? j + 1 : 0, k)
                                   : point(i, j, k < NZ - 1 ? k + 1 : 0);
  const double sum = density[classes[point(i, j, k)]] + density[classes[next]];
  return static_cast<real>(STEP / (sum / 2));
}
typedef double DensityValue;

#else

template <int AXIS>
INLINE real step_over_density_at(const real* RESTRICT step_over_density, const Class*, int i, int j,
                                 int k) {
  return step_over_density[UNIFORM_DENSITY ? 0 : point(i, j, k)];
}
typedef real DensityValue;

#endif

// u <- s (s u - dt / rho_0 dp), with the factor s of the absorbing layer and the density at
// velocity points. `density` is dt / rho_0 there or, with MEAN_DENSITY_OF_CLASSES, a table of rho_0.
template <int AXIS>
INLINE void accelerate(real* RESTRICT u, const real* RESTRICT gradient, const real* RESTRICT layer,
                       const DensityValue* RESTRICT density, const Class* RESTRICT classes) {
  FOR_CELLS(i, NX, j, NY, k, NZ) {
    const index_t c = point(i, j, k);
    const real s = layer[along<AXIS>(i, j, k)];
    const real weight = step_over_density_at<AXIS>(density, classes, i, j, k);
    u[c] = s * FMA(-weight, gradient[c], s * u[c]);
  }
}

KERNEL accelerate_x(real* u, const real* gradient, const real* layer, const DensityValue* density,
                    const Class* classes) {
  accelerate<0>(u, gradient, layer, density, classes);
}

KERNEL accelerate_y(real* u, const real* gradient, const real* layer, const DensityValue* density,
                    const Class* classes) {
  accelerate<1>(u, gradient, layer, density, classes);
}

KERNEL accelerate_z(real* u, const real* gradient, const real* layer, const DensityValue* density,
                    const Class* classes) {
  accelerate<2>(u, gradient, layer, density, classes);
}

// rho_i <- q (q rho_i - dt r du_i/di) with r = rho_0, or rho_0 + 2 rho in a nonlinear medium. In an
// ABSORBING medium, d_x then becomes rho_0 div u.
KERNEL compress(real* rho_x, real* rho_y, real* rho_z, real* d_x, const real* d_y, const real* d_z,
                const real* layer_x, const real* layer_y, const real* layer_z, const real* density,
                const Class* classes) {
  FOR_CELLS(i, NX, j, NY, k, NZ) {
    const index_t c = point(i, j, k);
    const real rho_0 = UNIFORM_DENSITY ? density[0] : density[CLASSES ? classes[c] : c];
    real total = rho_x[c] + rho_y[c];
    real divergence = d_x[c] + d_y[c];
    if (AXES == 3) {
      total += rho_z[c];
      divergence += d_z[c];
    }
    const real weight = DT * (NONLINEAR ? FMA(REAL(2), total, rho_0) : rho_0);
    rho_x[c] = layer_x[i] * FMA(-weight, d_x[c], layer_x[i] * rho_x[c]);
    rho_y[c] = layer_y[j] * FMA(-weight, d_y[c], layer_y[j] * rho_y[c]);
    if (AXES == 3) rho_z[c] = layer_z[k] * FMA(-weight, d_z[c], layer_z[k] * rho_z[c]);
    if (ABSORBING) d_x[c] = rho_0 * divergence;
  }
}

// The sum of the split densities, of which the fractional Laplacian of the dispersion is taken.
KERNEL total_density(real* total, const real* rho_x, const real* rho_y, const real* rho_z) {
  FOR_CELLS(i, NX, j, NY, k, NZ) {
    const index_t c = point(i, j, k);
    total[c] = AXES == 3 ? rho_x[c] + rho_y[c] + rho_z[c] : rho_x[c] + rho_y[c];
  }
}

// p = c^2 (rho + B/(2A) rho^2 / rho_0 + tau absorption - eta dispersion). `nonlinearity` is B/(2A
// rho_0).
KERNEL equation_of_state(real* p, const real* rho_x, const real* rho_y, const real* rho_z,
                         const Class* classes, const real* speed_squared, const real* nonlinearity,
                         const real* tau, const real* eta, const real* absorption,
                         const real* dispersion) {
  FOR_CELLS(i, NX, j, NY, k, NZ) {
    const index_t c = point(i, j, k), m = CLASSES ? STATE_VALUES * classes[c] : c;
    const real rho = AXES == 3 ? rho_x[c] + rho_y[c] + rho_z[c] : rho_x[c] + rho_y[c];
    real sum = rho;
    if (NONLINEAR) sum = FMA(nonlinearity[UNIFORM_NONLINEARITY ? 0 : m] * rho, rho, sum);
    if (ABSORBING) sum = FMA(tau[UNIFORM_ABSORPTION ? 0 : m], absorption[c], sum);
    if (DISPERSIVE) sum = FMA(-eta[UNIFORM_ABSORPTION ? 0 : m], dispersion[c], sum);
    p[c] = speed_squared[UNIFORM_SPEED ? 0 : m] * sum;
  }
}

KERNEL clear(real* values) {
  FOR_CELLS(i, NX, j, NY, k, NZ) { values[point(i, j, k)] = 0; }
}

KERNEL add(real* RESTRICT values, const real* RESTRICT others) {
  FOR_CELLS(i, NX, j, NY, k, NZ) { values[point(i, j, k)] += others[point(i, j, k)]; }
}

// Adds sources that are sums of products of a field and a signal, at the current step: fields are
// (terms, NZ, NY, NX), signals (samples, terms).
KERNEL add_terms(real* RESTRICT values, const real* RESTRICT fields, const real* RESTRICT signals,
                 const long long* clock, index_t terms, index_t samples) {
  const index_t step = *clock;
  if (step >= samples) return;
  FOR_CELLS(i, NX, j, NY, k, NZ) {
    const index_t c = point(i, j, k);
    real sum = values[c];
    for (index_t n = 0; n < terms; ++n)
      sum = FMA(signals[step * terms + n], fields[n * static_cast<index_t>(NX) * NY * NZ + c], sum);
    values[c] = sum;
  }
}

// --- overlaps ------------------------------------------------------------------------------------

// Multiply the first and the last `overlap` points along an axis by the bell function.
template <int AXIS>
INLINE void taper(real* RESTRICT values, const real* RESTRICT bell, index_t overlap) {
  const int twice = static_cast<int>(2 * overlap);
  FOR_CELLS(i, AXIS == 0 ? twice : NX, j, AXIS == 1 ? twice : NY, k, AXIS == 2 ? twice : NZ) {
    const int n = along<AXIS>(i, j, k);
    const int length = AXIS == 0 ? NX : AXIS == 1 ? NY : NZ;
    const int place = n < overlap ? n : length - twice + n;
    const index_t c = point(AXIS == 0 ? place : i, AXIS == 1 ? place : j, AXIS == 2 ? place : k);
    values[c] *= bell[n];
  }
}

KERNEL taper_x(real* values, const real* bell, index_t overlap) { taper<0>(values, bell, overlap); }

KERNEL taper_y(real* values, const real* bell, index_t overlap) { taper<1>(values, bell, overlap); }

KERNEL taper_z(real* values, const real* bell, index_t overlap) { taper<2>(values, bell, overlap); }
