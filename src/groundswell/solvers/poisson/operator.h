// The operator of screened Poisson's equation on spectral elements: integrals of
//   grad v . grad u + LAMBDA v u
// for each node's v, on each element apart: D' G D u + LAMBDA W u, with derivatives D along three
// axes, factors G and mass W (see geometry.py). NODES is the degree plus one. Values of elements are
// taken from assembled ones, at `places`.
#pragma once
#include "portable.h"

constexpr int PLANE = NODES * NODES, CUBE = PLANE * NODES;

// Derivatives of an element's values along r, s and t in row (t, s): along r by columns of D, where
// they lie side by side.
INLINE void differentiate(const real (&u)[CUBE], const real (&d)[NODES][NODES],
                          const real (&columns)[NODES][NODES], int row, real (&ur)[NODES],
                          real (&us)[NODES], real (&ut)[NODES]) {
  const int t = row / NODES, s = row % NODES;
  for (int r = 0; r < NODES; ++r) ur[r] = us[r] = ut[r] = 0;
  for (int m = 0; m < NODES; ++m) {
    const real here = u[row * NODES + m], along_s = d[s][m], along_t = d[t][m];
    for (int r = 0; r < NODES; ++r) {
      ur[r] = FMA(columns[m][r], here, ur[r]);
      us[r] = FMA(along_s, u[t * PLANE + m * NODES + r], us[r]);
      ut[r] = FMA(along_t, u[m * PLANE + s * NODES + r], ut[r]);
    }
  }
}

// The transpose of that: what all rows' fluxes add up to in one row.
INLINE void integrate(const real (&fr)[CUBE], const real (&fs)[CUBE], const real (&ft)[CUBE],
                      const real (&d)[NODES][NODES], const real (&columns)[NODES][NODES], int row,
                      real (&sum)[NODES]) {
  const int t = row / NODES, s = row % NODES;
  for (int m = 0; m < NODES; ++m) {
    const real here = fr[row * NODES + m], along_s = columns[s][m], along_t = columns[t][m];
    for (int r = 0; r < NODES; ++r) {
      sum[r] = FMA(d[m][r], here, sum[r]);
      sum[r] = FMA(along_s, fs[t * PLANE + m * NODES + r], sum[r]);
      sum[r] = FMA(along_t, ft[m * PLANE + s * NODES + r], sum[r]);
    }
  }
}

// What Jacobi's preconditioner does; in place, what prescribed values do.
KERNEL multiply_values(const real* x, const real* RESTRICT factors, real* y, index_t count) {
  FOR_ITEMS(i, count) y[i] = x[i] * factors[i];
}

// Some elements, (count,), by their numbers: x, assembled, to local y, (elements, CUBE).
KERNEL apply_elements(const real* RESTRICT x, const int* RESTRICT places,
                      const real* RESTRICT factors, const real* RESTRICT mass,
                      const real* RESTRICT derivative, real* RESTRICT y,
                      const int* RESTRICT elements, index_t count) {
  FOR_BLOCKS(b, count) {
    SHARED(real, d, [NODES][NODES]);
    SHARED(real, columns, [NODES][NODES]);
    SHARED(real, u, [CUBE]);
    SHARED(real, fr, [CUBE]);
    SHARED(real, fs, [CUBE]);
    SHARED(real, ft, [CUBE]);
    const index_t e = elements[b];
    FOR_THREADS(n, PLANE) {
      d[n / NODES][n % NODES] = derivative[n];
      columns[n % NODES][n / NODES] = derivative[n];
    }
    FOR_THREADS(n, CUBE) u[n] = x[places[e * CUBE + n]];
    BARRIER();
    FOR_THREADS(row, PLANE) {
      real ur[NODES], us[NODES], ut[NODES];
      differentiate(u, d, columns, row, ur, us, ut);
      const real* g = factors + e * 6 * CUBE + row * NODES;
      for (int r = 0; r < NODES; ++r) {
        const real rr = g[r], rs = g[CUBE + r], rt = g[2 * CUBE + r];
        const real ss = g[3 * CUBE + r], st = g[4 * CUBE + r], tt = g[5 * CUBE + r];
        fr[row * NODES + r] = rr * ur[r] + rs * us[r] + rt * ut[r];
        fs[row * NODES + r] = rs * ur[r] + ss * us[r] + st * ut[r];
        ft[row * NODES + r] = rt * ur[r] + st * us[r] + tt * ut[r];
      }
    }
    BARRIER();
    FOR_THREADS(row, PLANE) {
      real sum[NODES];
      for (int r = 0; r < NODES; ++r)
        sum[r] = LAMBDA * mass[e * CUBE + row * NODES + r] * u[row * NODES + r];
      integrate(fr, fs, ft, d, columns, row, sum);
      for (int r = 0; r < NODES; ++r) y[e * CUBE + row * NODES + r] = sum[r];
    }
  }
}
