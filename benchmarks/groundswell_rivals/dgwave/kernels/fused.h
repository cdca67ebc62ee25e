// Versions f1 and, with SHARED_RATES, f1s: one kernel for volume and flux, and one for the
// integration.
#pragma once
#include "contributions.h"

// One thread per node computes the volume and the flux.
KERNEL volume_and_flux(MESH_ARGUMENTS, real* rates, index_t first, index_t count) {
  const Mesh mesh MESH_OF_ARGUMENTS;
  FOR_BLOCKS(b, count) {
    const index_t e = first + b;
    const Material m = materials[e];
#if SHARED_RATES
    SHARED(real, found, [VALUES]);
#else
    real* const found = rates + e * VALUES;
#endif
    FOR_THREADS(node, CUBE) {
      set_volume(m, u + e * VALUES, node, found);
      const int on = sides[node];
      for (int face = 0; face < FACES; ++face)
        if (on >> face & 1) add_flux(mesh, m, e, face, node, found);
#if SHARED_RATES
      for (int c = 0; c < FIELDS; ++c) rates[e * VALUES + c * CUBE + node] = found[c * CUBE + node];
#endif
    }
  }
}
