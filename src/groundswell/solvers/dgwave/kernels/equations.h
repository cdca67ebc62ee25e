// What acoustic and elastic equations have in common: values of elements and faces. The sizes
// FIELDS, TRACE, JUMP, STRAINS, STRETCHED, COLUMNS, MODULI and IMPEDANCES come from equations.py,
// which fills the structs by the names of their members.
#pragma once
#include "portable.h"

struct Edges {
  real scale[3];  // 2 / edge: scales derivatives on [-1, 1] to those along x, y, z
};

constexpr int TERMS = MATCHED ? 3 : 1;  // number of terms of a divergence, see `Slopes`

struct Flux {
  real reflection;  // at a boundary: -1 free surface, 1 rigid, 0 absorbing
  real upwind;      // 1 for the Riemann flux, 0 for the central flux
};
