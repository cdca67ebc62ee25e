// Steps in time by the backward differentiation formula of second order,
// df/dt = (3 f_new - 4 f + f_before) / (2 dt), with INERTIA = 3 / (2 dt). The iteration to the new
// values finds the first term in the rates of change, and the others in the forcing.
#pragma once
#include "portable.h"

#define CELLS index_t row, index_t plane, index_t nx, index_t ny, index_t nz

// Starts a step: computes the forcing, keeps the present values as the earlier ones, and guesses the
// new ones by extrapolation. Args: is_carried, 0 for pressure, which has no time derivative.
KERNEL begin_step(real* now, real* before, real* forcing, index_t is_carried, CELLS) {
  FOR_CELLS(i, nx, j, ny, k, nz) {
    const index_t c = k * plane + j * row + i;
    const real latest = now[c], earlier = before[c];
    const real known = (REAL(4) * latest - earlier) * (REAL(1) / REAL(3));
    forcing[c] = is_carried ? REAL(INERTIA) * known : REAL(0);
    before[c] = latest;
    now[c] = REAL(2) * latest - earlier;
  }
}

// Starts an implicit Euler step towards a steady flow, with INERTIA = 1 / dt: the forcing has the
// present values.
KERNEL begin_implicit_step(const real* now, real* forcing, index_t is_carried, CELLS) {
  FOR_CELLS(i, nx, j, ny, k, nz) {
    const index_t c = k * plane + j * row + i;
    forcing[c] = is_carried ? REAL(INERTIA) * now[c] : REAL(0);
  }
}

// Multiplies the forcing of heat by the heat capacity of cells over that of fluid, of which cells with
// solids have another.
KERNEL weigh_by_capacity(real* forcing, const real* capacity, CELLS) {
  FOR_CELLS(i, nx, j, ny, k, nz) {
    const index_t c = k * plane + j * row + i;
    forcing[c] *= capacity[c];
  }
}

// Ends the first step, whose earlier values equalled the initial ones: an implicit Euler step over
// two thirds of its length. Extrapolates from these values to its end.
KERNEL end_first_step(real* now, const real* before, CELLS) {
  FOR_CELLS(i, nx, j, ny, k, nz) {
    const index_t c = k * plane + j * row + i;
    now[c] = REAL(1.5) * now[c] - REAL(0.5) * before[c];
  }
}
