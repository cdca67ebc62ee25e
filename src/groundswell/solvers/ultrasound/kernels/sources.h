// Sources of the k-space scheme: signals at points of the grid, added to fields or set at each
// step.
#include "portable.h"

// Value of a source at point n and at a step: the signals (samples, signals) times a sparse matrix
// of weights (points, signals) in CSR format.
INLINE real source_value(index_t n, index_t step, const long long* rows, const long long* columns,
                         const real* weights, const real* values, index_t signals) {
  real sum = 0;
  for (index_t entry = rows[n]; entry < rows[n + 1]; ++entry) {
    sum = FMA(weights[entry], values[step * signals + columns[entry]], sum);
  }
  return sum;
}

// Add the value of a source at the current step to field[points[n]], or set field[points[n]] to
// this value.
KERNEL add_source(real* field, const long long* points, const long long* rows,
                  const long long* columns, const real* weights, const real* values,
                  const long long* clock, index_t count, index_t samples, index_t signals) {
  FOR_ITEMS(n, count) {
    const index_t step = *clock;
    if (step < samples)
      field[points[n]] += source_value(n, step, rows, columns, weights, values, signals);
  }
}

KERNEL set_source(real* field, const long long* points, const long long* rows,
                  const long long* columns, const real* weights, const real* values,
                  const long long* clock, index_t count, index_t samples, index_t signals) {
  FOR_ITEMS(n, count) {
    const index_t step = *clock;
    if (step < samples)
      field[points[n]] = source_value(n, step, rows, columns, weights, values, signals);
  }
}

KERNEL next_step(long long* clock) {
  FOR_ITEMS(n, 1) { *clock += 1; }
}
