// Perfectly matched layers: memory variables of the derivatives along the normal of a layer; see
// matched_layers.py:
//   df/dx becomes df/dx + psi,   d psi / dt = -(d + alpha) psi - d df/dx
#pragma once
#include "scheme.h"

#if MATCHED
//   sets [elements][3]: index of an element's set of variables along each axis; -1 outside layers
//   rows [sets]: profile of each set
//   profiles [P][2][NODES]: d and d + alpha at the nodes of a line, 1/s
//   psi, r [sets][STRETCHED][CUBE]: the variables, and the register of the low-storage scheme
struct MatchedLayers {
  const int *sets, *rows;
  const real* profiles;
  real *psi, *r;

  METHOD bool inside(index_t e) const {
    return sets[3 * e] >= 0 || sets[3 * e + 1] >= 0 || sets[3 * e + 2] >= 0;
  }

  // Adds the memory variables of node `place` of element e to its derivatives, and advances them.
  // On a CPU, a Value covers several nodes. at(profile, axis) returns the value of a profile at the
  // node; `load` and `store` access the variables.
  template <class Value, class At, class Load, class Store>
  METHOD void advance(index_t e, int place, const Stage& stage, const At& at, const Load& load,
                      const Store& store, Slopes<Value>& slopes) const {
    const real a = static_cast<real>(stage.a), b = static_cast<real>(stage.b);
    UNROLL
    for (int axis = 0; axis < 3; ++axis) {
      const int set = sets[3 * e + axis];
      if (set < 0) continue;
      const real* const profile = profiles + rows[set] * (2 * NODES);
      const Value damping = at(profile, axis), decay = at(profile + NODES, axis);
      const index_t first = static_cast<index_t>(set) * (STRETCHED * CUBE) + place;
      Value old[STRETCHED], rates[STRETCHED];
      load_all(psi + first, CUBE, load, old);
      UNROLL
      for (int c = 0; c < STRETCHED; ++c) {
        rates[c] = -(decay * old[c] + damping * stretched(slopes, axis, c));
        stretched(slopes, axis, c) += old[c];
      }
      advance_variables(a, b, rates, old, CUBE, r + first, psi + first, load, store);
    }
  }
};

#define LAYER_ARGUMENTS                                                                           \
  , const int *layer_sets, const int *layer_rows, const real *layer_profiles, real *layer_memory, \
      real *layer_register
#define LAYERS_TERM \
  , { layer_sets, layer_rows, layer_profiles, layer_memory, layer_register }
#else
#define LAYER_ARGUMENTS
#define LAYERS_TERM
#endif
