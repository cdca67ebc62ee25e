// Rows of values, reduced straight into other ranks' mailboxes, or out of this rank's: packing and
// sending in one launch, waiting and unpacking in another. Places of mailboxes, anybody's, are counted
// in values from one address, and all move by `flip` values in odd epochs.
#pragma once
#include "../letters.h"
#include "assemble.h"

#define ROW_ARGUMENTS                                                                        \
  index_t from_first, index_t to_first, const Slice *slices, const stored_index_t *places,   \
      index_t count, index_t flip
#define ROWS                                                                                 \
  Rows { from_first, to_first, slices, places, count }

struct Rows {
  index_t from_first, to_first;
  const Slice* slices;
  const stored_index_t* places;
  index_t count;

  // Block b's share.
  METHOD void reduce(const value_t* from, value_t* to, index_t b, index_t blocks) const {
    for (index_t n = b; n < count; n += blocks)
      reduce_slice(slices[n], places, from, from_first, to, to_first);
  }
};

// Values into mailboxes. `shares` says which messages a block has a part in: all that are not empty.
KERNEL send_rows(const value_t* values, value_t* boxes, ROW_ARGUMENTS, const long long* shares,
                 POST_ARGUMENTS) {
  const Post post POST;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, blocks) {
    if (b == 0) begin_letters(post, now);
    ROWS.reduce(values, boxes + (now & 1) * flip, b, blocks);
    close_letters(post, shares + b * letter_count, now);
  }
}

// Nothing but the wait: where each processor has a block that waits, kernels beside them take longer by
// all of it (benchmarks/waiting_blocks.py).
KERNEL await_rows(POST_ARGUMENTS) {
  const Post post POST;
  FOR_BLOCKS(b, 1) await_letters(post, *epoch + 1);
}

// Out of mailboxes, once all messages are there.
KERNEL receive_rows(const value_t* boxes, value_t* values, ROW_ARGUMENTS, POST_ARGUMENTS) {
  const Post post POST;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, blocks) {
    await_letters(post, now);
    BARRIER();
    ROWS.reduce(boxes + (now & 1) * flip, values, b, blocks);
    end_epoch(post, now);
  }
}
