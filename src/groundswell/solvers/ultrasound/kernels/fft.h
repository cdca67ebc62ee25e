// Fourier transforms of lines of N values in shared memory, by the threads of a GPU block.
//
// N is a product of radices R, R', ... Stage by stage, a transform splits a line of length L into R
// lines of length L / R (decimation in frequency, Cooley & Tukey 1965, Math. Comp. 19, 297-301). A
// thread holds the R values of a butterfly in registers. Each butterfly overwrites its own values,
// so the spectrum is in digit-reversed order: wavenumber k = q + R (q' + R' ...) is at the place q
// N / R + q' N / (R R') + ... The inverse transform starts from that order and runs through the
// stages backwards. Transforms are not scaled.
//
// The outermost stage has stride N / R, and the innermost one stride 1. Both are available as
// functions of a single butterfly, so that kernels can read and write other memory there, or start
// the inverse transform right after the innermost stage.
#pragma once
#include "portable.h"

struct alignas(2 * sizeof(real)) Complex {
  real re, im;
};

INLINE Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
INLINE Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
INLINE Complex operator*(real a, Complex b) { return {a * b.re, a * b.im}; }
INLINE Complex operator*(Complex a, Complex b) {
  return {FMA(a.re, b.re, -(a.im * b.im)), FMA(a.re, b.im, a.im * b.re)};
}
INLINE Complex conjugate(Complex a) { return {a.re, -a.im}; }

constexpr int FORWARD = -1, INVERSE = 1;  // signs of the exponent

// +- i a
template <int SIGN> INLINE Complex turned(Complex a) {
  return SIGN > 0 ? Complex{-a.im, a.re} : Complex{a.im, -a.re};
}

// --- roots of unity as compile-time constants ----------------------------------------------------

constexpr double TWO_PI = 6.283185307179586476925286766559;

// Sine (first = 1) or cosine (0) of |x| <= pi.
METHOD constexpr double series(double x, int first) {
  double sum = 0, term = first ? x : 1;
  for (int n = first; n < 40; n += 2) {
    sum += term;
    term *= -x * x / ((n + 1) * (n + 2));
  }
  return sum;
}

// Cosine and sine of 2 pi k / N.
template <int N> struct Roots {
  double cosine[N], sine[N];
  METHOD constexpr Roots() : cosine{}, sine{} {
    for (int k = 0; k < N; ++k) {
      const double angle = TWO_PI * (2 * k > N ? k - N : k) / N;
      cosine[k] = series(angle, 0);
      sine[k] = series(angle, 1);
    }
  }
};

// exp(+- 2 pi i k / N) a, for a k that is known after unrolling.
template <int SIGN, int N> INLINE Complex rotated(Complex a, int k) {
  constexpr Roots<N> roots;
  if (k == 0) return a;
  if (2 * k == N) return {-a.re, -a.im};
  if (4 * k == N) return turned<SIGN>(a);
  if (4 * k == 3 * N) return turned<-SIGN>(a);
  if (8 * k == N) return REAL(roots.cosine[k]) * (a + turned<SIGN>(a));
  if (8 * k == 3 * N) return REAL(roots.sine[k]) * (turned<SIGN>(a) - a);
  return Complex{REAL(roots.cosine[k]), REAL(SIGN * roots.sine[k])} * a;
}

// --- butterflies in registers --------------------------------------------------------------------

METHOD constexpr int smallest_factor(int n) {
  for (int r = 2; r * r <= n; ++r)
    if (n % r == 0) return r;
  return n;
}

METHOD constexpr int split(int n) { return n % 4 == 0 && n > 4 ? 4 : smallest_factor(n); }

// Transform of R values in place, in natural order.
template <int SIGN, int R> INLINE void transform(Complex (&v)[R]);

