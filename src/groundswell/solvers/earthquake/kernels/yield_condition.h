// The yield condition at the centre of a cell; see plasticity.h.
#pragma once
#include "materials.h"
#include "seismology/kernels/drucker_prager.h"
#include "tiles.h"

typedef unsigned char Flag;
typedef unsigned int Mask;  // a bit for each cell of a tile

// Initial stress by depth row, from row -1, Pa: its deviator and the mean plus fluid pressure at
// cell centres, then sxz and syz at the upper faces of cells.
enum Initial { XX, YY, ZZ, XY, XZ, YZ, MEAN, FACE_XZ, FACE_YZ, INITIAL };

INLINE const real* initial_at(const real* RESTRICT initial, int k) {
  return initial + static_cast<index_t>(INITIAL) * (k + 1);
}

// Strength of cells: of depth rows (from row -1), of classes of cells, or of each cell.
struct Rock {
  const real *table, *sine;
  const Class* classes;

  METHOD Strength at(index_t c, int k) const {
#if STRENGTH == 0
    return {table[2 * (k + 1)], table[2 * (k + 1) + 1]};
#elif STRENGTH == 1
    return {table[2 * static_cast<int>(classes[c])], table[2 * static_cast<int>(classes[c]) + 1]};
#else
    return {table[c], sine[c]};
#endif
  }
};

struct Stresses {
  const real *xx, *yy, *zz, *xy, *xz, *yz;
};

// The stresses around a cell, without sxz and syz above it.
struct Around {
  real xx, yy, zz, xy[4], xz[2], yz[2];
};

INLINE Around around(const Stresses& s, index_t c) {
  const index_t b = c + STEP_Z;
  return {s.xx[c],
          s.yy[c],
          s.zz[c],
          {s.xy[c], s.xy[c + STEP_X], s.xy[c + STEP_Y], s.xy[c + STEP_X + STEP_Y]},
          {s.xz[b], s.xz[b + STEP_X]},
          {s.yz[b], s.yz[b + STEP_Y]}};
}

// Sums of sxz and of syz on a face of a cell normal to z.
struct Sums {
  real xz, yz;
};

INLINE Sums sums_above(const Stresses& s, index_t c) {
  return {s.xz[c] + s.xz[c + STEP_X], s.yz[c] + s.yz[c + STEP_Y]};
}
INLINE Sums sums_below(const Around& a) { return {a.xz[0] + a.xz[1], a.yz[0] + a.yz[1]}; }

// The part of its deviator that a cell loses, and sqrt(J2) of what it loses, Pa.
struct Loss {
  real part, stress;
};

INLINE Loss loss_of(const Around& a, const Sums& above, const real* RESTRICT initial,
                    const Strength& rock) {
  const Sums below = sums_below(a);
  const real mean = (a.xx + a.yy + a.zz) * REAL(1.0 / 3.0), quarter = REAL(0.25);
  const real xx = a.xx - mean + initial[XX], yy = a.yy - mean + initial[YY],
             zz = a.zz - mean + initial[ZZ];
  const real xy = FMA(quarter, (a.xy[0] + a.xy[1]) + (a.xy[2] + a.xy[3]), initial[XY]),
             xz = FMA(quarter, above.xz + below.xz, initial[XZ]),
             yz = FMA(quarter, above.yz + below.yz, initial[YZ]);
  const real normal = FMA(xx, xx, FMA(yy, yy, zz * zz));
  const real tau = sqrt(FMA(REAL(0.5), normal, FMA(xy, xy, FMA(xz, xz, yz * yz))));
  const real part = yielded_part(tau, yield_strength(mean + initial[MEAN], rock), REMEMBERED);
  return {part, part * tau};
}
