// What sides with heat transfer add to the operator: a diagonal matrix of their nodes.
#pragma once
#include "reductions.h"

constexpr int LANES = SIDE_LANES;

// Adds factors times x, multiplied by `scale` first if SCALED, to the elements' results y at some
// of their nodes, (count,), each of which occurs once. `energies`, one a block of LANES nodes,
// receive x times what was added. There are COMPONENTS components, a pitch apart.
KERNEL apply_sides(const real* RESTRICT x, index_t x_pitch, const real* RESTRICT scale,
                   const int* RESTRICT dofs, const real* RESTRICT factors, real* RESTRICT y,
                   index_t y_pitch, const int* RESTRICT nodes, index_t count,
                   double* RESTRICT energies) {
  FOR_BLOCKS(b, (count + LANES - 1) / LANES) {
    const index_t first = b * LANES;
    const int here = count - first < LANES ? count - first : LANES;
    double energy = 0;
    FOR_THREADS(lane, here) {
      const index_t n = first + lane;
      const int node = nodes[n], dof = dofs[node];
      for (int c = 0; c < COMPONENTS; ++c) {
        const real value = x[c * x_pitch + dof], u = SCALED ? scale[dof] * value : value;
        const real added = factors[n] * u;
        y[c * y_pitch + node] += added;
        energy += static_cast<double>(u) * static_cast<double>(added);
      }
    }
    const double all = block_sum(energy);
    FOR_THREADS(n, 1) energies[b] = all;
  }
}