// The same for an odd prime: the terms of m and R - m are conjugates.
template <int SIGN, int R> INLINE void transform_prime(Complex (&v)[R]) {
  constexpr Roots<R> roots;
  constexpr int H = R / 2;
  Complex even[H], odd[H];
  const Complex mean = v[0];
  UNROLL
  for (int m = 1; m <= H; ++m) {
    even[m - 1] = v[m] + v[R - m];
    odd[m - 1] = v[m] - v[R - m];
    v[0] = v[0] + even[m - 1];
  }
  UNROLL
  for (int q = 1; q <= H; ++q) {
    Complex a = mean, b = {0, 0};
    UNROLL
    for (int m = 1; m <= H; ++m) {
      const real c = REAL(roots.cosine[m * q % R]), s = REAL(roots.sine[m * q % R]);
      a = {FMA(c, even[m - 1].re, a.re), FMA(c, even[m - 1].im, a.im)};
      b = {FMA(s, odd[m - 1].re, b.re), FMA(s, odd[m - 1].im, b.im)};
    }
    v[q] = a + turned<SIGN>(b);
    v[R - q] = a - turned<SIGN>(b);
  }
}

template <int SIGN, int R> INLINE void transform_composite(Complex (&v)[R]) {
  constexpr int A = split(R), B = R / A;
  Complex parts[A][B];
  UNROLL
  for (int n = 0; n < B; ++n) {
    Complex part[A];
    UNROLL
    for (int m = 0; m < A; ++m) part[m] = v[B * m + n];
    transform<SIGN>(part);
    UNROLL
    for (int k = 0; k < A; ++k) parts[k][n] = rotated<SIGN, R>(part[k], n * k);
  }
  UNROLL
  for (int k = 0; k < A; ++k) {
    transform<SIGN>(parts[k]);
    UNROLL
    for (int q = 0; q < B; ++q) v[k + A * q] = parts[k][q];
  }
}

template <int SIGN, int R> INLINE void transform(Complex (&v)[R]) {
  if constexpr (R == 2) {
    const Complex difference = v[0] - v[1];
    v[0] = v[0] + v[1];
    v[1] = difference;
  } else if constexpr (R == smallest_factor(R)) {
    transform_prime<SIGN>(v);
  } else {
    transform_composite<SIGN>(v);
  }
}

// --- lines ---------------------------------------------------------------------------------------

// A line in shared memory, interleaved with SPACING - 1 others. A gap after every GAP values (0:
// none) avoids bank conflicts. The addresses of a butterfly differ by constants if its values or
// their distances fit the gaps.
template <int SPACING, int GAP> struct SharedLine {
  Complex* memory;
  static METHOD constexpr int place(int n) { return (GAP ? n + n / (GAP + !GAP) : n) * SPACING; }
  METHOD Complex& operator[](int n) const { return memory[place(n)]; }
  template <int STRIDE, int R> METHOD Complex& at(int first, int m) const {
    if (GAP % (STRIDE * R) == 0) return memory[place(first) + m * STRIDE * SPACING];
    if (STRIDE % (GAP + !GAP) == 0) return memory[place(first) + place(m * STRIDE)];
    return memory[place(first + m * STRIDE)];
  }
};

// Stages of lengths L, L / R, ... of transforms of N values by THREADS threads; of which `thread`
// is one. `twiddles` are exp(-2 pi i q j / L) for 0 < q < R and j < L / R, at N - L + (q - 1) L / R
// + j.
template <int N, int THREADS, int L, int... RADICES> struct Stages;

