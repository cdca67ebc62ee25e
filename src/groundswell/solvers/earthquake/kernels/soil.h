// Soft soil in the uppermost rows (seismology/kernels/iwan.h), on the staggered grid.
//
// Each component of an element's stress is where this component of the whole stress is. Surfaces
// yield in cells: the trial stress at the centre, with means of shear stresses over four edges,
// gives the part of its stress that an element loses. Edges lose the mean of the parts of their
// cells. One return at each position would need all other components there. Elements at centres
// alone, whose plastic strains act on edges, would need fewer bytes; but differences of strain
// between adjacent edges would remain elastic, and waves of ten cells in soil that has softened to
// G / 20 be 60 % too fast.
//
// A step has four parts: cells yield; ranks exchange the parts that they lose; edges lose theirs;
// and after the update of stresses as in linear rock, what was lost is subtracted. Where nothing
// yields, that is nothing.
#pragma once
#include "bands.h"
#include "materials.h"
#include "rows.h"
#include "seismology/kernels/iwan.h"
#include "stencil.h"

// SOIL_X x SOIL_Y x SOIL_Z cells from (SOIL_I, SOIL_J, SOIL_K) may yield, and all their edges. Rows
// of these arrays start at SOIL_START and have SOIL_ROW values:
//   elements [SOIL_Z + 1][SOIL_Y + 1][ELEMENTS][5][SOIL_ROW]: deviatoric stresses, Pa
//   reference [SOIL_Z + 1][SOIL_Y + 1][SOIL_ROW]: reference strain, infinite in linear cells
// Tables:
//   curves [SOIL_Z + 1]: number of the curve of each depth row
//   shares, strengths [CURVES][ELEMENTS]: of elements; see seismology/plasticity/backbone.py
//   carried [SOIL_Z + 1]: part of the stiffness of normal strains that elements carry
// Fields with the strides of others:
//   parts [ELEMENTS], PARTS_APART: part of its trial stress that each element loses in cells
//   lost_xx, lost_yy, lost_xy, lost_xz, lost_yz: stresses that the soil loses in a step, Pa
struct Soil {
  real* elements;
  const real* reference;
  const int* curves;
  const real *shares, *strengths;
  real* parts;

  METHOD index_t row(int j, int k) const {
    return static_cast<index_t>(k - SOIL_K) * (SOIL_Y + 1) + (j - SOIL_J);
  }
  // The first component of the first element.
  METHOD real* at(int i, int j, int k) const {
    return elements + row(j, k) * ELEMENTS * Deviator::COMPONENTS * SOIL_ROW + (i - SOIL_START);
  }
  METHOD real reference_at(int i, int j, int k) const {
    return reference[row(j, k) * SOIL_ROW + (i - SOIL_START)];
  }
  METHOD int curve(int k) const { return CURVES > 1 ? ELEMENTS * curves[k - SOIL_K] : 0; }
};

// Steps between elements and between rows of them.
INLINE index_t element_step() { return Deviator::COMPONENTS * static_cast<index_t>(SOIL_ROW); }
template <Axis A> INLINE index_t soil_step() {
  return A == X ? 1 : A == Y ? ELEMENTS * element_step() : ELEMENTS * element_step() * (SOIL_Y + 1);
}

// --- strains --------------------------------------------------------------------------------------

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

// --- yield ----------------------------------------------------------------------------------------

template <Axis A, Axis B> INLINE real mean_of_edges(const real* s) {
  const index_t a = soil_step<A>(), b = soil_step<B>();
  return REAL(0.25) * ((s[0] + s[a]) + (s[b] + s[a + b]));
}

// The stress of an element at the centre of a cell; `s` points to its first component.
INLINE Deviator element_at(const real* s) {
  return {s[0], s[SOIL_ROW], mean_of_edges<X, Y>(s + 2 * SOIL_ROW),
          mean_of_edges<X, Z>(s + 3 * SOIL_ROW), mean_of_edges<Y, Z>(s + 4 * SOIL_ROW)};
}

// The cells: their elements yield.
struct CellYield {
  typedef Deviator Values;
  Soil soil;
  LinearRock rock;
  const real* carried;
  real *lost_xx, *lost_yy, *plastic_strain;

