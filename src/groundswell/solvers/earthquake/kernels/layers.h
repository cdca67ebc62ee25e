// Absorbing layers: which cells lie in them, and what they do to a derivative or a value.
#pragma once
#include "stencil.h"

// Cells in a layer, counted along an axis over both layers: low side first.
constexpr int LAYERS_X = BEFORE_X + AFTER_X;
constexpr int LAYERS_Y = BEFORE_Y + AFTER_Y;
constexpr int LAYERS_Z = BEFORE_Z + AFTER_Z;

INLINE bool in_layer(int n, int count, int before, int after) {
  return n < before || n >= count - after;
}
INLINE int layer_index(int n, int count, int before, int after) {
  return n < before ? n : n - (count - before - after);
}

#ifdef __CUDACC__

struct InLayer {
  bool x, y, z;
};

template <class Body> INLINE void for_cells_by_layer(const Body& body) {
  FOR_CELLS(i, NX, j, NY, k, NZ) {
    body(i, j, k,
         InLayer{in_layer(i, NX, BEFORE_X, AFTER_X), in_layer(j, NY, BEFORE_Y, AFTER_Y),
                 in_layer(k, NZ, BEFORE_Z, AFTER_Z)});
  }
}

#else

// On a CPU the flags are types, so that each vector loop is free of branches.
template <bool X, bool Y, bool Z> struct InLayer {
  static constexpr bool x = X, y = Y, z = Z;
};

template <class Flags, class Body>
__attribute__((noinline)) void sweep_row(const Body& body, int begin, int end, int j, int k) {
  PRAGMA(omp simd)
  for (int i = begin; i < end; ++i) body(i, j, k, Flags{});
}

template <bool Y, bool Z, class Body> inline void sweep_rows(const Body& body, int j, int k) {
  if (LAYERS_X > 0) {
    sweep_row<InLayer<(LAYERS_X > 0), Y, Z>>(body, 0, BEFORE_X, j, k);
    sweep_row<InLayer<(LAYERS_X > 0), Y, Z>>(body, NX - AFTER_X, NX, j, k);
  }
  sweep_row<InLayer<false, Y, Z>>(body, BEFORE_X, NX - AFTER_X, j, k);
}

template <class Body> inline void for_cells_by_layer(const Body& body) {
  PRAGMA(omp parallel for collapse(2) schedule(static))
  for (int k = 0; k < NZ; ++k)
    for (int j = 0; j < NY; ++j) {
      const FlushTinyNumbers flush;
      const bool y = in_layer(j, NY, BEFORE_Y, AFTER_Y), z = in_layer(k, NZ, BEFORE_Z, AFTER_Z);
      if (y && z) sweep_rows<(LAYERS_Y > 0), (LAYERS_Z > 0)>(body, j, k);
      else if (y) sweep_rows<(LAYERS_Y > 0), false>(body, j, k);
      else if (z) sweep_rows<false, (LAYERS_Z > 0)>(body, j, k);
      else sweep_rows<false, false>(body, j, k);
    }
}

#endif

// Complex-frequency-shifted stretching in its auxiliary-differential-equation form, integrated by
// the trapezoidal rule (Zhang & Shen 2010, eqs. 20-24): one memory variable a derivative.
INLINE void stretch(real& derivative, real* RESTRICT memory, const real* RESTRICT profile,
                    int count) {
  const real past = *memory;
  *memory = profile[2 * count] * past + profile[3 * count] * derivative;
  derivative = profile[0] * derivative + profile[count] * past;
}

// What a kernel needs of the layers. Memory holds three derivatives an axis, back to back; a
// profile holds four coefficients at faces, then the same four at cell centres.
struct Layers {
  real *memory_x, *memory_y, *memory_z;
  const real *profile_x, *profile_y, *profile_z;
};

constexpr index_t MEMORY_X = static_cast<index_t>(NZ) * NY * LAYERS_X;
constexpr index_t MEMORY_Y = static_cast<index_t>(NZ) * LAYERS_Y * NX;
constexpr index_t MEMORY_Z = static_cast<index_t>(LAYERS_Z) * NY * NX;
enum Place { FACE = 0, CENTRE = 4 };

// Stretch the derivatives along one axis that a velocity or stress update uses, each at its place.
INLINE void stretch_x(const Layers& layers, int i, int j, int k, real& first, Place at_first,
                      real& second, Place at_second, real& third, Place at_third) {
  const int l = layer_index(i, NX, BEFORE_X, AFTER_X);
  real* memory = layers.memory_x + (static_cast<index_t>(k) * NY + j) * LAYERS_X + l;
  const real* profile = layers.profile_x + l;
  stretch(first, memory, profile + at_first * LAYERS_X, LAYERS_X);
  stretch(second, memory + MEMORY_X, profile + at_second * LAYERS_X, LAYERS_X);
  stretch(third, memory + 2 * MEMORY_X, profile + at_third * LAYERS_X, LAYERS_X);
}
INLINE void stretch_y(const Layers& layers, int i, int j, int k, real& first, Place at_first,
                      real& second, Place at_second, real& third, Place at_third) {
  const int l = layer_index(j, NY, BEFORE_Y, AFTER_Y);
  real* memory = layers.memory_y + (static_cast<index_t>(k) * LAYERS_Y + l) * NX + i;
  const real* profile = layers.profile_y + l;
  stretch(first, memory, profile + at_first * LAYERS_Y, LAYERS_Y);
  stretch(second, memory + MEMORY_Y, profile + at_second * LAYERS_Y, LAYERS_Y);
  stretch(third, memory + 2 * MEMORY_Y, profile + at_third * LAYERS_Y, LAYERS_Y);
}
INLINE void stretch_z(const Layers& layers, int i, int j, int k, real& first, Place at_first,
                      real& second, Place at_second, real& third, Place at_third) {
  const int l = layer_index(k, NZ, BEFORE_Z, AFTER_Z);
  real* memory = layers.memory_z + (static_cast<index_t>(l) * NY + j) * NX + i;
  const real* profile = layers.profile_z + l;
  stretch(first, memory, profile + at_first * LAYERS_Z, LAYERS_Z);
  stretch(second, memory + MEMORY_Z, profile + at_second * LAYERS_Z, LAYERS_Z);
  stretch(third, memory + 2 * MEMORY_Z, profile + at_third * LAYERS_Z, LAYERS_Z);
}

// Cerjan et al. (1985): every value near an edge loses a little of itself each step.
INLINE real sponge_factor(const real* RESTRICT sponge, int i, int j, int k) {
#if SPONGE
  return sponge[i] * sponge[NX + j] * sponge[NX + NY + k];
#else
  return REAL(1);
#endif
}
