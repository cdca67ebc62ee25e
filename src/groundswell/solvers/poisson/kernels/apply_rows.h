// On a CPU: one element at a time. All but the derivatives along t is done plane by plane, so that
// the intermediate values stay in cache.
#pragma once
#include "metric.h"
#include "spectral_elements/kernels/cpu_rows.h"

struct Cubes {
  alignas(64) Cube u, t, sum;
  alignas(64) Plane r, s;
};

// Replaces the derivatives in a plane by fluxes.
PART void find_fluxes(const Operands& operands, index_t e, int t, Cubes& all) {
  for (int s = 0; s < NODES; ++s) {
    real *of_r = all.r[s], *of_s = all.s[s], *of_t = all.t[t][s];
    PRAGMA(omp simd)
    for (int r = 0; r < NODES; ++r) {
      const Metric g = Line(operands.geometry, e, s, r).at(t);
      const Gradient f = flux(g, {of_r[r], of_s[r], of_t[r]});
      of_r[r] = f.r;
      of_s[r] = f.s;
      of_t[r] = f.t;
    }
  }
}

// Fetches what a core's prefetchers miss: the scattered values of rows, and the start of each
// stream of factors.
PART void fetch_plane(const Operands& operands, index_t e, int t) {
  for (int s = 0; s < NODES; ++s) {
    const int* const row = operands.row(e, t, s);
    prefetch(operands.x + row[0], operands.x + row[NODES - 1]);
  }
  if (GEOMETRY == 0 && t == NODES - 1)
    for (int k = 0; k < FACTORS; ++k) prefetch(operands.geometry + e * ELEMENT_PITCH + k * RUN);
}

// Derivatives, fluxes, and the transposed derivatives of the fluxes. `next` is the element after
// this one.
INLINE void differentiate_twice(const Operands& operands, index_t e, index_t next, Cubes& all) {
  for (int n = 0; n < NODES; ++n)
    differentiate_across<false, false>(all.u[0][n], all.t[0][n], NODES * PITCH);
  for (int t = 0; t < NODES; ++t) {
    differentiate_rows<false>(all.u[t], all.r);
    differentiate_across<false, false>(all.u[t][0], all.s[0], PITCH);
    find_fluxes(operands, e, t, all);
    fetch_plane(operands, next, t);
    differentiate_rows<true>(all.r, all.sum[t]);
    differentiate_across<true, true>(all.s[0], all.sum[t][0], PITCH);
  }
  for (int n = 0; n < NODES; ++n)
    differentiate_across<true, true>(all.t[0][n], all.sum[0][n], NODES * PITCH);
}

// Whether the values of a row are contiguous, as most are. This is tested where rows fill whole
// vectors.
constexpr bool TEST_CONTIGUOUS = NODES >= 8 && PITCH == NODES;

INLINE bool is_contiguous(const int* dofs) {
  int difference = 0;
  PRAGMA(omp simd reduction(| : difference))
  for (int r = 0; r < NODES; ++r) difference |= dofs[r] ^ (dofs[0] + r);
  return !difference;
}

PART void gather_values(const Operands& operands, index_t e, Cube& u) {
  for (int t = 0; t < NODES; ++t)
    for (int s = 0; s < NODES; ++s) {
      const int* const dofs = operands.row(e, t, s);
      if (TEST_CONTIGUOUS && is_contiguous(dofs)) {
        for (int r = 0; r < NODES; ++r) u[t][s][r] = operands.value_at(dofs[0] + r);
        continue;
      }
      UNROLL
      for (int r = 0; r < NODES; ++r) u[t][s][r] = operands.value_at(dofs[r]);
      for (int r = NODES; r < PITCH; ++r) u[t][s][r] = 0;
    }
}

// Adds the mass term and stores the result; returns u . result, summed in independent parts.
PART double store_result(const Operands& operands, index_t e, const Cubes& all) {
  double energy[NODES] = {};
  for (int t = 0; t < NODES; ++t)
    for (int s = 0; s < NODES; ++s) {
      PRAGMA(omp simd)
      for (int r = 0; r < NODES; ++r) {
        const real u = all.u[t][s][r];
        const real result = FMA(Line(operands.geometry, e, s, r).at(t).mass, u, all.sum[t][s][r]);
        operands.y[e * CUBE + t * PLANE + s * NODES + r] = result;
        energy[r] += static_cast<double>(u) * static_cast<double>(result);
      }
    }
  double sum = 0;
  for (const double part : energy) sum += part;
  return sum;
}

// Applies the operator to some elements, (count,), of which `left` remain in all; returns u . A u.
INLINE double apply_some(const Operands& operands, const int* elements, int count, index_t left) {
  Cubes all;
  double energy = 0;
  for (int n = 0; n < count; ++n) {
    const index_t e = elements[n], next = elements[n + 1 < left ? n + 1 : n];
    gather_values(operands, e, all.u);
    differentiate_twice(operands, e, next, all);
    energy += store_result(operands, e, all);
  }
  return energy;
}