  template <int DEPTH> METHOD Values increment(int i, int j, int k) const {
    return increment_at<DEPTH>(rock, cell_at(i, j, k), k);
  }
  METHOD real scale(int i, int j, int k) const {
    return soil.reference_at(i, j, k) * RECIPROCAL(rock.compliance[cell_at(i, j, k)]);
  }
  // Advances element e, of which `s` is the first component; `c` is the cell.
  METHOD void advance(real* s, Values& lost, const Values& increment, real scale, int e, int n,
                      index_t c) const {
    const Deviator trial = sum(element_at(s), soil.shares[n], increment);
    const real part = lost_part(trial.half_square(), scale * soil.strengths[n]);
    lost = sum(lost, part, trial);
    s[0] = FMA(-part, trial.xx, trial.xx);
    s[SOIL_ROW] = FMA(-part, trial.yy, trial.yy);
    soil.parts[e * PARTS_APART + c] = part;
  }
  METHOD void finish(const Values& lost, int i, int j, int k) const {
    const index_t c = cell_at(i, j, k);
    lost_xx[c] = carried[k - SOIL_K] * lost.xx;
    lost_yy[c] = carried[k - SOIL_K] * lost.yy;
    // sqrt(e : e / 2) of the increment e of plastic strain
    plastic_strain[c] += REAL(0.5) * rock.compliance[c] * sqrt(lost.half_square());
  }
};

template <Axis A, Axis B> INLINE real mean_of_cells(const real* part) {
  const index_t a = step_along<A>(), b = step_along<B>();
  return REAL(0.25) * ((part[0] + part[-a]) + (part[-b] + part[-a - b]));
}

INLINE void lose(real& s, real& lost, real share, real increment, real part) {
  const real trial = FMA(share, increment, s);
  lost = FMA(part, trial, lost);
  s = FMA(-part, trial, trial);
}

// The edges: their elements lose what their cells have found.
struct EdgeYield {
  typedef Shear Values;
  Soil soil;
  LinearRock rock;
  real *lost_xy, *lost_xz, *lost_yz;

