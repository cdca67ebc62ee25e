// Passes along x of one step of the k-space scheme: operations at points, between transforms of
// rows.
//
// Real arrays are (NZ, NY, NX). Spectra are (MX / WIDTH, NZ, NY, WIDTH) with MX = NX / 2, followed
// by (NZ, NY) for k_x = MX. A row is transformed as MX complex values x[2n] + i x[2n + 1] (Press et
// al., Numerical Recipes, section 12.3). Values of spectra are twice those of a discrete Fourier
// transform. A block works on ROWS rows of up to three fields, with THREADS_X threads per row. If
// the grid has OVERLAPS, a launch works on the rows in a list, otherwise on all rows.
#include "classes.h"
#include "fft.h"

using Row = SharedLine<1, ROW_GAP>;
using FourierX = Fourier<MX, THREADS_X, RADICES_X>;
using Outermost = FourierX::Outermost;
constexpr int R = FourierX::FIRST_RADIX;
constexpr int STRIDE = Outermost::STRIDE;
constexpr int PITCH = Row::place(MX);

// The work of a thread: its row, which has the same position in up to three tiles of ROWS rows.
struct Worker {
  Complex* memory;
  int thread, row;
  const Complex* twiddles;
  METHOD Row operator[](int tile) const { return {memory + tile * ROWS * PITCH}; }
  METHOD int y() const { return row % NY; }
  METHOD int z() const { return row / NY; }
  // Index of the pair of points (2 n, 2 n + 1).
  METHOD index_t pair(int n) const { return static_cast<index_t>(row) * MX + n; }
};

INLINE Worker worker(Complex* memory, index_t block, const Complex* twiddles, const int* rows) {
  const int thread = threadIdx.x % THREADS_X, place = threadIdx.x / THREADS_X;
  const int n = static_cast<int>(block) * ROWS + place;
  return {memory + place * PITCH, thread, OVERLAPS ? rows[n] : n, twiddles};
}

// Index of wavenumber k <= MX of a row.
INLINE index_t mode(int k, int row) {
  constexpr index_t ALL = static_cast<index_t>(NY) * NZ;
  if (k == MX) return MX * ALL + row;
  return k / WIDTH * (ALL * WIDTH) + static_cast<index_t>(row) * WIDTH + k % WIDTH;
}

// --- between the spectrum of a row and that of its pairs -----------------------------------------

// `roots` are exp(-2 pi i k / NX), k < MX / 2 + 1.
INLINE void load_spectrum(Worker w, int tile, const Complex* spectrum,
                          const Complex* RESTRICT roots) {
  UNROLL
  for (int k = w.thread; k < (MX + 1) / 2; k += THREADS_X) {
    Complex a = spectrum[mode(k, w.row)], b = conjugate(spectrum[mode(MX - k, w.row)]);
    if (k == 0) a.im = b.im = 0;
    const Complex sum = a + b, difference = turned<1>(conjugate(roots[k]) * (a - b));
    w[tile][FourierX::place(k)] = sum + difference;
    if (k > 0) w[tile][FourierX::place(MX - k)] = conjugate(sum - difference);
  }
  if (MX % 2 == 0 && w.thread == 0)
    w[tile][FourierX::place(MX / 2)] = REAL(2) * conjugate(spectrum[mode(MX / 2, w.row)]);
}

INLINE void store_spectrum(Worker w, int tile, Complex* spectrum, const Complex* RESTRICT roots) {
  UNROLL
  for (int k = w.thread; k < (MX + 1) / 2; k += THREADS_X) {
    const Complex a = w[tile][FourierX::place(k)];
    const Complex b = conjugate(k > 0 ? w[tile][FourierX::place(MX - k)] : a);
    const Complex sum = a + b, difference = roots[k] * turned<-1>(a - b);
    spectrum[mode(k, w.row)] = sum + difference;
    spectrum[mode(MX - k, w.row)] = conjugate(sum - difference);
  }
  if (MX % 2 == 0 && w.thread == 0)
    spectrum[mode(MX / 2, w.row)] = REAL(2) * conjugate(w[tile][FourierX::place(MX / 2)]);
}

// The inverse transforms of some tiles up to the outermost stage, and the forward transforms after
// that stage.
template <class... Tiles> INLINE void begin_inverse(Worker w, Tiles... tiles) {
  FourierX::inner<INVERSE>(w.thread, w.twiddles, w[tiles]...);
  BARRIER();
}

template <class... Tiles> INLINE void end_forward(Worker w, Tiles... tiles) {
  FourierX::inner<FORWARD>(w.thread, w.twiddles, w[tiles]...);
  BARRIER();
}

