// What linear rock does at the centres and edges of cells of soft soil in a step.
#pragma once
#include "materials.h"
#include "rows.h"
#include "seismology/kernels/iwan.h"
#include "stencil.h"

struct Velocities {
  const real *x, *y, *z;

  template <Axis A> METHOD const real* along() const { return A == X ? x : A == Y ? y : z; }
};

struct LinearRock {
  Velocities v;
  Modulus compliance;
  const real* rows;
};

// Where the upper faces of a row are: on a free surface, one row below it, or deeper.
enum { SURFACE, SECOND, DEEPER };

INLINE int depth_of(int k) { return FREE_SURFACE && k < DEEPER ? k : DEEPER; }

// Difference along z at an upper face. Values above a free surface are those of mirror_velocity
// (surface.h), which other ranks have not computed in this rank's ghosts.
template <int DEPTH, Axis A> INLINE real down(const Velocities& v, index_t c) {
  const real* f = v.along<A>() + c;
  if (DEPTH == DEEPER) return backward<Z>(f);
  const index_t top = c - STEP_Z;
  const real slope = (v.z[top] - v.z[top - step_along<A>()]) / (A == X ? HX : HY);
  const real above = f[-STEP_Z] + SHEAR_REACH * HZ * slope;
  return difference<Z>(above, f[-STEP_Z], f[0], f[STEP_Z]);
}

// The change in a step of the shear stress at an edge of row k. Shear moduli are those of stress.h.
template <int DEPTH, Axis A, Axis B>
INLINE real edge_increment(const LinearRock& rock, index_t c, int k) {
  if (B == Z && DEPTH == SURFACE) return REAL(0);
  const index_t a = step_along<A>(), b = step_along<B>();
  const Modulus& f = rock.compliance;
  real soft = (f[c] + f[c - a]) + (f[c - b] + f[c - a - b]);
  if (B == Z) soft *= correction<COMPLIANCE>(rock.rows, k);
  const real first = B == Z ? down<DEPTH, A>(rock.v, c) : backward<B>(rock.v.along<A>() + c);
  return REAL(4) * DT * RECIPROCAL(soft) * (first + backward<A>(rock.v.along<B>() + c));
}

// Mean over the four edges of a cell.
template <int DEPTH, Axis A, Axis B>
INLINE real shear_increment(const LinearRock& rock, index_t c, int k) {
  constexpr int NEXT = B == Z && DEPTH < DEEPER ? DEPTH + 1 : DEPTH;
  const index_t a = step_along<A>(), b = step_along<B>();
  const int next = k + (B == Z);
  const real low =
      edge_increment<DEPTH, A, B>(rock, c, k) + edge_increment<DEPTH, A, B>(rock, c + a, k);
  const real high = edge_increment<NEXT, A, B>(rock, c + b, next) +
                    edge_increment<NEXT, A, B>(rock, c + a + b, next);
  return REAL(0.25) * (low + high);
}

// The change of the deviatoric stress at the centre of a cell in a step of linear rock.
template <int DEPTH> INLINE Deviator increment_at(const LinearRock& rock, index_t c, int k) {
  const Velocities& v = rock.v;
  const real xx = forward<X>(v.x + c), yy = forward<Y>(v.y + c), zz = forward<Z>(v.z + c);
  const real mean = (xx + yy + zz) * REAL(1.0 / 3);
  const real twice_mu = REAL(2) * DT * RECIPROCAL(rock.compliance[c]);
  return {twice_mu * (xx - mean), twice_mu * (yy - mean), shear_increment<DEPTH, X, Y>(rock, c, k),
          shear_increment<DEPTH, X, Z>(rock, c, k), shear_increment<DEPTH, Y, Z>(rock, c, k)};
}

// Of the shear stresses at the edges of a cell's low sides.
struct Shear {
  real xy, xz, yz;
};
template <int DEPTH> INLINE Shear edges_at(const LinearRock& rock, index_t c, int k) {
  return {edge_increment<DEPTH, X, Y>(rock, c, k), edge_increment<DEPTH, X, Z>(rock, c, k),
          edge_increment<DEPTH, Y, Z>(rock, c, k)};
}

#ifndef __CUDACC__

// Values of consecutive cells in vectorised loops.
constexpr int SOIL_CELLS = 256 / sizeof(real);

template <class Values> struct Lanes;
template <> struct Lanes<Shear> {
  real xy[SOIL_CELLS], xz[SOIL_CELLS], yz[SOIL_CELLS];

  METHOD Shear get(int m) const { return {xy[m], xz[m], yz[m]}; }
  METHOD void set(int m, const Shear& s) { xy[m] = s.xy, xz[m] = s.xz, yz[m] = s.yz; }
};
template <> struct Lanes<Deviator> {
  real xx[SOIL_CELLS], yy[SOIL_CELLS];
  Lanes<Shear> shear;

  METHOD Deviator get(int m) const { return {xx[m], yy[m], shear.xy[m], shear.xz[m], shear.yz[m]}; }
  METHOD void set(int m, const Deviator& s) {
    xx[m] = s.xx, yy[m] = s.yy;
    shear.set(m, {s.xy, s.xz, s.yz});
  }
};

#endif