  template <int DEPTH> METHOD Values increment(int i, int j, int k) const {
    return edges_at<DEPTH>(rock, cell_at(i, j, k), k);
  }
  METHOD real scale(int, int, int) const { return REAL(0); }
  METHOD void advance(real* s, Values& lost, const Values& increment, real, int e, int n,
                      index_t c) const {
    const real* part = soil.parts + e * PARTS_APART + c;
    const real share = soil.shares[n];
    lose(s[2 * SOIL_ROW], lost.xy, share, increment.xy, mean_of_cells<X, Y>(part));
    lose(s[3 * SOIL_ROW], lost.xz, share, increment.xz, mean_of_cells<X, Z>(part));
    lose(s[4 * SOIL_ROW], lost.yz, share, increment.yz, mean_of_cells<Y, Z>(part));
  }
  METHOD void finish(const Values& lost, int i, int j, int k) const {
    const index_t c = cell_at(i, j, k);
    lost_xy[c] = lost.xy;
    lost_xz[c] = lost.xz;
    lost_yz[c] = lost.yz;
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

template <class Update> INLINE void yield_at(const Update& update, int i, int j, int k) {
  typename Update::Values lost{};
  const int depth = depth_of(k), first = update.soil.curve(k);
  const typename Update::Values increment =
      depth == SURFACE  ? update.template increment<SURFACE>(i, j, k)
      : depth == SECOND ? update.template increment<SECOND>(i, j, k)
                        : update.template increment<DEEPER>(i, j, k);
  const real scale = update.scale(i, j, k);
  real* const own = update.soil.at(i, j, k);
  for (int e = 0; e < ELEMENTS; ++e)
    update.advance(own + e * element_step(), lost, increment, scale, e, first + e,
                   cell_at(i, j, k));
  update.finish(lost, i, j, k);
}

// All cells, and `more` beyond them along each axis.
template <class Update> INLINE void for_soil(const Update& update, int more) {
  const Box box{SOIL_START,    SOIL_J,       SOIL_K, SOIL_I + SOIL_X - SOIL_START + more,
                SOIL_Y + more, SOIL_Z + more};
  const Point at = point_in_band(box);
  if (!contains(box, at)) return;
  fetch_elements(update.soil.at(at.i, at.j, at.k));
  if (at.i >= SOIL_I) yield_at(update, at.i, at.j, at.k);
}

#else

constexpr int SOIL_LINE = 64 / sizeof(real), SOIL_CELLS = 4 * SOIL_LINE;

// Prefetches the stresses of an element in the same cells of the next row.
template <int COUNT> INLINE void fetch_element(const real* own) {
  const real* next = own + soil_step<Y>();
  for (int component = 0; component < Deviator::COMPONENTS; ++component, next += SOIL_ROW)
    for (int m = 0; m < COUNT; m += SOIL_LINE) prefetch_line(next + m);
}

// Consecutive cells, so that loops over them are vectorised.
template <int DEPTH, int COUNT, class Update>
__attribute__((noinline)) void yield_cells(const Update& update, int i, int j, int k) {
  typename Update::Values increments[COUNT], lost[COUNT]{};
  real scale[COUNT];
  PRAGMA(omp simd)
  for (int m = 0; m < COUNT; ++m) {
    increments[m] = update.template increment<DEPTH>(i + m, j, k);
    scale[m] = update.scale(i + m, j, k);
  }
  real* own = update.soil.at(i, j, k);
  const index_t c = cell_at(i, j, k);
  const int first = update.soil.curve(k);
  for (int e = 0; e < ELEMENTS; ++e, own += element_step()) {
    fetch_element<COUNT>(own);
    PRAGMA(omp simd)
    for (int m = 0; m < COUNT; ++m)
      update.advance(own + m, lost[m], increments[m], scale[m], e, first + e, c + m);
  }
  PRAGMA(omp simd)
  for (int m = 0; m < COUNT; ++m) update.finish(lost[m], i + m, j, k);
}

template <int DEPTH, class Update>
inline void yield_row(const Update& update, int j, int k, int more) {
  int i = SOIL_I;
  for (; i + SOIL_CELLS <= SOIL_I + SOIL_X + more; i += SOIL_CELLS)
    yield_cells<DEPTH, SOIL_CELLS>(update, i, j, k);
  for (; i < SOIL_I + SOIL_X + more; ++i) yield_cells<DEPTH, 1>(update, i, j, k);
}

template <class Update> inline void for_soil(const Update& update, int more) {
  PRAGMA(omp parallel for collapse(2) schedule(static))
  for (int k = SOIL_K; k < SOIL_K + SOIL_Z + more; ++k)
    for (int j = SOIL_J; j < SOIL_J + SOIL_Y + more; ++j) {
      const FlushDenormals flush;
      const int depth = depth_of(k);
      if (depth == SURFACE) yield_row<SURFACE>(update, j, k, more);
      else if (depth == SECOND) yield_row<SECOND>(update, j, k, more);
      else yield_row<DEEPER>(update, j, k, more);
    }
}

#endif

#define SOIL_ARGUMENTS                                                           \
  real *elements, const real *RESTRICT reference, const int *RESTRICT curves,    \
      const real *RESTRICT shares, const real *RESTRICT strengths, real *parts,  \
      const real *RESTRICT vx, const real *RESTRICT vy, const real *RESTRICT vz, \
      const real *RESTRICT compliance, const Class *RESTRICT classes, const real *RESTRICT rows
#define SOIL \
  Soil { elements, reference, curves, shares, strengths, parts }
#define LINEAR_ROCK \
  LinearRock { {vx, vy, vz}, {compliance, classes}, rows }

KERNEL yield_soil(SOIL_ARGUMENTS, const real* RESTRICT carried, real* lost_xx, real* lost_yy,
                  real* plastic_strain) {
  for_soil(CellYield{SOIL, LINEAR_ROCK, carried, lost_xx, lost_yy, plastic_strain}, 0);
}

KERNEL yield_edges(SOIL_ARGUMENTS, real* lost_xy, real* lost_xz, real* lost_yz) {
  for_soil(EdgeYield{SOIL, LINEAR_ROCK, lost_xy, lost_xz, lost_yz}, 1);
}

// A GPU does not write what does not change.
INLINE void subtract(real& s, real lost) {
  if (!COALESCED || lost != REAL(0)) s -= lost;
}

// Subtracts what the soil lost from the stresses of a box.
KERNEL release_soil(real* sxx, real* syy, real* szz, real* sxy, real* sxz, real* syz,
                    const real* RESTRICT lost_xx, const real* RESTRICT lost_yy,
                    const real* RESTRICT lost_xy, const real* RESTRICT lost_xz,
                    const real* RESTRICT lost_yz, BOX_ARGUMENTS) {
  FOR_CELLS(i, count_i, j, count_j, k, count_k) {
    const index_t c = cell_at(static_cast<int>(first_i) + i, static_cast<int>(first_j) + j,
                              static_cast<int>(first_k) + k);
    subtract(sxx[c], lost_xx[c]);
    subtract(syy[c], lost_yy[c]);
    subtract(szz[c], -(lost_xx[c] + lost_yy[c]));
    subtract(sxy[c], lost_xy[c]);
    subtract(sxz[c], lost_xz[c]);
    subtract(syz[c], lost_yz[c]);
  }
}
