// Row operations straight into other ranks' mailboxes, and out of this rank's: one launch packs and
// sends, another one waits and unpacks. Indices in all mailboxes count values from one address, and in
// odd epochs shift by `flip` values.
#pragma once
#include "../signals.h"
#include "assemble.h"

#define ROW_ARGUMENTS                                                                        \
  index_t from_first, index_t to_first, const Slice *slices, const stored_index_t *indices,   \
      index_t count, index_t flip
#define ROWS                                                                                 \
  Rows { from_first, to_first, slices, indices, count }

struct Rows {
  index_t from_first, to_first;
  const Slice* slices;
  const stored_index_t* indices;
  index_t count;

  // Process every `blocks`-th slice, from b on.
  METHOD void reduce(const value_t* from, value_t* to, index_t b, index_t blocks) const {
    for (index_t n = b; n < count; n += blocks)
      reduce_slice(slices[n], indices, from, from_first, to, to_first);
  }
};

// Fill mailboxes. `shares` tells which messages a block contributes to: all that are not empty.
KERNEL send_rows(const value_t* values, value_t* boxes, ROW_ARGUMENTS, const long long* shares,
                 SIGNAL_ARGUMENTS) {
  const Signals signals SIGNALS;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, blocks) {
    if (b == 0) open_messages(signals, now);
    ROWS.reduce(values, boxes + (now & 1) * flip, b, blocks);
    complete_messages(signals, shares + b * message_count, now);
  }
}

// Only wait, in one block: waiting blocks on all multiprocessors would slow down concurrent kernels
// (benchmarks/waiting_blocks.py).
KERNEL wait_for_rows(SIGNAL_ARGUMENTS) {
  const Signals signals SIGNALS;
  FOR_BLOCKS(b, 1) wait_for_messages(signals, *epoch + 1);
}

// Read mailboxes, once all messages have arrived.
KERNEL receive_rows(const value_t* boxes, value_t* values, ROW_ARGUMENTS, SIGNAL_ARGUMENTS) {
  const Signals signals SIGNALS;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, blocks) {
    wait_for_messages(signals, now);
    BARRIER();
    ROWS.reduce(boxes + (now & 1) * flip, values, b, blocks);
    end_epoch(signals, now);
  }
}
