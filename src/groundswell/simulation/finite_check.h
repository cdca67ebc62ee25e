// Search for values that are not finite, and sums of squares.
#include "reductions.h"

constexpr int LANES = COALESCED ? 256 : 1;  // threads of a block

// Writes the offset of a value that is not finite to `found`, if there is one, and each block's sum
// of the squares of its rows' values to `squares`: with weights, each square times those of its row
// and of its column. The field points to the first of nx * ny * nz values; rows and planes are `row`
// and `plane` values apart.
KERNEL find_nonfinite(const real* RESTRICT field, long long* found, double* RESTRICT squares,
                      const double* RESTRICT row_weights, const double* RESTRICT column_weights,
                      index_t row, index_t plane, index_t nx, index_t ny, index_t nz,
                      index_t blocks) {
  FOR_BLOCKS(b, blocks) {
    const auto [first, count] = block_range(ny * nz, b, blocks);
    double sum[1] = {0};
    FOR_EXACT_THREADS(lane, LANES) {
      for (index_t n = first; n < first + count; ++n) {
        const real* const values = field + n / ny * plane + n % ny * row;
        const auto term = [=](index_t i) {
          const real value = values[i];
          if (!(fabs(value) <= LARGEST)) found[0] = values + i - field;
          const double square = static_cast<double>(value) * static_cast<double>(value);
          return WEIGHTED ? column_weights[i] * square : square;
        };
        sum[0] += (WEIGHTED ? row_weights[n] : 1) * lane_sum<LANES>(nx, lane, term);
      }
    }
    store_block_sums(sum, squares + b);
  }
}
