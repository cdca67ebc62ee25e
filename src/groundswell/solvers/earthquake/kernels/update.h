// The two hot kernels: inputs and update of each cell, and the loop over cells.
#pragma once
#include "materials.h"
#include "tile_peaks.h"
#include "rows.h"
#include "stress.h"
#include "sweep.h"
#include "velocity.h"

#define IN const real* RESTRICT
#define INOUT real* RESTRICT
#define INOUT_STORED Stored* RESTRICT
#define IN_CLASSES const Class* RESTRICT

#define LAYER_ARGUMENTS \
  INOUT memory_x, INOUT memory_y, INOUT memory_z, IN profile_x, IN profile_y, IN profile_z

#define LAYERS \
  Layers { memory_x, memory_y, memory_z, profile_x, profile_y, profile_z }

#define VELOCITY_ARGUMENTS                                                                      \
  INOUT vx, INOUT vy, INOUT vz, IN sxx, IN syy, IN szz, IN sxy, IN sxz, IN syz, IN rho,         \
      IN_CLASSES classes, IN rows, LAYER_ARGUMENTS, IN sponge, BOX_ARGUMENTS, long long *clock, \
      index_t ticks
#define VELOCITY_UPDATE                                                              \
  VelocityUpdate {                                                                   \
    {vx, vy, vz}, sxx, syy, szz, sxy, sxz, syz, {rho, classes}, rows, sponge, LAYERS \
  }

#define STRESS_ARGUMENTS                                                                        \
  INOUT sxx, INOUT syy, INOUT szz, INOUT sxy, INOUT sxz, INOUT syz, INOUT_STORED rxx,           \
      INOUT_STORED ryy, INOUT_STORED rzz, INOUT_STORED rxy, INOUT_STORED rxz, INOUT_STORED ryz, \
      IN vx, IN vy, IN vz, IN lam, IN compliance, IN inverse_qp, IN inverse_qs,                 \
      IN_CLASSES classes, IN rows, IN mechanisms, LAYER_ARGUMENTS, IN sponge,                   \
      BOX_ARGUMENTS PEAK_ARGUMENTS
#define MODULI_OF_CELLS                                                                   \
  Moduli {                                                                                \
    {lam, classes}, {compliance, classes}, {inverse_qp, classes}, { inverse_qs, classes } \
  }
#define STRESS_UPDATE                                                                              \
  StressUpdate {                                                                                   \
    {{sxx, syy, szz, sxy, sxz, syz}, {rxx, ryy, rzz, rxy, rxz, ryz}}, vx, vy, vz, MODULI_OF_CELLS, \
        rows, mechanisms, sponge, LAYERS, {                                                        \
      PEAK_MEMBERS                                                                                 \
    }                                                                                              \
  }

struct VelocityUpdate {
  static constexpr int BYTES_AHEAD = 400000;  // of a field, to prefetch on a GPU
  VelocityField v;
  const real *sxx, *syy, *szz, *sxy, *sxz, *syz;
  Density rho;
  const real *rows, *sponge;
  Layers layers;

  struct Inputs {
    Velocity v;
    StressDivergence d;
    FaceSums rho;
  };

  METHOD void fetch_cell(index_t c) const {
    prefetch(v.x + c, v.y + c, v.z + c, rho.address(c));
    prefetch(sxx + c, syy + c, szz + c, sxy + c, sxz + c, syz + c);
  }
  METHOD void fetch_column(index_t c) const {
    fetch_backward_z(szz + c), fetch_forward_z(sxz + c), fetch_forward_z(syz + c);
    prefetch(rho.address(c - STEP_Z));
  }

  METHOD Inputs gather(int i, int j, int k) const {
    const index_t c = cell_at(i, j, k);
    return {load(v, c),
            // clang-format off
            {backward<X>(sxx + c), forward<Y>(sxy + c), forward<Z>(sxz + c),
             forward<X>(sxy + c), backward<Y>(syy + c), forward<Z>(syz + c),
             forward<X>(sxz + c), forward<Y>(syz + c), backward<Z>(szz + c)},
            // clang-format on
            {rho[c] + rho[c - STEP_X], rho[c] + rho[c - STEP_Y],
             correction<DENSITY>(rows, k) * (rho[c] + rho[c - STEP_Z])}};
  }

  template <class Flags>
  METHOD void finish(Inputs at, const LayerMemory& past, int i, int j, int k, Flags in) const {
    absorb(at.d, layers, past, i, j, k, in);
    advance_velocity(v, at.v, at.d, cell_at(i, j, k), at.rho, sponge_factor(sponge, i, j, k));
  }
};

// The clock is the time of the velocities; the last launch of a step advances it.
KERNEL update_velocity(VELOCITY_ARGUMENTS) {
  ONE_THREAD { clock[0] += ticks; }
  for_cells_by_layer(VELOCITY_UPDATE, BOX);
}

struct StressUpdate {
  static constexpr int BYTES_AHEAD = HALF_MEMORY ? 200000 : 100000;
  StressFields fields;
  const real *vx, *vy, *vz;
  Moduli moduli;
  const real *rows, *mechanisms, *sponge;
  Layers layers;
  TilePeaks peaks;

  struct Inputs {
    StressState before;
    VelocityGradient d;
    Matter matter;
  };

  METHOD void fetch_cell(index_t c) const {
    prefetch(vx + c, vy + c, vz + c);
    moduli.fetch(c);
    prefetch_all(fields.stress, c);
#if ATTENUATION
    prefetch_all(fields.memory, c);
#endif
  }
  METHOD void fetch_column(index_t c) const {
    fetch_backward_z(vx + c), fetch_backward_z(vy + c), fetch_forward_z(vz + c);
    moduli.fetch_above(c);
  }

  METHOD Inputs gather(int i, int j, int k) const {
    const index_t c = cell_at(i, j, k);
    return {load(fields, c),
            // clang-format off
            {forward<X>(vx + c), forward<Y>(vy + c), forward<Z>(vz + c),
             backward<Y>(vx + c), backward<X>(vy + c), backward<Z>(vx + c),
             backward<X>(vz + c), backward<Z>(vy + c), backward<Y>(vz + c)},
            // clang-format on
            matter_at(moduli, c)};
  }

  template <class Flags>
  METHOD void finish(Inputs at, const LayerMemory& past, int i, int j, int k, Flags in) const {
    const Mechanism m = ATTENUATION ? mechanism_at(mechanisms, i, j, k) : Mechanism{};
    at.matter.across_z = correction<ACROSS_Z>(rows, k);  // read before anything is stored
    absorb(at.d, layers, past, i, j, k, in);
    const Tensor after = advance_stress(fields, at.before, at.d, cell_at(i, j, k), k, at.matter,
                                        rows, m, sponge_factor(sponge, i, j, k));
    peaks.keep(after, i, j, k);
  }
};

KERNEL update_stress(STRESS_ARGUMENTS) { for_cells_by_layer(STRESS_UPDATE, BOX); }
