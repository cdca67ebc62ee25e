// Soft soil in the uppermost rows (seismology/kernels/iwan.h), on the staggered grid.
//
// Each component of an element's stress is where this component of the whole stress is. Surfaces
// yield in cells: the trial stress at the centre, with means of shear stresses over four edges,
// gives the part of its stress that an element loses. Edges lose the mean of the parts of their
// cells. One return at each position would need all other components there. Elements at centres
// alone, whose plastic strains act on edges, would need fewer bytes; but differences of strain
// between adjacent edges would remain elastic, and waves of ten cells in soil that has softened to
// G / 20 be 70 % too fast.
//
// A step has four parts: cells yield; ranks exchange the parts that they lose; edges lose theirs;
// and after the update of stresses as in linear rock, what was lost is subtracted. Where nothing
// yields, that is nothing.
//
// The absorbing layers at the sides lose what the outermost cells and edges of the soil lose. They
// then move as the soil does. Beside layers that remain stiff, the difference would shear these
// cells several times as much. An element in a layer would need the memory of its derivatives.
//
// The stress of an element is its share of the stress that linear rock would have, less all that the
// element has lost. Only elements that yield are written therefore, and only those that have
// yielded before are read.
#pragma once
#include "soil_sweep.h"

template <Axis A, Axis B> INLINE real mean_of_edges(const real* s) {
  const index_t a = soil_step<A>(), b = soil_step<B>();
  return REAL(0.25) * ((s[0] + s[a]) + (s[b] + s[a + b]));
}

// A deviator at the centre of a cell; `s` points to its first component.
INLINE Deviator centre(const real* s) {
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

  // The stress that linear rock has after the step, at the centre.
  template <int DEPTH> METHOD Values start(int i, int j, int k) const {
    real* const s = soil.at(i, j, k);
    const Deviator now = sum(centre(s), REAL(1), increment_at<DEPTH>(rock, cell_at(i, j, k), k));
    s[0] = now.xx;
    s[SOIL_ROW] = now.yy;
    return now;
  }
  METHOD real scale(int i, int j, int k) const {
    return soil.reference[soil.number(i, j, k)] * RECIPROCAL(rock.compliance[cell_at(i, j, k)]);
  }
  METHOD Count& count(int i, int j, int k) const { return soil.cell_counts[soil.number(i, j, k)]; }
  // How many elements have lost something in the cell or at one of its edges.
  METHOD int bound(int i, int j, int k) const {
    const index_t x = count_step<X>(), y = count_step<Y>(), z = count_step<Z>();
    const Count* n = soil.edge_counts + soil.number(i, j, k);
    const int low = larger(larger(n[0], n[x]), larger(n[y], n[x + y]));
    const int high = larger(larger(n[z], n[x + z]), larger(n[y + z], n[x + y + z]));
    return larger(count(i, j, k), larger(low, high));
  }
  // Whether an element yields that has not lost anything yet.
  METHOD bool begins(const Values& now, real scale, int n) const {
    const Deviator trial = sum(Deviator{}, soil.shares[n], now);
    return lost_part(trial.half_square(), scale * soil.strengths[n]) != REAL(0);
  }
  // Advances element e; `own` is what it has lost, `c` the cell. Whether it yields.
  METHOD bool advance(real* own, Values& lost, const Values& now, real scale, int e, int n,
                      index_t c) const {
    const Deviator trial = sum(sum(Deviator{}, REAL(-1), centre(own)), soil.shares[n], now);
    const real part = lost_part(trial.half_square(), scale * soil.strengths[n]);
    soil.parts[e * PARTS_APART + c] = part;
    lost = sum(lost, part, trial);
    if (COALESCED && part == REAL(0)) return false;
    own[0] = FMA(part, trial.xx, own[0]);
    own[SOIL_ROW] = FMA(part, trial.yy, own[SOIL_ROW]);
    return part != REAL(0);
  }
  METHOD void finish(const Values& lost, int i, int j, int k) const {
    const index_t c = cell_at(i, j, k);
    lost_xx[c] = carried[k - SOIL_K] * lost.xx;
    lost_yy[c] = carried[k - SOIL_K] * lost.yy;
    // sqrt(e : e / 2) of the increment e of plastic strain
    const real square = lost.half_square();
    if (COALESCED && square == REAL(0)) return;
    plastic_strain[c] += REAL(0.5) * rock.compliance[c] * sqrt(square);
  }
};

template <Axis A, Axis B> INLINE real mean_of_cells(const real* part) {
  const index_t a = step_along<A>(), b = step_along<B>();
  return REAL(0.25) * ((part[0] + part[-a]) + (part[-b] + part[-a - b]));
}

INLINE void lose(real& own, real& lost, real share, real now, real part) {
  if (COALESCED && part == REAL(0)) return;
  const real trial = FMA(share, now, -own);
  lost = FMA(part, trial, lost);
  own = FMA(part, trial, own);
}

// The edges: their elements lose what those of their cells have lost.
struct EdgeYield {
  typedef Shear Values;
  Soil soil;
  LinearRock rock;
  real *lost_xy, *lost_xz, *lost_yz;

