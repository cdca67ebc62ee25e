// Transforms along y and z of one step of the k-space scheme, and the operators between them.
//
// A spectrum stores the wavenumbers k_x < MX = NX / 2 in segments of WIDTH, (MX / WIDTH, NZ, NY,
// WIDTH), followed by those of k_x = MX, (NZ, NY). Axes y and z that have been transformed are in
// digit-reversed order, as are the tables of k_y and k_z. A block transforms WIDTH x GROUP lines at
// a time: those of neighbouring k_x, and of neighbouring z or y. Each line has LINE_THREADS
// threads.
#include "fft.h"

constexpr int LANES = WIDTH * GROUP;  // lines of a block
using FourierY = Fourier<NY, LINE_THREADS, RADICES_Y>;
using FourierZ = Fourier<NZ, LINE_THREADS, RADICES_Z>;
using Line = SharedLine<LANES, LINE_GAP>;

constexpr int SEGMENTS = MX / WIDTH;
constexpr index_t NYQUIST = static_cast<index_t>(MX) * NY * NZ;

// A line in device memory: its first value, its stride, its wavenumber along x, and its position
// along the third axis. The lines of k_x = MX are grouped with those of other z or y; if there are
// too few, a block repeats the last one.
struct DeviceLine {
  index_t first;
  int stride, kx, other;
  METHOD index_t operator()(int n) const { return first + static_cast<index_t>(n) * stride; }
};

// The same line, hidden from the compiler. It then recomputes the addresses for stores instead of
// keeping those of loads in registers.
INLINE DeviceLine again(DeviceLine line) {
  line.stride = forget(line.stride);
  return line;
}

INLINE DeviceLine line_along_y(int segment, int part, int lane) {
  if (segment < SEGMENTS) {
    const int z = min(part * GROUP + lane / WIDTH, NZ - 1), k = lane % WIDTH;
    const index_t row = static_cast<index_t>(segment) * NZ + z;
    return {row * NY * WIDTH + k, WIDTH, segment * WIDTH + k, z};
  }
  const int z = min(part * LANES + lane, NZ - 1);
  return {NYQUIST + static_cast<index_t>(z) * NY, 1, MX, z};
}

INLINE DeviceLine line_along_z(int segment, int part, int lane) {
  if (segment < SEGMENTS) {
    const int y = min(part * GROUP + lane / WIDTH, NY - 1), k = lane % WIDTH;
    const index_t first = (static_cast<index_t>(segment) * NZ * NY + y) * WIDTH + k;
    return {first, NY * WIDTH, segment * WIDTH + k, y};
  }
  const int y = min(part * LANES + lane, NY - 1);
  return {NYQUIST + y, NY, MX, y};
}

// Accesses that bypass the L1 cache, which does not see writes of other multiprocessors. LAST marks
// the last store of a value, which the L2 cache may then evict first.
#ifdef DOUBLE_PRECISION
typedef double2 Pair;
#else
typedef float2 Pair;
#endif

INLINE Complex load(const Complex* address) {
  const Pair pair = __ldcg(reinterpret_cast<const Pair*>(address));
  return {pair.x, pair.y};
}

template <bool LAST> INLINE void store(Complex* address, Complex value) {
  const Pair pair = {value.re, value.im};
  if (LAST) __stcs(reinterpret_cast<Pair*>(address), pair);
  else __stcg(reinterpret_cast<Pair*>(address), pair);
}

// The work of a thread of a block: a line in shared memory, and a second one in kernels that need
// it.
struct Worker {
  int lane, thread;
  Line line, second;
};

INLINE Worker worker(Complex* memory, int length) {
  const int lane = threadIdx.x % LANES, thread = threadIdx.x / LANES;
  return {lane, thread, {memory + lane}, {memory + Line::place(length) + lane}};
}

// Calls body(values, first) for the innermost butterflies, between the stages of two transforms.
template <class F, class Body> INLINE void innermost(int thread, Body body) {
  F::Innermost::butterflies(thread, [&](int first) {
    Complex v[F::LAST_RADIX];
    body(v, first);
  });
}

// Forward stages, from device memory up to the innermost one.
template <class F>
INLINE void begin_forward(Worker w, const Complex* twiddles, const Complex* in, DeviceLine place) {
  F::Outermost::butterflies(w.thread, [&](int first) {
    Complex v[F::FIRST_RADIX];
    UNROLL
    for (int m = 0; m < F::FIRST_RADIX; ++m)
      v[m] = load(in + place(first + m * F::Outermost::STRIDE));
    F::Outermost::forward(v, w.line, first, twiddles);
  });
  F::template middle<FORWARD>(w.thread, twiddles, w.line);
  BARRIER();
}

