// Transforms along x of the fields and of the source term of the k-space scheme.
#include "rows.h"

// Transforms of the rows of a field.
KERNEL forward_x(const real* values, Complex* spectrum, const Complex* RESTRICT roots,
                 const Complex* RESTRICT twiddles) {
  FOR_ROWS(w, 1, twiddles) {
    Outermost::butterflies(w.thread, [&](int first) {
      Complex v[R];
      UNROLL for (int m = 0; m < R; ++m) v[m] = load_pair(values, w.pair(first + m * STRIDE));
      put(v, w, 0, first);
    });
    end_forward(w, 0);
    store_spectrum(w, 0, spectrum, roots);
  }
}

KERNEL inverse_x(const Complex* spectrum, real* values, const Complex* RESTRICT roots,
                 const Complex* RESTRICT twiddles) {
  FOR_ROWS(w, 1, twiddles) {
    inverse_rows(w, spectrum, roots, [&](int first, Complex(&v)[R]) {
      UNROLL for (int m = 0; m < R; ++m) store_pair(values, w.pair(first + m * STRIDE), v[m]);
    });
  }
}

// Adds the inverse transform to each of `count` fields.
KERNEL add_inverse_x(const Complex* spectrum, real* a, real* b, real* c, const Complex* RESTRICT roots,
                     const Complex* RESTRICT twiddles, index_t count) {
  FOR_ROWS(w, 1, twiddles) {
    inverse_rows(w, spectrum, roots, [&](int first, Complex(&v)[R]) {
      for (int field = 0; field < count; ++field) {
        real* const values = select(field, a, b, c);
        UNROLL for (int m = 0; m < R; ++m) {
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
