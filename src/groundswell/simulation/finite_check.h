// Search for values that are not finite.
#include "portable.h"

// Writes the offset of a value that is not finite to `found`, if there is one. The field points to the
// first of nx * ny * nz values; rows and planes are `row` and `plane` values apart.
KERNEL find_nonfinite(const real* RESTRICT field, long long* found, index_t row, index_t plane,
                      index_t nx, index_t ny, index_t nz) {
  const int ni = static_cast<int>(nx), nj = static_cast<int>(ny), nk = static_cast<int>(nz);
  FOR_CELLS(i, ni, j, nj, k, nk) {
    const index_t c = k * plane + j * row + i;
    if (!(fabs(field[c]) <= LARGEST)) found[0] = c;
  }
}