template <bool LAST, class F>
INLINE void outermost_inverse(int thread, Line line, const Complex* twiddles, Complex* out,
                              DeviceLine place) {
  F::Outermost::butterflies(thread, [&](int first) {
    Complex v[F::FIRST_RADIX];
    F::Outermost::inverse(v, line, first, twiddles);
    UNROLL
    for (int m = 0; m < F::FIRST_RADIX; ++m)
      store<LAST>(out + place(first + m * F::Outermost::STRIDE), v[m]);
  });
}

// Inverse stages, from the innermost one to device memory.
template <bool LAST, class F>
INLINE void end_inverse(Worker w, const Complex* twiddles, Complex* out, DeviceLine place) {
  F::template middle<INVERSE>(w.thread, twiddles, w.line);
  BARRIER();
  outermost_inverse<LAST, F>(w.thread, w.line, twiddles, out, again(place));
}

// The same for both lines.
template <bool LAST, class F>
INLINE void end_inverses(Worker w, const Complex* twiddles, Complex* out, Complex* other,
                         DeviceLine place) {
  F::template middle<INVERSE>(w.thread, twiddles, w.line, w.second);
  BARRIER();
  outermost_inverse<LAST, F>(w.thread, w.line, twiddles, out, again(place));
  outermost_inverse<LAST, F>(w.thread, w.second, twiddles, other, again(place));
}

// Multiplies a spectrum by factor(place of k_z) between its transforms along z, in place.
template <class Factor>
INLINE void scale_along_z(Worker w, const Complex* twiddles, Complex* spectrum, DeviceLine place,
                          Factor factor) {
  begin_forward<FourierZ>(w, twiddles, spectrum, place);
  innermost<FourierZ>(w.thread, [&](Complex(&v)[FourierZ::LAST_RADIX], int first) {
    FourierZ::Innermost::get(v, w.line, first);
    transform<FORWARD>(v);
    UNROLL
    for (int m = 0; m < FourierZ::LAST_RADIX; ++m) v[m] = factor(first + m) * v[m];
    transform<INVERSE>(v);
    FourierZ::Innermost::put(v, w.line, first);
  });
  end_inverse<false, FourierZ>(w, twiddles, spectrum, place);
}

// --- factors of the spectrum ---------------------------------------------------------------------

// Terms of sin(x) / x (ODD = 1) or cos x (ODD = 0) in powers of x^2.
template <int ODD> struct Terms {
  real coefficient[SERIES_TERMS];
  METHOD constexpr Terms() : coefficient{} {
    double term = 1;
    for (int n = 0; n < SERIES_TERMS; ++n) {
      coefficient[n] = static_cast<real>(term);
      term /= -(2.0 * n + 1 + ODD) * (2 * n + 2 + ODD);
    }
  }
};

template <int ODD> INLINE real even_series(real square) {
  constexpr Terms<ODD> terms;
  real sum = terms.coefficient[SERIES_TERMS - 1];
  UNROLL
  for (int n = SERIES_TERMS - 2; n >= 0; --n) sum = FMA(sum, square, terms.coefficient[n]);
  return sum;
}

// The k-space correction and that of sources, for (c_ref |k| dt / 2)^2.
INLINE real kappa(real square) { return even_series<1>(square); }
INLINE real source_kappa(real square) { return REAL(SOURCE_SCALE) * even_series<0>(square); }

INLINE real power(real x, real exponent) {
#ifdef DOUBLE_PRECISION
  return x > 0 ? exp2(exponent * log2(x)) : 0;
#else
  return x > 0 ? exp2f(exponent * log2f(x)) : 0;
#endif
}

// --- one line of a pass --------------------------------------------------------------------------

// Place in device memory of value m of the innermost butterfly that starts at `first`. Values of
// neighbouring threads are adjacent.
INLINE int stored(int first, int m) {
  constexpr int RADIX = FourierY::LAST_RADIX;
  return m * (NY / RADIX) + first / RADIX;
}

INLINE void forward_along_y(Worker w, const Complex* twiddles, Complex* spectrum,
                            DeviceLine place) {
  begin_forward<FourierY>(w, twiddles, spectrum, place);
  innermost<FourierY>(w.thread, [&](Complex(&v)[FourierY::LAST_RADIX], int first) {
    FourierY::Innermost::get(v, w.line, first);
    transform<FORWARD>(v);
    UNROLL
    for (int m = 0; m < FourierY::LAST_RADIX; ++m)
      store<false>(spectrum + place(stored(first, m)), v[m]);
  });
}