  template <int DEPTH> METHOD Values start(int i, int j, int k) const {
    real* const s = soil.at(i, j, k);
    const Shear change = edges_at<DEPTH>(rock, cell_at(i, j, k), k);
    const Shear now = {s[2 * SOIL_ROW] + change.xy, s[3 * SOIL_ROW] + change.xz,
                       s[4 * SOIL_ROW] + change.yz};
    s[2 * SOIL_ROW] = now.xy;
    s[3 * SOIL_ROW] = now.xz;
    s[4 * SOIL_ROW] = now.yz;
    return now;
  }
  METHOD real scale(int, int, int) const { return REAL(0); }
  METHOD Count& count(int i, int j, int k) const { return soil.edge_counts[soil.number(i, j, k)]; }
  // How many elements have yielded in an adjacent cell; any where another rank may have one.
  METHOD int bound(int i, int j, int k) const {
    if (SHARED_X && (i == SOIL_I || i == SOIL_I + SOIL_X)) return ELEMENTS;
    if (SHARED_Y && (j == SOIL_J || j == SOIL_J + SOIL_Y)) return ELEMENTS;
    const index_t x = i > SOIL_I ? count_step<X>() : 0, y = j > SOIL_J ? count_step<Y>() : 0,
                  z = k > SOIL_K ? count_step<Z>() : 0;
    const Count* n = soil.cell_counts + soil.number(i, j, k);
    const int level = larger(larger(n[0], n[-x]), larger(n[-y], n[-x - y]));
    return larger(level, larger(n[-z], larger(n[-x - z], n[-y - z])));
  }
  METHOD bool begins(const Values&, real, int) const { return false; }
  METHOD bool advance(real* own, Values& lost, const Values& now, real, int e, int n,
                      index_t c) const {
    const real* part = soil.parts + e * PARTS_APART + c;
    const real xy = mean_of_cells<X, Y>(part), xz = mean_of_cells<X, Z>(part),
               yz = mean_of_cells<Y, Z>(part), share = soil.shares[n];
    lose(own[2 * SOIL_ROW], lost.xy, share, now.xy, xy);
    lose(own[3 * SOIL_ROW], lost.xz, share, now.xz, xz);
    lose(own[4 * SOIL_ROW], lost.yz, share, now.yz, yz);
    return xy + xz + yz != REAL(0);
  }
  METHOD void finish(const Values& lost, int i, int j, int k) const {
    const index_t c = cell_at(i, j, k);
    lost_xy[c] = lost.xy;
    lost_xz[c] = lost.xz;
    lost_yz[c] = lost.yz;
  }
};

// The cell from which cell n of a layer takes what is lost. Along each axis of the grid, cells LOW to
// HIGH yield, and so do edges up to HIGH + 1.
INLINE int inner(int n, int low, int high) { return n < low ? low : n > high ? high : n; }

// Cells beside the soil lose the parts of the outermost cells, so that edges between them do.
KERNEL repeat_parts(real* parts, BOX_ARGUMENTS) {
  FOR_CELLS(i, count_i, j, count_j, k, count_k) {
    const Box box = BOX;
    const int x = box.i + i, y = box.j + j, z = box.k + k;
    const index_t to = cell_at(x, y, z);
    const index_t from = cell_at(inner(x, LOW_X, HIGH_X), inner(y, LOW_Y, HIGH_Y), z);
    for (index_t e = 0; e < ELEMENTS; ++e)
      parts[e * PARTS_APART + to] = parts[e * PARTS_APART + from];
  }
}

// Layers lose the stresses that the outermost cells and edges lose.
KERNEL repeat_lost(real* lost_xx, real* lost_yy, real* lost_xy, real* lost_xz, real* lost_yz,
                   BOX_ARGUMENTS) {
  FOR_CELLS(i, count_i, j, count_j, k, count_k) {
    const Box box = BOX;
    const int x = box.i + i, y = box.j + j, z = box.k + k;
    const int cell_x = inner(x, LOW_X, HIGH_X), edge_x = inner(x, LOW_X, HIGH_X + 1);
    const int cell_y = inner(y, LOW_Y, HIGH_Y), edge_y = inner(y, LOW_Y, HIGH_Y + 1);
    const index_t c = cell_at(x, y, z), centre = cell_at(cell_x, cell_y, z);
    lost_xx[c] = lost_xx[centre];
    lost_yy[c] = lost_yy[centre];
    lost_xy[c] = lost_xy[cell_at(edge_x, edge_y, z)];
    lost_xz[c] = lost_xz[cell_at(edge_x, cell_y, z)];
    lost_yz[c] = lost_yz[cell_at(cell_x, edge_y, z)];
  }
}

#define SOIL_ARGUMENTS                                                                         \
  real *elements, Count *cell_counts, Count *edge_counts, const real *RESTRICT reference,      \
      const int *RESTRICT curves, const real *RESTRICT shares, const real *RESTRICT strengths, \
      real *parts, const real *RESTRICT vx, const real *RESTRICT vy, const real *RESTRICT vz,  \
      const real *RESTRICT compliance, const Class *RESTRICT classes, const real *RESTRICT rows
#define SOIL \
  Soil { elements, cell_counts, edge_counts, reference, curves, shares, strengths, parts }
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
