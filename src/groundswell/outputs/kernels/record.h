// Recorders: when a sample is due, they read fields, and put the values into the next slot of a
// ring or add them to running statistics.
//   ring [slots][fields][count]; largest, smallest, sum, squares [fields][count]
//   addresses [fields] of the fields' first values, for a box of those in it
//   shifts [fields], added to values unless 0
//   for HARMONICS: sums [terms][fields][count] of values times basis functions;
//   basis [samples][terms]
#pragma once
#include "address.h"
#include "schedule.h"

// What becomes of a value, as bits of `wanted`; see outputs/recorder.py.
constexpr index_t RAW = 1, MAX = 2, MIN = 4, MEAN = 8, RMS = 16;

// Sums of samples times basis functions, for the fit of harmonics.
struct Harmonics {
  real* sums;
  const real* basis;
  index_t terms, samples, items;

  METHOD void add(index_t n, index_t sample, real value) const {
    for (index_t m = 0; m < terms && sample < samples; ++m) {
      const real product = value * basis[sample * terms + m];
      sums[m * items + n] = sample == 0 ? product : sums[m * items + n] + product;
    }
  }
};

struct Record {
  index_t wanted;
  bool first;
  real *ring, *largest, *smallest;
  double *sum, *squares;

  // Everything is read before anything is written: the compiler cannot know that these are different
  // values, so each read would otherwise wait for the memory.
  METHOD void keep(index_t n, real value) const {
    const real high = wanted & MAX ? largest[n] : value, low = wanted & MIN ? smallest[n] : value;
    const double total = wanted & MEAN ? sum[n] : 0, power = wanted & RMS ? squares[n] : 0;
    const double exact = value;
    if (wanted & RAW) ring[n] = value;
    if (wanted & MAX) largest[n] = first ? value : fmax(high, value);
    if (wanted & MIN) smallest[n] = first ? value : fmin(low, value);
    if (wanted & MEAN) sum[n] = first ? exact : total + exact;
    if (wanted & RMS) squares[n] = first ? exact * exact : power + exact * exact;
  }
};

INLINE real shifted(real value, real shift) { return shift != 0 ? value + shift : value; }

// Points of a box, `step` values apart along each axis; steps_z [fields].
KERNEL record_box(real* ring, real* largest, real* smallest, double* sum, double* squares,
                  const long long* RESTRICT addresses, const real* RESTRICT shifts, real* sums,
                  const real* RESTRICT basis, index_t terms, index_t samples,
                  const long long* RESTRICT clock, index_t begin, index_t every, index_t slots,
                  index_t wanted, index_t step_x, index_t step_y, const long long* RESTRICT steps_z,
                  index_t nx, index_t ny, index_t nz, index_t fields) {
  const bool due = sample_due(clock, begin, every);
  const index_t slot = due ? sample_slot(clock, begin, every, slots) : 0;
  const int ni = static_cast<int>(nx), nj = static_cast<int>(ny), planes = static_cast<int>(nz);
  const int all = static_cast<int>(nz * fields);
  const Record record = {
      wanted, clock[0] == begin, ring + slot * nx * ny * all, largest, smallest, sum, squares};
  const Harmonics harmonics = {sums, basis, terms, samples, nx * ny * all};
  const index_t sample = due && HARMONICS ? (clock[0] - begin) / every : 0;
  FOR_CELLS(i, ni, j, nj, k, all) {
    if (due) {
      const int f = k / planes;
      const real* field = as_pointer<const real>(addresses[f]);
      const real value = field[(k - f * planes) * steps_z[f] + j * step_y + i * step_x];
      const index_t n = (static_cast<index_t>(k) * nj + j) * ni + i;
      record.keep(n, shifted(value, shifts[f]));
      if (HARMONICS) harmonics.add(n, sample, shifted(value, shifts[f]));
    }
  }
}

// Four weights, which a GPU loads with one or two instructions.
struct alignas(16) FourWeights {
  real values[4];
} MAY_ALIAS;

// Sums of nz x ny x nx weighted values from `field` on, `step` values apart, x fastest. The
// constant size lets all loads be under way at once: one by one, each would wait for the memory.
struct Taps {
  index_t nz, ny, nx, step_z, step_y, step_x;

  METHOD real sum(const real* field, const real* RESTRICT weights) const {
    if (nz == 4 && ny == 4 && nx == 4) return sum_cubic(field, weights);
    real total = 0;
    for (index_t k = 0; k < nz; ++k)
      for (index_t j = 0; j < ny; ++j)
        for (index_t i = 0; i < nx; ++i)
          total += *weights++ * field[k * step_z + j * step_y + i * step_x];
    return total;
  }

  METHOD real sum_cubic(const real* field, const real* RESTRICT weights) const {
    const FourWeights* rows = reinterpret_cast<const FourWeights*>(weights);
    real total = 0;
    UNROLL
    for (int k = 0; k < 4; ++k) {
      UNROLL
      for (int j = 0; j < 4; ++j) {
        const FourWeights row = rows[4 * k + j];
        UNROLL
        for (int i = 0; i < 4; ++i)
          total += row.values[i] * field[k * step_z + j * step_y + i * step_x];
      }
    }
    return total;
  }
};

// Weighted sums of values around each point; a single value is taken as it is.
//   places [fields][points] of the first of them; weights [fields][points][nz][ny][nx]
KERNEL record_points(real* ring, real* largest, real* smallest, double* sum, double* squares,
                     const long long* RESTRICT addresses, const real* RESTRICT shifts, real* sums,
                     const real* RESTRICT basis, index_t terms, index_t samples,
                     const long long* RESTRICT clock, index_t begin, index_t every, index_t slots,
                     index_t wanted, const long long* RESTRICT places, const real* RESTRICT weights,
                     index_t nz, index_t ny, index_t nx, index_t step_z, index_t step_y,
                     index_t step_x, index_t points, index_t items) {
  const bool due = sample_due(clock, begin, every);
  const index_t slot = due ? sample_slot(clock, begin, every, slots) : 0;
  const Record record = {wanted, clock[0] == begin, ring + slot * items, largest, smallest, sum,
                         squares};
  const Harmonics harmonics = {sums, basis, terms, samples, items};
  const index_t sample = due && HARMONICS ? (clock[0] - begin) / every : 0;
  const Taps taps = {nz, ny, nx, step_z, step_y, step_x};
  const index_t count = nz * ny * nx;
  FOR_ITEMS(n, items) {
    // Read before it is known whether a sample is due: these do not wait for the clock.
    const int f = static_cast<int>(n) / static_cast<int>(points);
    const real* field = as_pointer<const real>(addresses[f]) + places[n];
    if (due) {
      const real value = count > 1 ? taps.sum(field, weights + n * count) : field[0];
      record.keep(n, shifted(value, shifts[f]));
      if (HARMONICS) harmonics.add(n, sample, shifted(value, shifts[f]));
    }
  }
}

// For solvers without a clock of their own, after the recorders.
KERNEL advance_clock(long long* clock, index_t ticks) {
  FOR_ITEMS(n, 1) { clock[n] += ticks; }
}
