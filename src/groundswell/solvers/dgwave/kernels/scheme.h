// Low-storage Runge-Kutta schemes: r = a r + rates, u = u + b dt r in each stage.
#pragma once
#include "portable.h"

// Coefficients of a stage: a, b dt, and the time since the start of the step, s.
struct Stage {
  double a, b, time;
};

// These functions load all values before they store any. The compiler must assume that pointers
// overlap, so it cannot move a load before a store.

// Loads values `stride` apart.
template <int COUNT, class Value, class Load>
INLINE void load_all(const real* from, int stride, const Load& load, Value (&values)[COUNT]) {
  UNROLL
  for (int n = 0; n < COUNT; ++n) values[n] = load(from + n * stride);
}

// Advances the register of variables, whose values are `stride` apart, with their rates. now: the
// new values.
template <int COUNT, class Value, class Load, class Store>
INLINE void advance_register(real a, const Value (&rates)[COUNT], int stride, real* r,
                             const Load& load, const Store& store, Value (&now)[COUNT]) {
  if (a != 0) load_all(r, stride, load, now);
  UNROLL
  for (int n = 0; n < COUNT; ++n) {
    now[n] = a != 0 ? FMA(a, now[n], rates[n]) : rates[n];
    store(r + n * stride, now[n]);
  }
}

// Advances variables u and their register with their rates. a, b: see `Stage`; old: values of u.
template <int COUNT, class Value, class Load, class Store>
INLINE void advance_variables(real a, real b, const Value (&rates)[COUNT],
                              const Value (&old)[COUNT], int stride, real* r, real* u,
                              const Load& load, const Store& store) {
  Value now[COUNT];
  advance_register(a, rates, stride, r, load, store, now);
  UNROLL
  for (int n = 0; n < COUNT; ++n) store(u + n * stride, FMA(b, now[n], old[n]));
}

// Traces of other ranks use three buffers in turn, so that no stage writes the buffer that it
// reads. Three are needed because the number of stages is odd.
static_assert(STAGES % 2, "schemes with an even number of stages need two buffers");
INLINE int buffer_of(int stage) { return stage == STAGES - 1 ? 2 : stage % 2; }
