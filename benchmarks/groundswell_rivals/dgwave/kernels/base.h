// The base version: separate kernels for the volume, the flux and the integration.
#pragma once
#include "contributions.h"

KERNEL volume(MESH_ARGUMENTS, real* rates, index_t first, index_t count) {
  FOR_BLOCKS(b, count) {
    const index_t e = first + b;
    const Material m = materials[e];
    FOR_THREADS(node, CUBE) set_volume(m, u + e * VALUES, node, rates + e * VALUES);
  }
}

// A thread for each node of a face. Faces take turns, because nodes at edges belong to several.
KERNEL flux(MESH_ARGUMENTS, real* rates, index_t first, index_t count) {
  const Mesh mesh MESH_OF_ARGUMENTS;
  FOR_BLOCKS(b, count) {
    const index_t e = first + b;
    const Material m = materials[e];
    for (int face = 0; face < FACES; ++face) {
      FOR_THREADS(p, PLANE) add_flux(mesh, m, e, face, node_of_face(face, p), rates + e * VALUES);
      BARRIER();
    }
  }
}