template <int N, int THREADS, int L, int R, int... REST> struct Stages<N, THREADS, L, R, REST...> {
  static constexpr int STRIDE = L / R, INNER = sizeof...(REST);
  using Next = Stages<N, THREADS, STRIDE, REST...>;

  template <int SIGN> static METHOD void twist(Complex (&v)[R], int j, const Complex* twiddles) {
    UNROLL
    for (int q = 1; q < R; ++q) {
      const Complex w = twiddles[N - L + (q - 1) * STRIDE + j];
      v[q] = (SIGN > 0 ? conjugate(w) : w) * v[q];
    }
  }
  template <class Line> static METHOD void get(Complex (&v)[R], Line line, int first) {
    UNROLL
    for (int m = 0; m < R; ++m) v[m] = line.template at<STRIDE, R>(first, m);
  }
  template <class Line> static METHOD void put(const Complex (&v)[R], Line line, int first) {
    UNROLL
    for (int m = 0; m < R; ++m) line.template at<STRIDE, R>(first, m) = v[m];
  }
  template <class Line>
  static METHOD void forward(Complex (&v)[R], Line line, int first, const Complex* twiddles) {
    transform<FORWARD>(v);
    if (STRIDE > 1) twist<FORWARD>(v, first % STRIDE, twiddles);
    put(v, line, first);
  }
  template <class Line>
  static METHOD void inverse(Complex (&v)[R], Line line, int first, const Complex* twiddles) {
    get(v, line, first);
    if (STRIDE > 1) twist<INVERSE>(v, first % STRIDE, twiddles);
    transform<INVERSE>(v);
  }
  // Calls body(first value) for the butterflies of this thread.
  template <class Body> static METHOD void butterflies(int thread, Body body) {
    constexpr int COUNT = N / R, TURNS = (COUNT + THREADS - 1) / THREADS;
    UNROLL
    for (int n = 0; n < TURNS; ++n) {
      const int b = thread + n * THREADS;
      if (COUNT % THREADS == 0 || b < COUNT) body(b / STRIDE * L + b % STRIDE);
    }
  }
  // This stage within shared memory.
  template <int SIGN, class Line>
  static METHOD void stage(int thread, Line line, const Complex* twiddles) {
    butterflies(thread, [&](int first) {
      Complex v[R];
      if (SIGN < 0) get(v, line, first), forward(v, line, first, twiddles);
      if (SIGN > 0) inverse(v, line, first, twiddles), put(v, line, first);
    });
  }
  // This stage and those inside it, except the innermost LEFT.
  template <int SIGN, int LEFT, class... Lines>
  static METHOD void stages(int thread, const Complex* twiddles, Lines... lines) {
    if constexpr (INNER >= LEFT) {
      if constexpr (SIGN > 0 && INNER > 0)
        Next::template stages<SIGN, LEFT>(thread, twiddles, lines...);
      BARRIER();
      (stage<SIGN>(thread, lines, twiddles), ...);
      if constexpr (SIGN < 0 && INNER > 0)
        Next::template stages<SIGN, LEFT>(thread, twiddles, lines...);
    }
  }
  static METHOD constexpr int place(int k) {
    if constexpr (INNER == 0) return k;
    else return k % R * STRIDE + Next::place(k / R);
  }
};

template <int R, int... REST> struct Last {
  static constexpr int RADIX = Last<REST...>::RADIX;
};
template <int R> struct Last<R> {
  static constexpr int RADIX = R;
};

// Transforms of N values by THREADS threads, with at least two radices.
template <int N, int THREADS, int R, int... REST> struct Fourier {
  using Outermost = Stages<N, THREADS, N, R, REST...>;
  static constexpr int FIRST_RADIX = R, LAST_RADIX = Last<REST...>::RADIX;
  using Innermost = Stages<N, THREADS, LAST_RADIX, LAST_RADIX>;

  // The stages between the outermost and the innermost one; waits for earlier accesses to the
  // lines.
  template <int SIGN, class... Lines>
  static METHOD void middle(int thread, const Complex* twiddles, Lines... lines) {
    Outermost::Next::template stages<SIGN, 1>(thread, twiddles, lines...);
  }
  // All stages but the outermost one.
  template <int SIGN, class... Lines>
  static METHOD void inner(int thread, const Complex* twiddles, Lines... lines) {
    Outermost::Next::template stages<SIGN, 0>(thread, twiddles, lines...);
  }
  // Place of wavenumber k < N.
  static METHOD constexpr int place(int k) { return Outermost::place(k); }
};
