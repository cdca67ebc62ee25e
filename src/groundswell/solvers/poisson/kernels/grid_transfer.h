// Transfers between polynomials of two degrees on the same elements, see grid_transfer.py:
// interpolation from COARSE to FINE nodes along each axis, and its transpose.
#pragma once
#include "spectral_elements/kernels/contract.h"

constexpr int FINE_CUBE = FINE * FINE * FINE, COARSE_CUBE = COARSE * COARSE * COARSE;
constexpr int PITCH = pitch_of(FINE), LAYER = FINE * PITCH, WIDTH = LINES_PER_THREAD(COARSE);

UNIFORM_TABLE real TO_COARSE[FINE][COARSE] = INTERPOLATION;
UNIFORM_TABLE real TO_FINE[COARSE][FINE] = TRANSPOSED;

// The position of coarse node n in shared memory: that of the fine node with the same indices.
INLINE int position_of(int n) {
  return n / (COARSE * COARSE) * LAYER + n / COARSE % COARSE * PITCH + n % COARSE;
}

// Interpolates to coarse nodes along each axis, transposed.
INLINE void transpose_cubes(int here, real (*u)[FINE * LAYER]) {
  FOR_THREADS(n, here * FINE * FINE)
    multiply_row(u[n / (FINE * FINE)] + n % (FINE * FINE) * PITCH, TO_COARSE);
  BARRIER();
  FOR_THREADS(n, here * FINE * COARSE / WIDTH) {
    const int line = n * WIDTH, layer = line / COARSE;
    real* lines = u[layer / FINE] + layer % FINE * LAYER + line % COARSE;
    multiply_lines<WIDTH>(lines, PITCH, TO_COARSE);
  }
  BARRIER();
  FOR_THREADS(n, here * COARSE * COARSE / WIDTH) {
    const int line = n * WIDTH, row = line / COARSE;
    real* lines = u[row / COARSE] + row % COARSE * PITCH + line % COARSE;
    multiply_lines<WIDTH>(lines, LAYER, TO_COARSE);
  }
  BARRIER();
}

// Interpolates to fine nodes along each axis.
INLINE void interpolate_cubes(int here, real (*u)[FINE * LAYER]) {
  FOR_THREADS(n, here * COARSE * COARSE / WIDTH) {
    const int line = n * WIDTH, row = line / COARSE;
    real* lines = u[row / COARSE] + row % COARSE * PITCH + line % COARSE;
    multiply_lines<WIDTH>(lines, LAYER, TO_FINE);
  }
  BARRIER();
  FOR_THREADS(n, here * FINE * COARSE / WIDTH) {
    const int line = n * WIDTH, layer = line / COARSE;
    real* lines = u[layer / FINE] + layer % FINE * LAYER + line % COARSE;
    multiply_lines<WIDTH>(lines, PITCH, TO_FINE);
  }
  BARRIER();
  FOR_THREADS(n, here * FINE * FINE)
    multiply_row(u[n / (FINE * FINE)] + n % (FINE * FINE) * PITCH, TO_FINE);
  BARRIER();
}

// For the elements with these numbers, (count,), ELEMENTS a block: from assembled r at the indices
// `fine_dofs`, (elements, FINE_CUBE), to the elements' b, (elements, COARSE_CUBE). An index below 0
// stands for 0. There are COMPONENTS components, a pitch apart, which share the indices.
KERNEL restrict_elements(const real* RESTRICT r, index_t r_pitch, const int* RESTRICT fine_dofs,
                         real* RESTRICT b, index_t b_pitch, const int* RESTRICT elements,
                         index_t count) {
  FOR_BLOCKS(block, (count + ELEMENTS - 1) / ELEMENTS) {
    SHARED(real, u, [ELEMENTS][FINE * LAYER]);
    const int* mine = elements + block * ELEMENTS;
    const int here = elements_of(block, count);
    for (int c = 0; c < COMPONENTS; ++c) {
      if (c > 0) BARRIER();  // other threads may still read what this component overwrites
      FOR_THREADS(n, here * FINE_CUBE) {
        const int element = n / FINE_CUBE, node = n % FINE_CUBE;
        const int dof = fine_dofs[static_cast<index_t>(mine[element]) * FINE_CUBE + node];
        u[element][node / FINE * PITCH + node % FINE] = dof < 0 ? REAL(0) : r[c * r_pitch + dof];
      }
      BARRIER();
      transpose_cubes(here, u);
      FOR_THREADS(n, here * COARSE_CUBE) {
        const index_t e = mine[n / COARSE_CUBE], node = n % COARSE_CUBE;
        b[c * b_pitch + e * COARSE_CUBE + node] = u[n / COARSE_CUBE][position_of(node)];
      }
    }
  }
}

// The transpose: from assembled e at the indices `dofs`, (elements, COARSE_CUBE), to a correction
// that is added to assembled x at `fine_dofs`.
KERNEL prolong_elements(const real* RESTRICT e, index_t e_pitch, const int* RESTRICT dofs,
                        const int* RESTRICT fine_dofs, real* RESTRICT x, index_t x_pitch,
                        const int* RESTRICT elements, index_t count) {
  FOR_BLOCKS(block, (count + ELEMENTS - 1) / ELEMENTS) {
    SHARED(real, u, [ELEMENTS][FINE * LAYER]);
    const int* mine = elements + block * ELEMENTS;
    const int here = elements_of(block, count);
    for (int c = 0; c < COMPONENTS; ++c) {
      if (c > 0) BARRIER();  // other threads may still read what this component overwrites
      FOR_THREADS(n, here * COARSE_CUBE) {
        const int element = n / COARSE_CUBE, node = n % COARSE_CUBE;
        const int dof = dofs[static_cast<index_t>(mine[element]) * COARSE_CUBE + node];
        u[element][position_of(node)] = e[c * e_pitch + dof];
      }
      BARRIER();
      interpolate_cubes(here, u);
      FOR_THREADS(n, here * FINE_CUBE) {
        const int element = n / FINE_CUBE, node = n % FINE_CUBE;
        const int dof = fine_dofs[static_cast<index_t>(mine[element]) * FINE_CUBE + node];
        if (dof >= 0) x[c * x_pitch + dof] += u[element][node / FINE * PITCH + node % FINE];
      }
    }
  }
}
