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

// For the elements with these numbers, (count,), ELEMENTS a block: from assembled r at the indices
// `fine_dofs`, (elements, FINE_CUBE), to the elements' b, (elements, COARSE_CUBE). An index below 0
// stands for 0.
KERNEL restrict_elements(const real* RESTRICT r, const int* RESTRICT fine_dofs, real* RESTRICT b,
                         const int* RESTRICT elements, index_t count) {
  FOR_BLOCKS(block, (count + ELEMENTS - 1) / ELEMENTS) {
    SHARED(real, u, [ELEMENTS][FINE * LAYER]);
    const int* mine = elements + block * ELEMENTS;
    const int here = elements_of(block, count);
    FOR_THREADS(n, here * FINE_CUBE) {
      const int element = n / FINE_CUBE, node = n % FINE_CUBE;
      const int dof = fine_dofs[static_cast<index_t>(mine[element]) * FINE_CUBE + node];
      u[element][node / FINE * PITCH + node % FINE] = dof < 0 ? REAL(0) : r[dof];
    }
    BARRIER();
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
    FOR_THREADS(n, here * COARSE_CUBE) {
      const int element = n / COARSE_CUBE, node = n % COARSE_CUBE;
      b[static_cast<index_t>(mine[element]) * COARSE_CUBE + node] = u[element][position_of(node)];
    }
  }
}

// The transpose: from assembled e at the indices `dofs`, (elements, COARSE_CUBE), to a correction
// that is added to assembled x at `fine_dofs`.
KERNEL prolong_elements(const real* RESTRICT e, const int* RESTRICT dofs,
                        const int* RESTRICT fine_dofs, real* RESTRICT x,
                        const int* RESTRICT elements, index_t count) {
  FOR_BLOCKS(block, (count + ELEMENTS - 1) / ELEMENTS) {
    SHARED(real, u, [ELEMENTS][FINE * LAYER]);
    const int* mine = elements + block * ELEMENTS;
    const int here = elements_of(block, count);
    FOR_THREADS(n, here * COARSE_CUBE) {
      const int element = n / COARSE_CUBE, node = n % COARSE_CUBE;
      const int dof = dofs[static_cast<index_t>(mine[element]) * COARSE_CUBE + node];
      u[element][position_of(node)] = e[dof];
    }
    BARRIER();
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
    FOR_THREADS(n, here * FINE_CUBE) {
      const int element = n / FINE_CUBE, node = n % FINE_CUBE;
      const int dof = fine_dofs[static_cast<index_t>(mine[element]) * FINE_CUBE + node];
      if (dof >= 0) x[dof] += u[element][node / FINE * PITCH + node % FINE];
    }
  }
}
