// Corrections at boundaries between fluids and solids. The main kernels take the same differences
// everywhere. These kernels add what is missing to the differences that sea_floor.py defines.
#pragma once
#include "stress.h"
#include "velocity.h"

// In the order of DERIVATIVES in sea_floor.py.
enum Derivative { DX_VX, DY_VY, DZ_VZ, DY_VX, DX_VY, DZ_VX, DX_VZ, DZ_VY, DY_VZ, DERIVATIVES };

// Corrections of the derivatives of some cells.
//   targets [T]: offset of a cell in memory; stencils [T]: its stencil
//   starts [stencils][DERIVATIVES]: first term of each derivative, and last the number of all terms
//   steps: offset in memory from the cell to the value of a term; weights: 1/m
#define CORRECTIONS                                                                         \
  const long long *targets, const int *stencils, const int *starts, const long long *steps, \
      const real *weights, index_t count

struct Stencil {
  const int* start;
  const long long* steps;
  const real* weights;

  // Args: values, those of the cell and its neighbours.
  METHOD void add(real& sum, Derivative derivative, const real* values) const {
    for (int m = start[derivative]; m < start[derivative + 1]; ++m)
      sum += weights[m] * values[steps[m]];
  }
};

KERNEL correct_velocity(real* vx, real* vy, real* vz, const real* sxx, const real* syy,
                        const real* szz, const real* sxy, const real* sxz, const real* syz,
                        const real* RESTRICT rho, const Class* RESTRICT classes,
                        const real* RESTRICT rows, const real* RESTRICT sponge, CORRECTIONS) {
  const Density density{rho, classes};
  FOR_ITEMS(n, count) {
    const index_t c = targets[n];
    const Stencil terms{starts + stencils[n] * DERIVATIVES, steps, weights};
    real x = 0, y = 0, z = 0;
    terms.add(x, DX_VX, sxx + c), terms.add(x, DY_VX, sxy + c), terms.add(x, DZ_VX, sxz + c);
    terms.add(y, DY_VY, syy + c), terms.add(y, DX_VY, sxy + c), terms.add(y, DZ_VY, syz + c);
    terms.add(z, DZ_VZ, szz + c), terms.add(z, DX_VZ, sxz + c), terms.add(z, DY_VZ, syz + c);
    const int k = static_cast<int>(c / PLANE), j = static_cast<int>(c % PLANE / ROW);
    const real keep = sponge_factor(sponge, static_cast<int>(c % ROW), j, k);
    const real thick = correction<DENSITY>(rows, k), twice = REAL(2) * DT;
    if (x != 0) vx[c] += keep * (twice / (density[c] + density[c - STEP_X]) * x);
    if (y != 0) vy[c] += keep * (twice / (density[c] + density[c - STEP_Y]) * y);
    if (z != 0) vz[c] += keep * (twice / (thick * (density[c] + density[c - STEP_Z])) * z);
  }
}

KERNEL correct_stress(real* sxx, real* syy, real* szz, real* sxy, real* sxz, real* syz, Stored* rxx,
                      Stored* ryy, Stored* rzz, Stored* rxy, Stored* rxz, Stored* ryz,
                      const real* vx, const real* vy, const real* vz, const real* RESTRICT lam,
                      const real* RESTRICT compliance, const real* RESTRICT inverse_qp,
                      const real* RESTRICT inverse_qs, const Class* RESTRICT classes,
                      const real* RESTRICT rows, const real* RESTRICT mechanisms,
                      const real* RESTRICT sponge, CORRECTIONS) {
  const Moduli moduli{
      {lam, classes}, {compliance, classes}, {inverse_qp, classes}, {inverse_qs, classes}};
  FOR_ITEMS(n, count) {
    const index_t c = targets[n];
    const Stencil terms{starts + stencils[n] * DERIVATIVES, steps, weights};
    const int k = static_cast<int>(c / PLANE), j = static_cast<int>(c % PLANE / ROW);
    const int i = static_cast<int>(c % ROW);
    VelocityGradient d{};
    terms.add(d.dx_vx, DX_VX, vx + c), terms.add(d.dy_vx, DY_VX, vx + c);
    terms.add(d.dz_vx, DZ_VX, vx + c), terms.add(d.dx_vy, DX_VY, vy + c);
    terms.add(d.dy_vy, DY_VY, vy + c), terms.add(d.dz_vy, DZ_VY, vy + c);
    terms.add(d.dx_vz, DX_VZ, vz + c), terms.add(d.dy_vz, DY_VZ, vz + c);
    terms.add(d.dz_vz, DZ_VZ, vz + c);
    Matter matter = matter_at(moduli, c);
    matter.across_z = correction<ACROSS_Z>(rows, k);
    Tensor rate = elastic_rate(d, matter, rows, k);
#if ATTENUATION
    // Memory variables are linear in the rates, so their change is that of variables at rest.
    Tensor r{};
    add_memory(rate, r, d, matter, mechanism_at(mechanisms, i, j, k));
    add(rxx[c], r.xx, sxx[c]), add(ryy[c], r.yy, syy[c]), add(rzz[c], r.zz, szz[c]);
    add(rxy[c], r.xy, sxy[c]), add(rxz[c], r.xz, sxz[c]), add(ryz[c], r.yz, syz[c]);
#endif
    const real step = sponge_factor(sponge, i, j, k) * DT;
    sxx[c] += step * rate.xx, syy[c] += step * rate.yy, szz[c] += step * rate.zz;
    sxy[c] += step * rate.xy, sxz[c] += step * rate.xz, syz[c] += step * rate.yz;
  }
}
