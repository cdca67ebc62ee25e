// The next step of conjugate gradients on ranks with access to each other's memory: one launch, or
// two with a host-side wait in between.
#pragma once
#include "../exchange/signals.h"
#include "cg.h"

INLINE void send_sums(const double* partial, index_t parts, double* sums, const AllReduce& reduce,
                      const Signals& signals, long long now) {
  add_parts(partial, parts, sums);
  BARRIER();
  start_allreduce<SUMS>(reduce, signals, sums, now);
}

KERNEL send_partial_sums(const double* partial, index_t parts, double* sums, ALLREDUCE_ARGUMENTS) {
  const Signals signals SIGNALS;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, 1) { send_sums(partial, parts, sums, ALLREDUCE, signals, now); }
}

// `sent` says whether send_partial_sums ran before.
KERNEL find_global_step(const double* partial, index_t parts, double* sums, index_t sent,
                        State* state, double* history, index_t max_iterations,
                        ALLREDUCE_ARGUMENTS) {
  const Signals signals SIGNALS;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, 1) {
    if (!sent) send_sums(partial, parts, sums, ALLREDUCE, signals, now);
    finish_allreduce<SUMS>(ALLREDUCE, signals, sums, now);
    FOR_THREADS(one, 1) take_step(sums, state, history, max_iterations);
  }
}
