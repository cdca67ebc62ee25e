// The next step of conjugate gradients on ranks that see each other's memory: in one launch, or in two
// with a wait of the host's in between.
#pragma once
#include "../exchange/total.h"
#include "cg.h"

INLINE void tell_sums(const double* partial, index_t parts, double* sums, const Total& total,
                      const Post& post, long long now) {
  add_parts(partial, parts, sums);
  BARRIER();
  tell_ranks<SUMS>(total, post, sums, now);
}

KERNEL tell_others(const double* partial, index_t parts, double* sums, TOTAL_ARGUMENTS) {
  const Post post POST;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, 1) { tell_sums(partial, parts, sums, TOTAL, post, now); }
}

// `told` says whether tell_others came before.
KERNEL find_common_step(const double* partial, index_t parts, double* sums, index_t told,
                        State* state, double* history, index_t most,
                        TOTAL_ARGUMENTS) {
  const Post post POST;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, 1) {
    if (!told) tell_sums(partial, parts, sums, TOTAL, post, now);
    add_ranks<SUMS>(TOTAL, post, sums, now);
    FOR_THREADS(one, 1) take_step(sums, state, history, most);
  }
}