INLINE void get(Complex (&values)[R], Worker w, int tile, int first) {
  Outermost::inverse(values, w[tile], first, w.twiddles);
}

INLINE void put(Complex (&values)[R], Worker w, int tile, int first) {
  Outermost::forward(values, w[tile], first, w.twiddles);
}

// --- points --------------------------------------------------------------------------------------

INLINE Complex load_pair(const real* values, index_t pair) {
  return reinterpret_cast<const Complex*>(values)[pair];
}

INLINE void store_pair(real* values, index_t pair, Complex value) {
  reinterpret_cast<Complex*>(values)[pair] = value;
}

// Products and sums of pairs.
INLINE Complex multiply(Complex a, Complex b) { return {a.re * b.re, a.im * b.im}; }

INLINE Complex multiply_add(Complex a, Complex b, Complex c) {
  return {FMA(a.re, b.re, c.re), FMA(a.im, b.im, c.im)};
}

// Where the properties of a pair of points are: with CLASSES in a table, otherwise in fields.
struct alignas(2 * sizeof(Class)) ClassPair {
  Class re, im;
};
struct Place {
  index_t pair;
  ClassPair classes;
};

INLINE Place place_of(const Class* RESTRICT classes, index_t pair) {
  if (!CLASSES) return {pair, {}};
  return {pair, reinterpret_cast<const ClassPair*>(classes)[pair]};
}

INLINE Complex property(const real* RESTRICT values, bool uniform, Place place) {
  if (uniform) return {values[0], values[0]};
  if (CLASSES) return {values[place.classes.re], values[place.classes.im]};
  return load_pair(values, place.pair);
}

template <class T> INLINE T select(int n, T a, T b, T c) { return n == 0 ? a : n == 1 ? b : c; }

// Factors of the absorbing layers of an axis at the pair n.
INLINE Complex layer_at(const real* RESTRICT layer, int axis, Worker w, int n) {
  if (axis == 0) return load_pair(layer, n);
  const real factor = layer[axis == 1 ? w.y() : w.z()];
  return {factor, factor};
}

// q (q value - weight * derivative), with the factor q of the absorbing layer.
INLINE Complex advanced(Complex value, Complex q, Complex weight, Complex derivative) {
  return {q.re * FMA(-weight.re, derivative.re, q.re * value.re),
          q.im * FMA(-weight.im, derivative.im, q.im * value.im)};
}

// Sources that are sums of TERMS products of a field and a signal, see separable.py. Fields are
// (TERMS, NZ, NY, NX), and signals (samples, TERMS).
template <int TERMS> struct Sources {
  const real* RESTRICT fields;
  const real* RESTRICT signals;
  const long long* RESTRICT clock;
  index_t samples;

  // Adds the terms from `first` to `last` - 1 at the current step.
  METHOD void add(Complex& value, index_t pair, int first, int last) const {
    constexpr index_t PAIRS = static_cast<index_t>(NZ) * NY * MX;
    const index_t step = *clock;
    if (step >= samples) return;
    for (int n = first; n < last; ++n) {
      const real signal = signals[step * TERMS + n];
      value = multiply_add({signal, signal}, load_pair(fields, n * PAIRS + pair), value);
    }
  }
};

// --- kernels of rows -----------------------------------------------------------------------------

// Kernels get a list of rows, and the number of rows.
#define FOR_ROWS(w, fields, twiddles, rows, count) \
  DYNAMIC_SHARED(Complex, memory);                 \
  FOR_BLOCKS(e, (count) / ROWS * (fields))         \
    if (const Worker w = worker(memory, e / (fields), twiddles, rows); true)

// The inverse transform of rows; calls body(first, values) for each butterfly of pairs.
template <class Body>
INLINE void inverse_rows(Worker w, const Complex* spectrum, const Complex* RESTRICT roots,
                         Body body) {
  load_spectrum(w, 0, spectrum, roots);
  begin_inverse(w, 0);
  Outermost::butterflies(w.thread, [&](int first) {
    Complex v[R];
    get(v, w, 0, first);
    body(first, v);
  });
}

// --- prefetches of rows into the L2 cache --------------------------------------------------------

template <class Pair> INLINE void prefetch_row(Worker w, const Pair* pairs) {
  constexpr int LINE = 128 / sizeof(Pair);
  for (int n = w.thread * LINE; n < MX; n += THREADS_X * LINE) prefetch(pairs + w.pair(n));
}

INLINE void prefetch_field(Worker w, const real* values) {
  prefetch_row(w, reinterpret_cast<const Complex*>(values));
}

INLINE void prefetch_classes(Worker w, const Class* classes) {
  prefetch_row(w, reinterpret_cast<const ClassPair*>(classes));
}
