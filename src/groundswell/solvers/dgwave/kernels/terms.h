// Local terms of the rates: sources, and damping of all fields.
#pragma once
#include "elements.h"
#include "seismology/kernels/sampled_function.h"

// Parts of sources in the order of their elements.
//   first [elements + 1]: first part in each element
//   loads [P][CUBE]: the load of a part at the nodes of its element; numbers [P]: its source
//   factors [S][FIELDS]: rates of the fields per unit of a source's load and of its time function
//   times [S][2]: start and step of its samples, s; first_samples [S + 1]; samples
struct Sources {
  const long long* first;
  const real* loads;
  const long long* numbers;
  const real* factors;
  const double* times;
  const long long* first_samples;
  const real* samples;
  double when;

  METHOD real amplitude(long long source) const {
    const long long begin = first_samples[source], end = first_samples[source + 1];
    return value_at(when, times[2 * source], times[2 * source + 1], samples + begin, end - begin);
  }

  // Adds the rates at a node. If a Value covers several nodes, these are `node` and the following
  // ones.
  template <class Value, class Load>
  METHOD void add(index_t e, int node, const Load& load, Value (&rates)[FIELDS]) const {
#ifdef __CUDACC__
#pragma unroll 1  // few elements have a source, and longer code slows down all: 0.5 % on an H200
#endif
    for (long long part = first[e]; part < first[e + 1]; ++part) {
      const real now = amplitude(numbers[part]);
      if (now == 0) continue;  // most points of a large rupture are at rest most of the time
      const Value here = now * load(loads + part * CUBE + node);
      const real* const factor = factors + numbers[part] * FIELDS;
      UNROLL
      for (int c = 0; c < FIELDS; ++c) rates[c] = FMA(factor[c], here, rates[c]);
    }
  }
};

// Damping of all fields.
//   rows [elements]: row of each element in `decay`; -1 without damping
//   decay [rows][CUBE]: rates of decay at the nodes, 1/s
struct Damping {
  const int* rows;
  const real* decay;

  METHOD bool inside(index_t e) const { return DAMPING && rows[e] >= 0; }

  // The rate of decay at a node. If a Value covers several nodes, these are `node` and the
  // following ones.
  template <class Value, class Load> METHOD Value at(index_t e, int node, const Load& load) const {
    return inside(e) ? load(decay + static_cast<index_t>(rows[e]) * CUBE + node) : Value{};
  }
};

#define TERM_ARGUMENTS                                                                             \
  const long long *first_part, const real *loads, const long long *numbers, const real *factors,   \
      const double *times, const long long *first_samples, const real *samples, const int *damped, \
      const real *decay
#define SOURCES_AT(when) {first_part, loads, numbers, factors, times, first_samples, samples, when}
#define DAMPING_TERM {damped, decay}
