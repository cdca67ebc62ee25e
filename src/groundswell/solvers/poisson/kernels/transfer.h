// Between functions of two degrees on the same elements, see transfer.py: along each axis, the values
// at FINE nodes of a polynomial that COARSE nodes know, and the transpose of that.
#pragma once
#include "spectral_elements/kernels/lines.h"

constexpr int FINE_CUBE = FINE * FINE * FINE, COARSE_CUBE = COARSE * COARSE * COARSE;
constexpr int PITCH = pitch_of(FINE), LAYER = FINE * PITCH, WIDTH = ABREAST(COARSE);

UNIFORM_TABLE real TO_COARSE[FINE][COARSE] = INTERPOLATION;
UNIFORM_TABLE real TO_FINE[COARSE][FINE] = TRANSPOSED;

// Where coarse node n is kept: as a fine one of the same numbers along r, s and t.
INLINE int place_of(int n) {
  return n / (COARSE * COARSE) * LAYER + n / COARSE % COARSE * PITCH + n % COARSE;
}

// Some elements, (count,), by their numbers, ELEMENTS a block: assembled r at `chosen` nodes,
// (elements, FINE_CUBE), to local b, (elements, COARSE_CUBE). Below 0 a node is not chosen.
KERNEL restrict_elements(const real* RESTRICT r, const int* RESTRICT chosen, real* RESTRICT b,
                         const int* RESTRICT elements, index_t count) {
  FOR_BLOCKS(block, (count + ELEMENTS - 1) / ELEMENTS) {
    SHARED(real, u, [ELEMENTS][FINE * LAYER]);
    const int* mine = elements + block * ELEMENTS;
    const int here = elements_of(block, count);
    FOR_THREADS(n, here * FINE_CUBE) {
      const int element = n / FINE_CUBE, node = n % FINE_CUBE;
      const int place = chosen[static_cast<index_t>(mine[element]) * FINE_CUBE + node];
      u[element][node / FINE * PITCH + node % FINE] = place < 0 ? REAL(0) : r[place];
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
      b[static_cast<index_t>(mine[element]) * COARSE_CUBE + node] = u[element][place_of(node)];
    }
  }
}

// The transpose: assembled e at `places`, (elements, COARSE_CUBE), is added to assembled x at chosen
// nodes.
KERNEL prolong_elements(const real* RESTRICT e, const int* RESTRICT places,
                        const int* RESTRICT chosen, real* RESTRICT x,
                        const int* RESTRICT elements, index_t count) {
  FOR_BLOCKS(block, (count + ELEMENTS - 1) / ELEMENTS) {
    SHARED(real, u, [ELEMENTS][FINE * LAYER]);
    const int* mine = elements + block * ELEMENTS;
    const int here = elements_of(block, count);
    FOR_THREADS(n, here * COARSE_CUBE) {
      const int element = n / COARSE_CUBE, node = n % COARSE_CUBE;
      const int place = places[static_cast<index_t>(mine[element]) * COARSE_CUBE + node];
      u[element][place_of(node)] = e[place];
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
      const int place = chosen[static_cast<index_t>(mine[element]) * FINE_CUBE + node];
      if (place >= 0) x[place] += u[element][node / FINE * PITCH + node % FINE];
    }
  }
}
