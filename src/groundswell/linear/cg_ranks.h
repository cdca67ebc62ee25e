// The next step of conjugate gradients on ranks with access to each other's memory: one launch, or two with
// a host-side wait in between.
#pragma once
#include "../exchange/total.h"
#include "cg.h"

INLINE void send_sums(const double* partial, index_t parts, double* sums, const Total& total,
                      const Post& post, long long now) {
  add_parts(partial, parts, sums);
  BARRIER();
  tell_ranks<SUMS>(total, post, sums, now);
}

KERNEL send_partial_sums(const double* partial, index_t parts, double* sums, TOTAL_ARGUMENTS) {
  const Post post POST;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, 1) { send_sums(partial, parts, sums, TOTAL, post, now); }
}

// `sent` says whether send_partial_sums ran before.
KERNEL find_global_step(const double* partial, index_t parts, double* sums, index_t sent,
                        State* state, double* history, index_t max_iterations,
                        TOTAL_ARGUMENTS) {
  const Post post POST;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, 1) {
    if (!sent) send_sums(partial, parts, sums, TOTAL, post, now);
    add_ranks<SUMS>(TOTAL, post, sums, now);
    FOR_THREADS(one, 1) take_step(sums, state, history, max_iterations);
  }
}
