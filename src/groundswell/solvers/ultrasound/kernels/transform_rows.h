// Transforms along x of the fields and of the source term of the k-space scheme.
#include "rows.h"

// Transforms of the rows of a field, multiplied in OVERLAPS by the bell functions of the axes.
KERNEL forward_x(const real* values, Complex* spectrum, const real* RESTRICT bell_x,
                 const real* RESTRICT bell_y, const real* RESTRICT bell_z,
                 const Complex* RESTRICT roots, const Complex* RESTRICT twiddles,
                 const int* RESTRICT rows, index_t count) {
  FOR_ROWS(w, 1, twiddles, rows, count) {
    const real across = OVERLAPS ? bell_y[w.y()] * bell_z[w.z()] : REAL(1);
    Outermost::butterflies(w.thread, [&](int first) {
      Complex v[R];
      UNROLL
      for (int m = 0; m < R; ++m) {
        const int n = first + m * STRIDE;
        v[m] = load_pair(values, w.pair(n));
        if (OVERLAPS) v[m] = multiply(across * load_pair(bell_x, n), v[m]);
      }
      put(v, w, 0, first);
    });
    end_forward(w, 0);
    store_spectrum(w, 0, spectrum, roots);
  }
}

KERNEL inverse_x(const Complex* spectrum, real* values, const Complex* RESTRICT roots,
                 const Complex* RESTRICT twiddles, const int* RESTRICT rows, index_t count) {
  FOR_ROWS(w, 1, twiddles, rows, count) {
    inverse_rows(w, spectrum, roots, [&](int first, Complex(&v)[R]) {
      UNROLL
      for (int m = 0; m < R; ++m) store_pair(values, w.pair(first + m * STRIDE), v[m]);
    });
  }
}

// Adds the inverse transform to each of `fields` fields.
KERNEL add_inverse_x(const Complex* spectrum, real* a, real* b, real* c, index_t fields,
                     const Complex* RESTRICT roots, const Complex* RESTRICT twiddles,
                     const int* RESTRICT rows, index_t count) {
  FOR_ROWS(w, 1, twiddles, rows, count) {
    inverse_rows(w, spectrum, roots, [&](int first, Complex(&v)[R]) {
      for (int field = 0; field < fields; ++field) {
        real* const values = select(field, a, b, c);
        UNROLL
        for (int m = 0; m < R; ++m) {
          const index_t pair = w.pair(first + m * STRIDE);
          store_pair(values, pair, load_pair(values, pair) + v[m]);
        }
      }
    });
  }
}

// Sets the values of some points to zero.
KERNEL erase(real* values, const long long* points, index_t count) {
  FOR_ITEMS(n, count) { values[points[n]] = 0; }
}
