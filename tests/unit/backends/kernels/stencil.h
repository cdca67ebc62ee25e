// A sample for test_portable.py: the 7-point Laplacian of a grid with one ghost layer.
#include "portable.h"

KERNEL laplacian(real* RESTRICT out, const real* RESTRICT f) {
  FOR_CELLS(i, NX, j, NY, k, NZ) {
    const index_t c = (static_cast<index_t>(k + 1) * (NY + 2) + (j + 1)) * (NX + 2) + (i + 1);
    const index_t row = NX + 2, plane = row * (NY + 2);
    const real along_x = f[c - 1] - REAL(2) * f[c] + f[c + 1];
    const real along_y = f[c - row] - REAL(2) * f[c] + f[c + row];
    const real along_z = f[c - plane] - REAL(2) * f[c] + f[c + plane];
    out[c] = along_x * WEIGHT_X + along_y * WEIGHT_Y + along_z * WEIGHT_Z;
  }
}
