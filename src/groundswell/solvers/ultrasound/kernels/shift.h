// Multiplication, in place, of a field (NZ, NY, NX) by a bell function of the position along one
// axis, and of a spectrum (NZ, NY, MX) by complex factors of the wavenumbers along one axis.
#include "portable.h"

struct Complex {
  real re, im;
};

template <int AXIS> INLINE void shift(Complex* RESTRICT values, const Complex* RESTRICT factors) {
  FOR_CELLS(i, MX, j, NY, k, NZ) {
    const index_t m = (static_cast<index_t>(k) * NY + j) * MX + i;
    const Complex a = factors[AXIS == 0 ? i : AXIS == 1 ? j : k], b = values[m];
    values[m] = {FMA(a.re, b.re, -(a.im * b.im)), FMA(a.re, b.im, a.im * b.re)};
  }
}

KERNEL shift_x(Complex* values, const Complex* factors) { shift<0>(values, factors); }

KERNEL shift_y(Complex* values, const Complex* factors) { shift<1>(values, factors); }

KERNEL shift_z(Complex* values, const Complex* factors) { shift<2>(values, factors); }

template <int AXIS> INLINE void taper(real* RESTRICT values, const real* RESTRICT bell) {
  FOR_CELLS(i, NX, j, NY, k, NZ) {
    const index_t n = (static_cast<index_t>(k) * NY + j) * NX + i;
    values[n] *= bell[AXIS == 0 ? i : AXIS == 1 ? j : k];
  }
}

KERNEL taper_x(real* values, const real* bell) { taper<0>(values, bell); }

KERNEL taper_y(real* values, const real* bell) { taper<1>(values, bell); }

KERNEL taper_z(real* values, const real* bell) { taper<2>(values, bell); }
