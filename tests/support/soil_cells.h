// The kernel yield_soil with a thread for each item, for EmulatedBackend.
#include "solvers/earthquake/kernels/soil.h"

KERNEL yield_cells(real* elements, const real* RESTRICT reference, const Class* RESTRICT curves,
                   const real* RESTRICT shares, const real* RESTRICT strengths,
                   const real* RESTRICT carried, YIELDED_FIELDS(real* RESTRICT),
                   real* plastic_strain, const real* RESTRICT vx, const real* RESTRICT vy,
                   const real* RESTRICT vz, const real* RESTRICT compliance,
                   const Class* RESTRICT classes) {
  const SoilUpdate update{{elements, reference, curves, shares, strengths, carried},
                          {lost_xx, lost_yy, lost_xy, lost_xz, lost_yz},
                          plastic_strain,
                          {vx, vy, vz},
                          {compliance, classes}};
  FOR_ITEMS(n, static_cast<index_t>(SOIL_X) * SOIL_Y * SOIL_Z) {
    const int i = SOIL_I + n % SOIL_X, j = SOIL_J + n / SOIL_X % SOIL_Y,
              k = SOIL_K + n / (SOIL_X * SOIL_Y);
    yield_cell(update, i, j, k);
  }
}
