// The STREAM triad (McCalpin 1995), which measures memory bandwidth, and a first touch of its
// arrays.
#include "portable.h"

KERNEL triad(real* RESTRICT a, const real* RESTRICT b, const real* RESTRICT c, index_t count) {
  FOR_ITEMS(n, count) { a[n] = b[n] + REAL(3) * c[n]; }
}

KERNEL touch(real* RESTRICT a, index_t count) {
  FOR_ITEMS(n, count) { a[n] = 0; }
}
