// Soft soil in the uppermost rows (seismology/kernels/iwan.h), on the staggered grid.
//
// The elements are at cell centres, with all their components. A step has three parts: the update
// of stresses as in linear rock; the elements of each cell, which yield; and the stresses that
// yielding takes, subtracted at their positions.
//
// At its centre, a cell has the mean of what linear rock would give each shear stress at its four
// edges. An edge loses its shear modulus times the mean of the plastic strains of its four cells.
// The second mean is the transpose of the first, as the modulus of an edge is the harmonic mean of
// those of its cells, which also makes the energy of the means at most that of the edges. What the
// elements do not carry is therefore elastic with a positive energy, so that the whole dissipates,
// as each element does. If yield were evaluated at each position, with other components averaged,
// or if a factor of each surface were averaged back, that would not follow.
//
// Where nothing yields, nothing is subtracted.
#pragma once
#include "box.h"
#include "materials.h"
#include "seismology/kernels/iwan.h"
#include "stencil.h"

// The cells that may yield: SOIL_X x SOIL_Y x SOIL_Z from (SOIL_I, SOIL_J, SOIL_K). Rows of
// `elements` start at SOIL_START, a multiple of a cache line, and have SOIL_ROW values:
//   elements [SOIL_Z][SOIL_Y][ELEMENTS][5][SOIL_ROW]: deviatoric stresses, Pa
//   reference [SOIL_Z][SOIL_Y][SOIL_ROW]: reference strain, infinite in linear cells
//   curves [SOIL_Z][SOIL_Y][SOIL_ROW]: number of the curve of a cell, with CURVES > 1
//   shares, strengths [CURVES][ELEMENTS]: of elements; see seismology/plasticity/backbone.py
//   carried [SOIL_Z]: part of the stiffness of cells that the elements may carry
struct Soil {
  real* elements;
  const real* reference;
  const Class* curves;
  const real *shares, *strengths, *carried;
};

// What a step of yielding takes from the cells of the uppermost rows, in fields with the strides
// of others: normal stresses, Pa, and engineering shear strains. 0 in cells that cannot yield.
struct Yielded {
  real *xx, *yy, *xy, *xz, *yz;
};

INLINE index_t soil_row(int j, int k) {
  return static_cast<index_t>(k - SOIL_K) * SOIL_Y + (j - SOIL_J);
}

// --- elements -------------------------------------------------------------------------------------

// Sum over the four cells around an edge along the axis normal to A and B.
template <Axis A, Axis B> INLINE real sum_around(const Modulus& f, index_t c) {
  const index_t a = step_along<A>(), b = step_along<B>();
  return (f[c] + f[c - a]) + (f[c - b] + f[c - a - b]);
}

struct Velocities {
  const real *x, *y, *z;

  template <Axis A> METHOD const real* along() const { return A == X ? x : A == Y ? y : z; }
};

// Where the upper faces of a row are: on a free surface, one row below it, or deeper.
enum { SURFACE, SECOND, DEEPER };

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

// A quarter of the rate of shear stress at an edge in linear rock.
template <int DEPTH, Axis A, Axis B>
INLINE real edge_rate(const Velocities& v, const Modulus& soft, index_t c) {
  if (B == Z && DEPTH == SURFACE) return REAL(0);
  const real first = B == Z ? down<DEPTH, A>(v, c) : backward<B>(v.along<A>() + c);
  return RECIPROCAL((sum_around<A, B>(soft, c))) * (first + backward<A>(v.along<B>() + c));
}

// Mean over the four edges of a cell.
template <int DEPTH, Axis A, Axis B>
INLINE real shear_rate(const Velocities& v, const Modulus& soft, index_t c) {
  constexpr int NEXT = B == Z && DEPTH < DEEPER ? DEPTH + 1 : DEPTH;
  const index_t a = step_along<A>(), b = step_along<B>();
  return (edge_rate<DEPTH, A, B>(v, soft, c) + edge_rate<DEPTH, A, B>(v, soft, c + a)) +
         (edge_rate<NEXT, A, B>(v, soft, c + b) + edge_rate<NEXT, A, B>(v, soft, c + a + b));
}

