// Local terms of the rates: point sources in an element, and damping of all fields.
#pragma once
#include "elements.h"
#include "seismology/kernels/sampled_function.h"

// Point sources in the order of their elements.
//   first [elements + 1]: first source of each element
//   shapes [S][3 NODES + FIELDS]: factors of a source along x, y and z; their product is its value at a node;
//                                 rates of the fields per unit of its time function
//   times [S][2]: start and step of its samples, s; first_samples [S + 1]; samples
struct Sources {
  const long long* first;
  const real* shapes;
  const double* times;
  const long long* first_samples;
  const real* samples;
  double when;

  METHOD real amplitude(long long n) const {
    const long long begin = first_samples[n], end = first_samples[n + 1];
    return value_at(when, times[2 * n], times[2 * n + 1], samples + begin, end - begin);
  }

  // along_x(shape): the factors along x at the nodes of `rates`.
  template <class Value, class AlongX>
  METHOD void add(index_t e, int j, int k, const AlongX& along_x, Value (&rates)[FIELDS]) const {
    for (long long n = first[e]; n < first[e + 1]; ++n) {
      const real* const shape = shapes + n * (3 * NODES + FIELDS);
      const Value share = amplitude(n) * shape[NODES + j] * shape[2 * NODES + k] * along_x(shape);
      UNROLL
      for (int c = 0; c < FIELDS; ++c) rates[c] = FMA(shape[3 * NODES + c], share, rates[c]);
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

  // The rate of decay at a node. If a Value covers several nodes, these are `node` and the following ones.
  template <class Value, class Load> METHOD Value at(index_t e, int node, const Load& load) const {
    return inside(e) ? load(decay + static_cast<index_t>(rows[e]) * CUBE + node) : Value{};
  }
};

#define TERM_ARGUMENTS                                                                             \
  const long long *first_source, const real *shapes, const double *times,                          \
      const long long *first_samples, const real *samples, const int *damped, const real *decay
#define SOURCES_AT(when) { first_source, shapes, times, first_samples, samples, when }
#define DAMPING_TERM { damped, decay }
