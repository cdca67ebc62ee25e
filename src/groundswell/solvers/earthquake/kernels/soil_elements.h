// Elements of soft soil: their arrays.
#pragma once
#include "soil_strains.h"

typedef unsigned char Count;

// SOIL_X x SOIL_Y x SOIL_Z cells from (SOIL_I, SOIL_J, SOIL_K) may yield, and all their edges. Rows
// of these arrays start at SOIL_START and have SOIL_ROW values:
//   elements [SOIL_Z + 1][SOIL_Y + 1][1 + ELEMENTS][5][SOIL_ROW]: deviatoric stress of linear rock,
//     and what each element has lost, Pa
//   cell_counts, edge_counts [SOIL_Z + 1][SOIL_Y + 1][SOIL_ROW]: number of elements that have ever
//     yielded in a cell, or at the edges of its low sides
//   reference, of the same shape: reference strain, infinite in linear cells
// Tables:
//   curves [SOIL_Z + 1]: number of the curve of each depth row
//   shares, strengths [CURVES][ELEMENTS]: of elements; see seismology/plasticity/backbone.py
//   carried [SOIL_Z]: part of the stiffness of normal strains that elements carry
// Fields with the strides of others:
//   parts [ELEMENTS], PARTS_APART: part of its trial stress that each element loses in cells
//   lost_xx, lost_yy, lost_xy, lost_xz, lost_yz: stresses that the soil loses in a step, Pa
// SHARED_X, SHARED_Y: whether there may be cells beyond the soil's ends that yield, in ghosts.
struct Soil {
  real* elements;
  Count *cell_counts, *edge_counts;
  const real* reference;
  const int* curves;
  const real *shares, *strengths;
  real* parts;

  METHOD index_t row(int j, int k) const {
    return static_cast<index_t>(k - SOIL_K) * (SOIL_Y + 1) + (j - SOIL_J);
  }
  METHOD index_t number(int i, int j, int k) const {
    return row(j, k) * SOIL_ROW + (i - SOIL_START);
  }
  // The stress of linear rock; elements follow.
  METHOD real* at(int i, int j, int k) const {
    return elements + row(j, k) * (1 + ELEMENTS) * Deviator::COMPONENTS * SOIL_ROW +
           (i - SOIL_START);
  }
  METHOD int curve(int k) const { return CURVES > 1 ? ELEMENTS * curves[k - SOIL_K] : 0; }
};

// Steps between elements, between rows and between cells in arrays of counts.
INLINE index_t element_step() { return Deviator::COMPONENTS * static_cast<index_t>(SOIL_ROW); }
template <Axis A> INLINE index_t soil_step() {
  const index_t row = (1 + ELEMENTS) * element_step();
  return A == X ? 1 : A == Y ? row : row * (SOIL_Y + 1);
}
template <Axis A> INLINE index_t count_step() {
  const index_t row = SOIL_ROW;
  return A == X ? 1 : A == Y ? row : row * (SOIL_Y + 1);
}
INLINE int larger(int a, int b) { return a > b ? a : b; }
