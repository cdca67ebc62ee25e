// The kernels of soft soil with a thread for each item, for EmulatedBackend.
#include "solvers/earthquake/kernels/soil.h"

template <class Update> INLINE void for_items(const Update& update, int more) {
  const index_t nx = SOIL_X + more, ny = SOIL_Y + more;
  FOR_ITEMS(n, nx * ny * (SOIL_Z + more)) {
    yield_at(update, SOIL_I + n % nx, SOIL_J + n / nx % ny, SOIL_K + n / (nx * ny));
  }
}

KERNEL cells_by_item(SOIL_ARGUMENTS, const real* RESTRICT carried, real* lost_xx, real* lost_yy,
                     real* plastic_strain) {
  for_items(CellYield{SOIL, LINEAR_ROCK, carried, lost_xx, lost_yy, plastic_strain}, 0);
}

KERNEL edges_by_item(SOIL_ARGUMENTS, real* lost_xy, real* lost_xz, real* lost_yz) {
  for_items(EdgeYield{SOIL, LINEAR_ROCK, lost_xy, lost_xz, lost_yz}, 1);
}
