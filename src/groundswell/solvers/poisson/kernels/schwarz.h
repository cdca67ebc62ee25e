// Solves on each element by fast diagonalisation, see schwarz.py: transforms to modes along its
// three axes, divides by the eigenvalues, and transforms back. NODES is the degree plus one.
#pragma once
#include "spectral_elements/kernels/contract.h"

constexpr int PLANE = NODES * NODES, CUBE = PLANE * NODES;
constexpr int PITCH = pitch_of(NODES), LAYER = NODES * PITCH, WIDTH = LINES_PER_THREAD(NODES);

UNIFORM_TABLE real TO_MODES[NODES][NODES] = MODES;  // rows are nodes, columns modes
UNIFORM_TABLE real TO_NODES[NODES][NODES] = TRANSPOSED;
TABLE real EIGENVALUE[NODES] = EIGENVALUES;

// Lines along t: transforms to modes, divides by the eigenvalues, and transforms back.
INLINE void divide_modes(real* lines, int s, int r, const real* stretch) {
  multiply_lines<WIDTH>(lines, LAYER, TO_MODES);
  UNROLL
  for (int t = 0; t < NODES; ++t) {
    const real along = FMA(stretch[2], EIGENVALUE[t], stretch[3]);
    for (int n = 0; n < WIDTH; ++n) {
      const real across = FMA(stretch[1], EIGENVALUE[s], stretch[0] * EIGENVALUE[r + n]);
      lines[t * LAYER + n] *= RECIPROCAL(along + across);
    }
  }
  multiply_lines<WIDTH>(lines, LAYER, TO_NODES);
}

// Fetches the elements' values of r, multiplied by `scale`.
INLINE void fetch_values(const real* r, const int* dofs, const real* scale, const int* mine,
                         int here, real (*u)[NODES * LAYER]) {
  FOR_THREADS(n, here * CUBE) {
    const index_t node = static_cast<index_t>(mine[n / CUBE]) * CUBE + n % CUBE;
    u[n / CUBE][n % CUBE / NODES * PITCH + n % NODES] = scale[node] * r[dofs[node]];
  }
  BARRIER();
}

// Applies the inverse of each element's box.
INLINE void invert_boxes(const real* stretches, const int* mine, int here,
                         real (*u)[NODES * LAYER]) {
  FOR_THREADS(n, here * PLANE) multiply_row(u[n / PLANE] + n % PLANE * PITCH, TO_MODES);
  BARRIER();
  FOR_THREADS(n, here * PLANE / WIDTH) {
    const int line = n * WIDTH, t = line % PLANE / NODES, i = line % NODES;
    multiply_lines<WIDTH>(u[line / PLANE] + t * LAYER + i, PITCH, TO_MODES);
  }
  BARRIER();
  FOR_THREADS(n, here * PLANE / WIDTH) {
    const int line = n * WIDTH, j = line % PLANE / NODES, i = line % NODES;
    const real* stretch = stretches + 4 * static_cast<index_t>(mine[line / PLANE]);
    divide_modes(u[line / PLANE] + j * PITCH + i, j, i, stretch);
  }
  BARRIER();
  FOR_THREADS(n, here * PLANE / WIDTH) {
    const int line = n * WIDTH, t = line % PLANE / NODES, i = line % NODES;
    multiply_lines<WIDTH>(u[line / PLANE] + t * LAYER + i, PITCH, TO_NODES);
  }
  BARRIER();
  FOR_THREADS(n, here * PLANE) multiply_row(u[n / PLANE] + n % PLANE * PITCH, TO_NODES);
  BARRIER();
}

// Stores the elements' z, multiplied by `scale`.
INLINE void store_values(const real* scale, real* z, const int* mine, int here,
                         real (*u)[NODES * LAYER]) {
  FOR_THREADS(n, here * CUBE) {
    const index_t node = static_cast<index_t>(mine[n / CUBE]) * CUBE + n % CUBE;
    z[node] = scale[node] * u[n / CUBE][n % CUBE / NODES * PITCH + n % NODES];
  }
}

// For the elements with these numbers, (count,), ELEMENTS a block: from assembled r to the
// elements' z, (elements, CUBE), multiplied by `scale`, (elements, CUBE), before and after.
// `stretches`, (elements, 4), are the coefficients of the stiffness along r, s and t, and of the
// mass. There are COMPONENTS components, a pitch apart; all but the first find indices and scales
// in a cache.
KERNEL solve_elements(const real* RESTRICT r, index_t r_pitch, const int* RESTRICT dofs,
                      const real* RESTRICT scale, const real* RESTRICT stretches, real* RESTRICT z,
                      index_t z_pitch, const int* RESTRICT elements, index_t count) {
  FOR_BLOCKS(b, (count + ELEMENTS - 1) / ELEMENTS) {
    SHARED(real, u, [ELEMENTS][NODES * LAYER]);
    const int* mine = elements + b * ELEMENTS;
    const int here = elements_of(b, count);
    for (int c = 0; c < COMPONENTS; ++c) {
      if (c > 0) BARRIER();  // other threads may still read what this component overwrites
      fetch_values(r + c * r_pitch, dofs, scale, mine, here, u);
      invert_boxes(stretches, mine, here, u);
      store_values(scale, z + c * z_pitch, mine, here, u);
    }
  }
}
