// Properties of cells: a field of each or, with CLASSES, a field of 16-bit classes and a table.
#pragma once
#include "stencil.h"

typedef unsigned short Class;

// With CLASSES, `values` points to the property in the table's first record, which has RECORD
// values, and `classes` to the classes of the cells; otherwise `values` is the field itself.
template <int RECORD> struct Property {
  const real* values;
  const Class* classes;

  METHOD real operator[](index_t c) const {
    return CLASSES ? values[RECORD * static_cast<int>(classes[c])] : values[c];
  }
  // What a kernel reads of this cell from main memory.
  METHOD const void* address(index_t c) const {
    return CLASSES ? static_cast<const void*>(classes + c) : values + c;
  }
};
typedef Property<1> Density;
typedef Property<MODULI> Modulus;

// Sums over the four cells around the edge of each shear stress.
struct EdgeSums {
  real xy, xz, yz;
};

// 1/mu and 1/Qs of a cell, the latter only with ATTENUATION.
struct ShearMatter {
  real compliance, inverse_qs;
};

// lambda, 1/mu, 1/Qp and 1/Qs of a cell, and sums of the second and the last around its edges. One
// correction of its depth row is set later; the others are read later still, which saves registers.
struct Matter {
  real lam, compliance, inverse_qp, inverse_qs;
  EdgeSums edge_compliance, edge_inverse_qs;
  real across_z;
};

// The moduli and 1/Q of all cells.
struct Moduli {
  Modulus lam, compliance, inverse_qp, inverse_qs;

  METHOD void fetch(index_t c) const {
    prefetch(lam.address(c));
    if (CLASSES) return;
    prefetch(compliance.address(c));
    if (ATTENUATION) prefetch(inverse_qp.address(c), inverse_qs.address(c));
  }
  // Prefetches what averages read of the row above.
  METHOD void fetch_above(index_t c) const {
    prefetch(compliance.address(c - STEP_Z));
    if (ATTENUATION && !CLASSES) prefetch(inverse_qs.address(c - STEP_Z));
  }
};

INLINE EdgeSums sum_over_edges(const Modulus& f, index_t c) {
  const real west = f[c] + f[c - STEP_X], north = f[c - STEP_Y], up = f[c - STEP_Z];
  return {west + (north + f[c - STEP_X - STEP_Y]), west + (up + f[c - STEP_X - STEP_Z]),
          (f[c] + north) + (up + f[c - STEP_Y - STEP_Z])};
}

#if CLASSES && ATTENUATION && defined(__CUDACC__)

// A GPU reads half a record, or a whole one, at once. In a record, 1/mu and 1/Qs come first.
struct alignas(2 * sizeof(real)) HalfRecord {
  real a, b;
};
INLINE HalfRecord half_record(const Moduli& f, index_t c, int half) {
  return reinterpret_cast<const HalfRecord*>(
      f.compliance.values)[2 * f.compliance.classes[c] + half];
}

INLINE Matter matter_at(const Moduli& f, index_t c) {
  const HalfRecord here = half_record(f, c, 0), bulk = half_record(f, c, 1);
  const HalfRecord w = half_record(f, c - STEP_X, 0), n = half_record(f, c - STEP_Y, 0),
                   u = half_record(f, c - STEP_Z, 0), nw = half_record(f, c - STEP_X - STEP_Y, 0),
                   uw = half_record(f, c - STEP_X - STEP_Z, 0),
                   un = half_record(f, c - STEP_Y - STEP_Z, 0);
  const real west = here.a + w.a, west_q = here.b + w.b;
  return {bulk.a,
          here.a,
          bulk.b,
          here.b,
          {west + (n.a + nw.a), west + (u.a + uw.a), (here.a + n.a) + (u.a + un.a)},
          {west_q + (n.b + nw.b), west_q + (u.b + uw.b), (here.b + n.b) + (u.b + un.b)}};
}

#else

INLINE Matter matter_at(const Moduli& f, index_t c) {
  return {f.lam[c],
          f.compliance[c],
          ATTENUATION ? f.inverse_qp[c] : REAL(0),
          ATTENUATION ? f.inverse_qs[c] : REAL(0),
          sum_over_edges(f.compliance, c),
          ATTENUATION ? sum_over_edges(f.inverse_qs, c) : EdgeSums{}};
}

#endif