// The change of the deviatoric stress at the centre of a cell in a step of linear rock.
template <int DEPTH>
INLINE Deviator increment_at(const Velocities& v, const Modulus& soft, index_t c) {
  const real xx = forward<X>(v.x + c), yy = forward<Y>(v.y + c), zz = forward<Z>(v.z + c);
  const real mean = (xx + yy + zz) * REAL(1.0 / 3), twice_mu = REAL(2) * DT * RECIPROCAL(soft[c]);
  return {twice_mu * (xx - mean), twice_mu * (yy - mean), DT * shear_rate<DEPTH, X, Y>(v, soft, c),
          DT * shear_rate<DEPTH, X, Z>(v, soft, c), DT * shear_rate<DEPTH, Y, Z>(v, soft, c)};
}

INLINE int depth_of(int k) { return FREE_SURFACE && k < DEEPER ? k : DEEPER; }

INLINE Deviator load(const real* f, index_t apart) {
  return {f[0], f[apart], f[2 * apart], f[3 * apart], f[4 * apart]};
}
INLINE void store(real* f, index_t apart, const Deviator& d) {
  f[0] = d.xx;
  f[apart] = d.yy;
  f[2 * apart] = d.xy;
  f[3 * apart] = d.xz;
  f[4 * apart] = d.yz;
}

// The cells that a step of yielding reads and writes.
struct SoilUpdate {
  Soil soil;
  Yielded yielded;
  real* plastic_strain;
  Velocities v;
  Modulus compliance;

  METHOD real* elements_of(int i, int j, int k) const {
    return soil.elements + soil_row(j, k) * (ELEMENTS * Deviator::COMPONENTS * SOIL_ROW) +
           (i - SOIL_START);
  }
  METHOD index_t number(int i, int j, int k) const {
    return soil_row(j, k) * SOIL_ROW + (i - SOIL_START);
  }
  METHOD int curve(index_t n) const { return CURVES > 1 ? ELEMENTS * soil.curves[n] : 0; }

  template <int DEPTH> METHOD Deviator increment(int i, int j, int k) const {
    return increment_at<DEPTH>(v, compliance, cell_at(i, j, k));
  }
  METHOD real strength(index_t n, index_t c) const {
    return soil.reference[n] * RECIPROCAL(compliance[c]);
  }

  METHOD void finish(const Deviator& lost, int i, int j, int k) const {
    const index_t c = cell_at(i, j, k);
    const real soft = compliance[c], carried = soil.carried[k - SOIL_K];
    yielded.xx[c] = carried * lost.xx;
    yielded.yy[c] = carried * lost.yy;
    yielded.xy[c] = carried * soft * lost.xy;
    yielded.xz[c] = carried * soft * lost.xz;
    yielded.yz[c] = carried * soft * lost.yz;
    // sqrt(e : e / 2) of the increment e of plastic strain
    plastic_strain[c] += REAL(0.5) * soft * sqrt(lost.half_square());
  }
};

#ifdef __CUDACC__

// Prefetches the stresses of the elements of 32 cells, one line for each lane of a warp.
INLINE void fetch_elements(const real* own) {
  constexpr int LINE = 128 / sizeof(real), PER_ROW = 32 / LINE,
                LINES = ELEMENTS * Deviator::COMPONENTS * PER_ROW;
  const int lane = threadIdx.x % 32;
  for (int n = lane; n < LINES; n += 32)
    prefetch_line(own - lane + static_cast<index_t>(n / PER_ROW) * SOIL_ROW + n % PER_ROW * LINE);
}

