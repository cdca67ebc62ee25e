// One stage of a Runge-Kutta step on a range of elements: derivatives, fluxes and the update in one
// kernel. A stage reads the traces that the previous stage stored.
#pragma once
#include "terms.h"
#if defined(__CUDACC__)
#include "advance_nodes.h"
#else
#include "advance_rows.h"
#endif

// Advances elements first to first + count - 1.
KERNEL advance(ELEMENT_ARGUMENTS, TERM_ARGUMENTS, const Stage* stages, const double* step,
               index_t stage, index_t first, index_t count) {
  const Elements all ELEMENTS_AT(stage);
  const Stage now = stages[stage];
  const Sources sources SOURCES_AT(static_cast<double>(clock[0]) * step[0] + now.time);
  const Damping damping DAMPING_TERM;
  const index_t blocks = (count + ELEMENTS - 1) / ELEMENTS;
  FOR_BLOCKS(b, blocks) {
    const index_t begin = in_turn(b, blocks, stage) * ELEMENTS, left = count - begin;
    advance_block(all, sources, damping, now, first + begin, left < ELEMENTS ? left : ELEMENTS);
  }
}

// Stores the traces that stage 0 of the next step reads.
KERNEL store_traces(ELEMENT_ARGUMENTS, index_t first, index_t count) {
  const Elements all ELEMENTS_AT(-1);
  FOR_BLOCKS(b, count) { store_traces_of(all, first + b); }
}

KERNEL count_step(long long* clock) {
  ONE_THREAD { clock[0] += 1; }
}
