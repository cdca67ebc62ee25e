// Absorbing layers: their cells, and the updates of derivatives and values in them.
#pragma once
#include "stencil.h"

constexpr bool MATCHED = !SPONGE;  // layers with memory variables

// Cells in a layer, counted along an axis over both layers: low side first.
#define LAYERS_X (BEFORE_X + AFTER_X)
#define LAYERS_Y (BEFORE_Y + AFTER_Y)
#define LAYERS_Z (BEFORE_Z + AFTER_Z)

INLINE bool in_layer(int n, int count, int before, int after) {
  return n < before || n >= count - after;
}
INLINE int layer_index(int n, int count, int before, int after) {
  return n < before ? n : n - (count - before - after);
}

// Kernel arguments of the layers. Memory holds three derivatives per axis, back to back; a profile
// holds four coefficients at faces, then the same four at cell centres.
struct Layers {
  real *memory_x, *memory_y, *memory_z;
  const real *profile_x, *profile_y, *profile_z;
};

#define MEMORY_X (static_cast<index_t>(NZ) * NY * LAYERS_X)
#define MEMORY_Y (static_cast<index_t>(NZ) * LAYERS_Y * NX)
#define MEMORY_Z (static_cast<index_t>(LAYERS_Z) * NY * NX)
enum Place { FACE = 0, CENTRE = 4 };

// Along x callers pass the index l within the layers, so that loops have no branches.
INLINE real* memory_at_x(const Layers& layers, int l, int j, int k) {
  return layers.memory_x + (static_cast<index_t>(k) * NY + j) * LAYERS_X + l;
}
INLINE real* memory_at_y(const Layers& layers, int i, int j, int k) {
  const int l = layer_index(j, NY, BEFORE_Y, AFTER_Y);
  return layers.memory_y + (static_cast<index_t>(k) * LAYERS_Y + l) * NX + i;
}
INLINE real* memory_at_z(const Layers& layers, int i, int j, int k) {
  const int l = layer_index(k, NZ, BEFORE_Z, AFTER_Z);
  return layers.memory_z + (static_cast<index_t>(l) * NY + j) * NX + i;
}

// The memory variables of the three derivatives along each axis at one point, before the step.
struct Triple {
  real a, b, c;
};
struct LayerMemory {
  Triple x, y, z;
};

INLINE Triple load_triple(const real* memory, index_t apart) {
  return {memory[0], memory[apart], memory[2 * apart]};
}

template <class Flags>
INLINE LayerMemory load_memory(const Layers& layers, int i, int j, int k, Flags in) {
  LayerMemory past{};
  if (in.x) past.x = load_triple(memory_at_x(layers, in.layer_index_x(i), j, k), MEMORY_X);
  if (in.y) past.y = load_triple(memory_at_y(layers, i, j, k), MEMORY_Y);
  if (in.z) past.z = load_triple(memory_at_z(layers, i, j, k), MEMORY_Z);
  return past;
}

INLINE void fetch_triple(const real* memory, index_t apart) {
  prefetch(memory, memory + apart, memory + 2 * apart);
}

template <class Flags>
INLINE void fetch_memory(const Layers& layers, int i, int j, int k, Flags in) {
  if (in.x) fetch_triple(memory_at_x(layers, in.layer_index_x(i), j, k), MEMORY_X);
  if (in.y) fetch_triple(memory_at_y(layers, i, j, k), MEMORY_Y);
  if (in.z) fetch_triple(memory_at_z(layers, i, j, k), MEMORY_Z);
}

// Complex-frequency-shifted stretching in its auxiliary-differential-equation form, integrated by
// the trapezoidal rule (Zhang & Shen 2010, eqs. 20-24): one memory variable a derivative.
INLINE void stretch(real& derivative, real past, real* memory, const real* profile, int count) {
  *memory = FMA(profile[2 * count], past, profile[3 * count] * derivative);
  derivative = FMA(profile[0], derivative, profile[count] * past);
}

// Stretch the derivatives along one axis of a velocity or stress update, each at its location.
INLINE void stretch_x(const Layers& layers, const Triple& past, int l, int j, int k, real& first,
                      Place at_first, real& second, Place at_second, real& third, Place at_third) {
  real* memory = memory_at_x(layers, l, j, k);
  const real* profile = layers.profile_x + l;
  stretch(first, past.a, memory, profile + at_first * LAYERS_X, LAYERS_X);
  stretch(second, past.b, memory + MEMORY_X, profile + at_second * LAYERS_X, LAYERS_X);
  stretch(third, past.c, memory + 2 * MEMORY_X, profile + at_third * LAYERS_X, LAYERS_X);
}
INLINE void stretch_y(const Layers& layers, const Triple& past, int i, int j, int k, real& first,
                      Place at_first, real& second, Place at_second, real& third, Place at_third) {
  real* memory = memory_at_y(layers, i, j, k);
  const real* profile = layers.profile_y + layer_index(j, NY, BEFORE_Y, AFTER_Y);
  stretch(first, past.a, memory, profile + at_first * LAYERS_Y, LAYERS_Y);
  stretch(second, past.b, memory + MEMORY_Y, profile + at_second * LAYERS_Y, LAYERS_Y);
  stretch(third, past.c, memory + 2 * MEMORY_Y, profile + at_third * LAYERS_Y, LAYERS_Y);
}
INLINE void stretch_z(const Layers& layers, const Triple& past, int i, int j, int k, real& first,
                      Place at_first, real& second, Place at_second, real& third, Place at_third) {
  real* memory = memory_at_z(layers, i, j, k);
  const real* profile = layers.profile_z + layer_index(k, NZ, BEFORE_Z, AFTER_Z);
  stretch(first, past.a, memory, profile + at_first * LAYERS_Z, LAYERS_Z);
  stretch(second, past.b, memory + MEMORY_Z, profile + at_second * LAYERS_Z, LAYERS_Z);
  stretch(third, past.c, memory + 2 * MEMORY_Z, profile + at_third * LAYERS_Z, LAYERS_Z);
}

// Damping factor of a value over a step: of a sponge (Cerjan et al. 1985), or, in matched layers
// next to soft ground, of the multiaxial damping along x and y, in a ratio that depends on the
// depth row; see `damping_ratio` in guided_waves.py.
INLINE real sponge_factor(const real* RESTRICT sponge, int i, int j, int k) {
  const real *x = sponge, *y = x + NX, *z = y + NY;
#if SPONGE
  return x[i] * y[j] * z[k];
#elif MULTIAXIAL
  return REAL(1) - z[k] * (x[i] + y[j]);
#else
  return REAL(1);
#endif
}
