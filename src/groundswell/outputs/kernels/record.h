// Recorders: when a sample is due, they read fields, and put the values into the next slot of a ring
// or add them to running statistics.
//   ring [slots][fields][count]; largest, smallest, sum, squares [fields][count]
//   addresses [fields] of the fields' first values; shifts [fields], added to values unless 0
#pragma once
#include "address.h"
#include "schedule.h"

// What becomes of a value, as bits of `wanted`; see outputs/recorder.py.
constexpr index_t RAW = 1, MAX = 2, MIN = 4, MEAN = 8, RMS = 16;

struct Record {
  index_t wanted;
  bool first;
  real *ring, *largest, *smallest;
  double *sum, *squares;

  METHOD void keep(index_t n, real value) const {
    if (wanted & RAW) ring[n] = value;
    if (wanted & MAX) largest[n] = first ? value : fmax(largest[n], value);
    if (wanted & MIN) smallest[n] = first ? value : fmin(smallest[n], value);
    const double exact = value;
    if (wanted & MEAN) sum[n] = first ? exact : sum[n] + exact;
    if (wanted & RMS) squares[n] = first ? exact * exact : squares[n] + exact * exact;
  }
};

INLINE real shifted(real value, real shift) { return shift != 0 ? value + shift : value; }

// Points of a box, `step` values apart along each axis, from value `start` of each field on.
KERNEL record_box(real* ring, real* largest, real* smallest, double* sum, double* squares,
                  const long long* RESTRICT addresses, const real* RESTRICT shifts,
                  const long long* RESTRICT clock, index_t begin, index_t every, index_t slots,
                  index_t wanted, index_t start, index_t step_x, index_t step_y, index_t step_z,
                  index_t nx, index_t ny, index_t nz, index_t fields) {
  const bool due = sample_due(clock, begin, every);
  const index_t slot = due ? sample_slot(clock, begin, every, slots) : 0;
  const int ni = static_cast<int>(nx), nj = static_cast<int>(ny), planes = static_cast<int>(nz);
  const int all = static_cast<int>(nz * fields);
  const Record record = {wanted, clock[0] == begin, ring + slot * nx * ny * all,
                         largest, smallest, sum, squares};
  FOR_CELLS(i, ni, j, nj, k, all) {
    if (due) {
      const int f = k / planes;
      const real* field = at<const real>(addresses[f]) + start;
      const real value = field[(k - f * planes) * step_z + j * step_y + i * step_x];
      record.keep((static_cast<index_t>(k) * nj + j) * ni + i, shifted(value, shifts[f]));
    }
  }
}

// Adds COUNT weighted values, in their order. All are under way before the first is added: one by
// one, each would wait for the memory.
template <int COUNT>
INLINE real add_batch(real sum, const real* field, const long long* RESTRICT offsets,
                      const real* RESTRICT weights) {
  real values[COUNT];
  UNROLL
  for (int t = 0; t < COUNT; ++t) values[t] = field[offsets[t]];
  UNROLL
  for (int t = 0; t < COUNT; ++t) sum += weights[t] * values[t];
  return sum;
}

INLINE real weighted_sum(const real* field, const long long* RESTRICT offsets,
                         const real* RESTRICT weights, index_t taps) {
  real sum = 0;
  index_t t = 0;
  for (; t + 64 <= taps; t += 64) sum = add_batch<64>(sum, field, offsets + t, weights + t);
  for (; t + 8 <= taps; t += 8) sum = add_batch<8>(sum, field, offsets + t, weights + t);
  for (; t < taps; ++t) sum = add_batch<1>(sum, field, offsets + t, weights + t);
  return sum;
}

// Weighted sums of `taps` values around each point; a single value is taken as it is.
//   places [fields][points] of the first of them; offsets [taps] from it;
//   weights [fields][points][taps]
KERNEL record_points(real* ring, real* largest, real* smallest, double* sum, double* squares,
                     const long long* RESTRICT addresses, const real* RESTRICT shifts,
                     const long long* RESTRICT clock, index_t begin, index_t every, index_t slots,
                     index_t wanted, const long long* RESTRICT places,
                     const long long* RESTRICT offsets, const real* RESTRICT weights, index_t taps,
                     index_t points, index_t items) {
  const bool due = sample_due(clock, begin, every);
  const index_t slot = due ? sample_slot(clock, begin, every, slots) : 0;
  const Record record = {wanted, clock[0] == begin, ring + slot * items,
                         largest, smallest, sum, squares};
  FOR_ITEMS(n, items) {
    // Read before it is known whether a sample is due: these do not wait for the clock.
    const int f = static_cast<int>(n) / static_cast<int>(points);
    const real* field = at<const real>(addresses[f]) + places[n];
    if (due) {
      const real value = taps > 1 ? weighted_sum(field, offsets, weights + n * taps, taps) : field[0];
      record.keep(n, shifted(value, shifts[f]));
    }
  }
}

// For solvers without a clock of their own, after the recorders.
KERNEL advance_clock(long long* clock, index_t ticks) {
  FOR_ITEMS(n, 1) { clock[n] += ticks; }
}
