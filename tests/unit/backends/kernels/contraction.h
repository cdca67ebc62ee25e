// A sample for test_portable.py: two contractions of an element's tensor, as spectral elements do
// them.
//   out[e][a][b][k] = sum over i, j of matrix[a][i] matrix[b][j] u[e][i][j][k]
#include "portable.h"

constexpr int POINTS = N * N * N;

KERNEL contract(real* RESTRICT out, const real* RESTRICT matrix, const real* RESTRICT u,
                index_t elements) {
  FOR_BLOCKS(e, elements) {
    SHARED(real, d, [N][N]);
    SHARED(real, first, [N][N][N]);
    SHARED(real, second, [N][N][N]);
    FOR_THREADS(t, N * N) { d[t / N][t % N] = matrix[t]; }
    FOR_THREADS(t, POINTS) { first[t / (N * N)][t / N % N][t % N] = u[e * POINTS + t]; }
    BARRIER();
    FOR_THREADS(t, POINTS) {
      const int a = t / (N * N), j = t / N % N, k = t % N;
      real sum = 0;
      UNROLL
      for (int i = 0; i < N; ++i) sum += d[a][i] * first[i][j][k];
      second[a][j][k] = sum;
    }
    BARRIER();
    FOR_THREADS(t, POINTS) {
      const int a = t / (N * N), b = t / N % N, k = t % N;
      real sum = 0;
      UNROLL
      for (int j = 0; j < N; ++j) sum += d[b][j] * second[a][j][k];
      out[e * POINTS + t] = sum;
    }
  }
}