// Advances a cell, with the stresses of AT_ONCE elements in registers.
INLINE void yield_cell(const SoilUpdate& update, int i, int j, int k) {
  constexpr int AT_ONCE = 5;
  constexpr index_t APART = Deviator::COMPONENTS * static_cast<index_t>(SOIL_ROW);
  real* const own = update.elements_of(i, j, k);
  const index_t n = update.number(i, j, k);
  const real *shares = update.soil.shares + update.curve(n),
             *strengths = update.soil.strengths + update.curve(n);
  const int depth = depth_of(k);
  const Deviator increment = depth == SURFACE  ? update.increment<SURFACE>(i, j, k)
                             : depth == SECOND ? update.increment<SECOND>(i, j, k)
                                               : update.increment<DEEPER>(i, j, k);
  const real scale = update.strength(n, cell_at(i, j, k));
  Deviator lost{}, s[AT_ONCE];
  for (int first = 0; first < ELEMENTS; first += AT_ONCE) {
    UNROLL
    for (int e = 0; e < AT_ONCE; ++e) {
      if (first + e < ELEMENTS) s[e] = load(own + (first + e) * APART, SOIL_ROW);
    }
    UNROLL
    for (int e = 0; e < AT_ONCE; ++e) {
      if (first + e >= ELEMENTS) break;
      advance_element(s[e], lost, increment, shares[first + e], scale * strengths[first + e]);
      store(own + (first + e) * APART, SOIL_ROW, s[e]);
    }
  }
  update.finish(lost, i, j, k);
}

INLINE void for_soil(const SoilUpdate& update) {
  FOR_CELLS(n, SOIL_I + SOIL_X - SOIL_START, j, SOIL_Y, k, SOIL_Z) {
    const int i = SOIL_START + n;
    fetch_elements(update.elements_of(i, SOIL_J + j, SOIL_K + k));
    if (i >= SOIL_I) yield_cell(update, i, SOIL_J + j, SOIL_K + k);
  }
}

#else

// Values of consecutive cells, so that loops over them are vectorised.
template <int COUNT> struct Deviators {
  real xx[COUNT], yy[COUNT], xy[COUNT], xz[COUNT], yz[COUNT];

  METHOD Deviator get(int m) const { return {xx[m], yy[m], xy[m], xz[m], yz[m]}; }
  METHOD void set(int m, const Deviator& d) {
    xx[m] = d.xx, yy[m] = d.yy, xy[m] = d.xy, xz[m] = d.xz, yz[m] = d.yz;
  }
};

constexpr int SOIL_LINE = 64 / sizeof(real), SOIL_CELLS = 4 * SOIL_LINE;

// Prefetches the stresses of an element in the same cells of the next row.
template <int COUNT> INLINE void fetch_element(const real* own) {
  const real* next = own + ELEMENTS * Deviator::COMPONENTS * static_cast<index_t>(SOIL_ROW);
  for (int component = 0; component < Deviator::COMPONENTS; ++component, next += SOIL_ROW)
    for (int m = 0; m < COUNT; m += SOIL_LINE) prefetch_line(next + m);
}

template <int DEPTH, int COUNT>
__attribute__((noinline)) void yield_cells(const SoilUpdate& update, int i, int j, int k) {
  Deviators<COUNT> increments, lost{};
  real scale[COUNT];
  int curve[COUNT];
  const index_t n = update.number(i, j, k), c = cell_at(i, j, k);
  PRAGMA(omp simd)
  for (int m = 0; m < COUNT; ++m) {
    increments.set(m, update.increment<DEPTH>(i + m, j, k));
    scale[m] = update.strength(n + m, c + m);
    curve[m] = update.curve(n + m);
  }
  real* own = update.elements_of(i, j, k);
  for (int e = 0; e < ELEMENTS; ++e, own += Deviator::COMPONENTS * SOIL_ROW) {
    fetch_element<COUNT>(own);
    PRAGMA(omp simd)
    for (int m = 0; m < COUNT; ++m) {
      Deviator s = load(own + m, SOIL_ROW), loss = lost.get(m);
      const real share = update.soil.shares[curve[m] + e],
                 strength = scale[m] * update.soil.strengths[curve[m] + e];
      advance_element(s, loss, increments.get(m), share, strength);
      store(own + m, SOIL_ROW, s);
      lost.set(m, loss);
    }
  }
  PRAGMA(omp simd)
  for (int m = 0; m < COUNT; ++m) update.finish(lost.get(m), i + m, j, k);
}

