// Pressure p and its rate of change q in a periodic box: dq/dt = c^2 laplacian(p), dp/dt = q.
//
// Arrays point to a first cell; rows and planes follow each other at ROW and PLANE values. p has
// ghosts around the block. WEIGHT is c^2 dt / h^2.
#include "portable.h"

INLINE index_t cell(int i, int j, int k) {
  return static_cast<index_t>(k) * PLANE + static_cast<index_t>(j) * ROW + i;
}

INLINE real second_difference(const real* RESTRICT p, index_t c, index_t apart) {
  return p[c - apart] - REAL(2) * p[c] + p[c + apart];
}

KERNEL update_q(real* RESTRICT q, const real* RESTRICT p) {
  FOR_CELLS(i, NX, j, NY, k, NZ) {
    const index_t c = cell(i, j, k);
    const real along_x = second_difference(p, c, 1);
    const real along_y = second_difference(p, c, ROW);
    const real along_z = second_difference(p, c, PLANE);
    q[c] += WEIGHT * (along_x + along_y + along_z);
  }
}

// In a box of nx * ny * nz cells.
KERNEL update_p(real* RESTRICT p, const real* RESTRICT q, index_t nx, index_t ny, index_t nz) {
  FOR_CELLS(i, nx, j, ny, k, nz) {
    const index_t c = cell(i, j, k);
    p[c] += DT * q[c];
  }
}
