// Row operations directly into the mailboxes of other ranks, and from those of this rank: one
// launch packs and sends, and another waits and unpacks. Indices in all mailboxes count values from
// one address; in odd epochs, they are shifted by `flip` values.
#pragma once
#include "../signals.h"
#include "assemble.h"

#define ROW_ARGUMENTS                                                                       \
  index_t from_first, index_t to_first, const Slice *slices, const stored_index_t *indices, \
      index_t count, index_t flip

// Fills mailboxes. `shares` lists the messages to which blocks contribute: all that are not empty.
KERNEL send_rows(const value_t* values, value_t* boxes, ROW_ARGUMENTS, const long long* shares,
                 SIGNAL_ARGUMENTS) {
  const Signals signals SIGNALS;
  const long long now = *epoch + 1;
  value_t* const to = boxes + (now & 1) * flip;
  FOR_BLOCKS(b, blocks) {
    if (b == 0) open_messages(signals, now);
    for (index_t n = b; n < count; n += blocks)
      reduce_slice(slices[n], indices, values, from_first, to, to_first);
    complete_messages(signals, shares, now);
  }
}

// Only waits, in one block: waiting blocks on all multiprocessors would slow down concurrent
// kernels (benchmarks/waiting_blocks.py).
KERNEL wait_for_rows(SIGNAL_ARGUMENTS) {
  const Signals signals SIGNALS;
  FOR_BLOCKS(b, 1) wait_for_messages(signals, *epoch + 1);
}

// Reads mailboxes once all messages have arrived.
KERNEL receive_rows(const value_t* boxes, value_t* values, ROW_ARGUMENTS, SIGNAL_ARGUMENTS) {
  const Signals signals SIGNALS;
  const long long now = *epoch + 1;
  const value_t* const from = boxes + (now & 1) * flip;
  FOR_BLOCKS(b, blocks) {
    wait_for_messages(signals, now);
    BARRIER();
    for (index_t n = b; n < count; n += blocks)
      reduce_slice(slices[n], indices, from, from_first, values, to_first);
    end_epoch(signals, now);
  }
}