template <int DEPTH> inline void yield_row(const SoilUpdate& update, int j, int k) {
  int i = SOIL_I;
  for (; i + SOIL_CELLS <= SOIL_I + SOIL_X; i += SOIL_CELLS)
    yield_cells<DEPTH, SOIL_CELLS>(update, i, j, k);
  for (; i < SOIL_I + SOIL_X; ++i) yield_cells<DEPTH, 1>(update, i, j, k);
}

inline void for_soil(const SoilUpdate& update) {
  PRAGMA(omp parallel for collapse(2) schedule(static))
  for (int k = SOIL_K; k < SOIL_K + SOIL_Z; ++k)
    for (int j = SOIL_J; j < SOIL_J + SOIL_Y; ++j) {
      const FlushDenormals flush;
      const int depth = depth_of(k);
      if (depth == SURFACE) yield_row<SURFACE>(update, j, k);
      else if (depth == SECOND) yield_row<SECOND>(update, j, k);
      else yield_row<DEEPER>(update, j, k);
    }
}

#endif

#define YIELDED_FIELDS(type) type lost_xx, type lost_yy, type lost_xy, type lost_xz, type lost_yz

KERNEL yield_soil(real* elements, const real* RESTRICT reference, const Class* RESTRICT curves,
                  const real* RESTRICT shares, const real* RESTRICT strengths,
                  const real* RESTRICT carried, YIELDED_FIELDS(real* RESTRICT),
                  real* plastic_strain, const real* RESTRICT vx, const real* RESTRICT vy,
                  const real* RESTRICT vz, const real* RESTRICT compliance,
                  const Class* RESTRICT classes) {
  for_soil({{elements, reference, curves, shares, strengths, carried},
            {lost_xx, lost_yy, lost_xy, lost_xz, lost_yz},
            plastic_strain,
            {vx, vy, vz},
            {compliance, classes}});
}

// --- stresses -------------------------------------------------------------------------------------

// What the four cells around an edge take from its shear stress.
template <Axis A, Axis B> INLINE real taken(const real* strain, const Modulus& soft, index_t c) {
  const index_t a = step_along<A>(), b = step_along<B>();
  const real sum = (strain[c] + strain[c - a]) + (strain[c - b] + strain[c - a - b]);
  return RECIPROCAL((sum_around<A, B>(soft, c))) * sum;
}

// Subtracts what yielding took in cells of a box, and at edges whose cells it contains in part.
KERNEL release_soil(real* sxx, real* syy, real* szz, real* sxy, real* sxz, real* syz,
                    YIELDED_FIELDS(const real* RESTRICT), const real* RESTRICT compliance,
                    const Class* RESTRICT classes, BOX_ARGUMENTS) {
  const Modulus soft{compliance, classes};
  FOR_CELLS(ni, count_i, nj, count_j, nk, count_k) {
    const int k = static_cast<int>(first_k) + nk;
    const index_t c = cell_at(static_cast<int>(first_i) + ni, static_cast<int>(first_j) + nj, k);
    const bool below = !(FREE_SURFACE && k == 0);  // sxz and syz vanish on a free surface
    sxx[c] -= lost_xx[c];
    syy[c] -= lost_yy[c];
    szz[c] += lost_xx[c] + lost_yy[c];
    sxy[c] -= taken<X, Y>(lost_xy, soft, c);
    sxz[c] -= below ? taken<X, Z>(lost_xz, soft, c) : REAL(0);
    syz[c] -= below ? taken<Y, Z>(lost_yz, soft, c) : REAL(0);
  }
}
