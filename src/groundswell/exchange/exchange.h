// The kernels of an exchange. They copy boxes of values: to pack, unpack, convert to narrower
// types, fill ghosts with NaN, or store values in mailboxes or arrays of the receivers.
#pragma once
#include "signals.h"
#include "strided_boxes.h"

// Consecutive values of a box that one block of threads copies; the message to which they belong,
// and whether the chunk is the first one of that message for the block.
struct Chunk {
  long long box, first, count, message, opens;
};

INLINE void copy_chunk(const BoxCopy* boxes, const Chunk& chunk, index_t epoch) {
  copy_part(boxes[chunk.box], {chunk.first, chunk.count}, epoch);
}

KERNEL copy_boxes(const BoxCopy* boxes, const Chunk* chunks, index_t count) {
  FOR_BLOCKS(c, count) { copy_chunk(boxes, chunks[c], 0); }
}

// --- sending and receiving -----------------------------------------------------------------------

// One direction of an exchange: boxes, their chunks, and the number of chunks of each message that
// each block of threads copies, (blocks, messages).
struct Load {
  const BoxCopy* boxes;
  const Chunk* chunks;
  index_t count;
  const long long* shares;
};

// Block b copies its share of all chunks to the receivers.
INLINE void send_share(const Load& load, const Signals& signals, index_t b, long long epoch) {
  if (b == 0) open_messages(signals, epoch);
  for (index_t c = b; c < load.count; c += signals.blocks) {
    const Chunk chunk = load.chunks[c];
    const MessageFlags message = signals.messages[chunk.message];
    if (message.allowed && chunk.opens)
      block_waits_for_message(signals, message.allowed, epoch, chunk.message);
    copy_chunk(load.boxes, chunk, epoch);
  }
  complete_messages(signals, load.shares + b * signals.count, epoch);
}

// Block b waits for the messages of its share of all chunks, and copies the chunks from the
// mailboxes.
INLINE void receive_share(const Load& load, const Signals& signals, index_t b, long long epoch) {
  if (b == 0) wait_for_messages(signals, epoch);
  for (index_t c = b; c < load.count; c += signals.blocks) {
    const Chunk chunk = load.chunks[c];
    if (chunk.opens) {
      const long long arrived = signals.messages[chunk.message].arrived;
      block_waits_for_message(signals, arrived, epoch, chunk.message);
    }
    copy_chunk(load.boxes, chunk, epoch);
  }
  end_epoch(signals, epoch);
}

#define LOAD_ARGUMENTS(name)                                                     \
  const BoxCopy *name##_boxes, const Chunk *name##_chunks, index_t name##_count, \
      const long long *name##_shares
#define LOAD(name) \
  Load { name##_boxes, name##_chunks, name##_count, name##_shares }

KERNEL send_boxes(LOAD_ARGUMENTS(out), SIGNAL_ARGUMENTS) {
  const Signals signals SIGNALS;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, blocks) { send_share(LOAD(out), signals, b, now); }
}

KERNEL receive_boxes(LOAD_ARGUMENTS(in), SIGNAL_ARGUMENTS) {
  const Signals signals SIGNALS;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, blocks) { receive_share(LOAD(in), signals, b, now); }
}

// Sends and receives in one launch. All blocks must be able to run at the same time, because they
// wait for blocks of other ranks, which wait for them.
KERNEL exchange_boxes(LOAD_ARGUMENTS(out), LOAD_ARGUMENTS(in), SIGNAL_ARGUMENTS) {
  const Signals signals SIGNALS;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, blocks) {
    send_share(LOAD(out), signals, b, now);
    receive_share(LOAD(in), signals, b, now);
  }
}

// --- signals of messages that other kernels store and read ---------------------------------------

// Allows the peers to store.
KERNEL allow_peers(SIGNAL_ARGUMENTS) {
  const Signals signals SIGNALS;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, 1) { allow_stores(signals, now); }
}

// The same; then waits until the peers allow this rank to store, which the following kernels do.
KERNEL wait_for_permission(SIGNAL_ARGUMENTS) {
  const Signals signals SIGNALS;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, 1) {
    allow_stores(signals, now);
    FOR_THREADS(m, message_count)
      if (messages[m].allowed) wait_for_message(signals, messages[m].allowed, now, m);
  }
}

// Signals all messages of which this exchange copies nothing.
KERNEL signal_messages(SIGNAL_ARGUMENTS) {
  const Signals signals SIGNALS;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, 1) { open_messages(signals, now); }
}

// On a CPU, waits for a limited time for a flag of every message. `missing` becomes the number of a
// message whose flag is not set by then, or 0. flags: addresses of the flags.
KERNEL poll_flags(const long long* flags, index_t count, const long long* epoch,
                  const long long* stop, index_t nanoseconds, long long* missing) {
  const Timeout timeout{stop, nanoseconds};
  ONE_THREAD {
    *missing = 0;
    for (index_t m = 0; m < count && !*missing; ++m)
      if (!wait_for_flag(as_pointer<long long>(flags[m]), *epoch + 1, timeout)) *missing = m + 1;
  }
}

// --- sums ----------------------------------------------------------------------------------------

// Sums numbers that were gathered from all ranks, (ranks, count), in the order of ranks.
KERNEL sum_over_ranks(const double* all, index_t ranks, index_t count, double* sums) {
  FOR_BLOCKS(b, 1) {
    FOR_THREADS(q, count) {
      double sum = 0;
      for (index_t n = 0; n < ranks; ++n) sum += all[n * count + q];
      sums[q] = sum;
    }
  }
}