INLINE void inverse_along_y(Worker w, const Complex* twiddles, Complex* spectrum,
                            DeviceLine place) {
  innermost<FourierY>(w.thread, [&](Complex(&v)[FourierY::LAST_RADIX], int first) {
    UNROLL
    for (int m = 0; m < FourierY::LAST_RADIX; ++m) v[m] = load(spectrum + place(stored(first, m)));
    transform<INVERSE>(v);
    FourierY::Innermost::put(v, w.line, first);
  });
  end_inverse<true, FourierY>(w, twiddles, spectrum, place);
}

// Inverse transforms of the derivatives of `a` along x, in place, and along y.
INLINE void gradient_along_y(Worker w, const Complex* twiddles, Complex* a, Complex* along_y,
                             DeviceLine place, const Complex* dx, const Complex* dy) {
  const Complex x = dx[place.kx];
  innermost<FourierY>(w.thread, [&](Complex(&v)[FourierY::LAST_RADIX], int first) {
    Complex other[FourierY::LAST_RADIX];
    UNROLL
    for (int m = 0; m < FourierY::LAST_RADIX; ++m) v[m] = load(a + place(stored(first, m)));
    UNROLL
    for (int m = 0; m < FourierY::LAST_RADIX; ++m) other[m] = dy[stored(first, m)] * v[m];
    UNROLL
    for (int m = 0; m < FourierY::LAST_RADIX; ++m) v[m] = x * v[m];
    transform<INVERSE>(v);
    FourierY::Innermost::put(v, w.line, first);
    transform<INVERSE>(other);
    FourierY::Innermost::put(other, w.second, first);
  });
  end_inverses<true, FourierY>(w, twiddles, a, along_y, place);
}

// Squares (c_ref k dt / 2)^2 of the wavenumbers along each axis.
struct Squares {
  const real *x, *y, *z;
  METHOD real across(DeviceLine line) const { return x[line.kx] + y[line.other]; }
};

// kappa P, in place, and its derivative along z.
INLINE void gradient_along_z(Worker w, const Complex* twiddles, Complex* p, Complex* along_z,
                             DeviceLine place, Squares squares, const Complex* dz) {
  const real across = squares.across(place);
  begin_forward<FourierZ>(w, twiddles, p, place);
  innermost<FourierZ>(w.thread, [&](Complex(&v)[FourierZ::LAST_RADIX], int first) {
    Complex other[FourierZ::LAST_RADIX];
    FourierZ::Innermost::get(v, w.line, first);
    transform<FORWARD>(v);
    UNROLL
    for (int m = 0; m < FourierZ::LAST_RADIX; ++m)
      v[m] = kappa(across + squares.z[first + m]) * v[m];
    UNROLL
    for (int m = 0; m < FourierZ::LAST_RADIX; ++m) other[m] = dz[first + m] * v[m];
    transform<INVERSE>(v);
    FourierZ::Innermost::put(v, w.line, first);
    transform<INVERSE>(other);
    FourierZ::Innermost::put(other, w.second, first);
  });
  end_inverses<false, FourierZ>(w, twiddles, p, along_z, place);
}

// kappa times the derivative along an axis, in place.
INLINE void derivative_along_z(Worker w, const Complex* twiddles, Complex* spectrum,
                               DeviceLine place, int axis, Squares squares, const Complex* dx,
                               const Complex* dy, const Complex* dz) {
  const real square = squares.across(place);
  const Complex across = axis == 0 ? dx[place.kx] : dy[place.other];
  scale_along_z(w, twiddles, spectrum, place,
                [&](int z) { return kappa(square + squares.z[z]) * (axis == 2 ? dz[z] : across); });
}

// A fractional Laplacian, in place: of the rate of density for the absorption, or of the density.
INLINE void laplacian_along_z(Worker w, const Complex* twiddles, Complex* spectrum,
                              DeviceLine place, bool absorbs, Squares squares) {
  const real exponent = absorbs ? RATE_EXPONENT : DENSITY_EXPONENT;
  const real scale = absorbs ? RATE_SCALE : DENSITY_SCALE;
  const real square = squares.across(place);
  scale_along_z(w, twiddles, spectrum, place,
                [&](int z) { return scale * power(square + squares.z[z], exponent); });
}
