// The kernels of an exchange. They copy boxes of values: to pack, unpack, convert to narrower types, fill ghosts
// with NaN, or store values in mailboxes or arrays of the receivers.
#pragma once
#include "address.h"
#include "narrow_floats.h"
#include "signals.h"

// Source type and target type of a value.
enum Kind {
  BYTES_1, BYTES_2, BYTES_4, BYTES_8, BYTES_16,
  DOUBLE_TO_FLOAT, FLOAT_TO_DOUBLE, FLOAT_TO_HALF, HALF_TO_FLOAT, FLOAT_TO_BRAIN, BRAIN_TO_FLOAT,
  PAIR_4, PAIR_8  // complex numbers with the alignment of one part
};

// Address of a box, and distances in bytes between its planes, rows and values. Odd epochs are offset by `flip` bytes,
// because mailboxes have two halves.
struct Place {
  long long address, plane, row, step, flip;
};

// A box with its source and target; must agree with boxes.py.
struct Box {
  long long kind, rows, length;  // planes follow from the number of values
  Place from, to;
};

// Consecutive values of a box that one block of threads copies; the message to which they belong, and whether the
// chunk is the first one of that message for the block.
struct Chunk {
  long long box, first, count, message, opens;
};

struct Word16 {
  alignas(16) unsigned int word[4];
};
template <class Part> struct Pair {
  Part first, second;
};

// --- copying --------------------------------------------------------------------------------------

INLINE long long begin_of(const Place& p, index_t epoch) { return p.address + (epoch & 1) * p.flip; }

#if defined(__CUDACC__)

constexpr int IN_FLIGHT = 4;  // number of values of a thread that are in flight together

// Byte offset of value n of a box. Arguments are passed by value: through a reference, they would be reloaded after
// every store, which might have changed them.
struct Offsets {
  index_t plane, row, step;
  bits32 rows, length;

  INLINE Offsets(const Place& p, const Box& box)
      : plane(p.plane), row(p.row), step(p.step), rows(static_cast<bits32>(box.rows)),
        length(static_cast<bits32>(box.length)) {}

  INLINE index_t operator()(bits32 n) const {
    if (n < length) return n * step;  // a contiguous box
    const bits32 line = n / length, layer = line / rows;
    return layer * plane + (line - layer * rows) * row + (n - line * length) * step;
  }
};

template <class From, class To>
INLINE void copy_values(const Box& box, const Chunk& chunk, index_t epoch) {
  const long long from = begin_of(box.from, epoch), to = begin_of(box.to, epoch);
  const Offsets source(box.from, box), target(box.to, box);
  const bits32 first = static_cast<bits32>(chunk.first), stride = blockDim.x;
  const bits32 end = first + static_cast<bits32>(chunk.count);
  for (bits32 n = first + threadIdx.x; n < end; n += IN_FLIGHT * stride) {
    From values[IN_FLIGHT];
    UNROLL
    for (int u = 0; u < IN_FLIGHT; ++u)
      if (n + u * stride < end) values[u] = *as_pointer<From>(from + source(n + u * stride));
    UNROLL
    for (int u = 0; u < IN_FLIGHT; ++u)
      if (n + u * stride < end) *as_pointer<To>(to + target(n + u * stride)) = To(values[u]);
  }
}

#else

template <class From, class To>
INLINE void copy_row(long long from, long long from_step, long long to, long long to_step,
                     index_t count) {
  if (from_step == sizeof(From) && to_step == sizeof(To)) {
    const From* RESTRICT source = as_pointer<From>(from);
    To* RESTRICT target = as_pointer<To>(to);
    PRAGMA(omp simd)
    for (index_t n = 0; n < count; ++n) target[n] = To(source[n]);
  } else {
    for (index_t n = 0; n < count; ++n)
      *as_pointer<To>(to + n * to_step) = To(*as_pointer<From>(from + n * from_step));
  }
}

template <class From, class To>
INLINE void copy_values(const Box& box, const Chunk& chunk, index_t epoch) {
  const long long from = begin_of(box.from, epoch), to = begin_of(box.to, epoch);
  const index_t end = chunk.first + chunk.count;
  for (index_t n = chunk.first, count; n < end; n += count) {
    const index_t row = n / box.length, in_row = n % box.length;
    const index_t plane = row / box.rows, in_plane = row % box.rows;
    count = end - n < box.length - in_row ? end - n : box.length - in_row;
    const Place &f = box.from, &t = box.to;
    copy_row<From, To>(from + plane * f.plane + in_plane * f.row + in_row * f.step, f.step,
                       to + plane * t.plane + in_plane * t.row + in_row * t.step, t.step, count);
  }
}

#endif

INLINE void copy_chunk(const Box& box, const Chunk& chunk, index_t epoch) {
  switch (box.kind) {
    case BYTES_1: return copy_values<unsigned char, unsigned char>(box, chunk, epoch);
    case BYTES_2: return copy_values<bits16, bits16>(box, chunk, epoch);
    case BYTES_4: return copy_values<bits32, bits32>(box, chunk, epoch);
    case BYTES_8: return copy_values<unsigned long long, unsigned long long>(box, chunk, epoch);
    case BYTES_16: return copy_values<Word16, Word16>(box, chunk, epoch);
    case DOUBLE_TO_FLOAT: return copy_values<double, float>(box, chunk, epoch);
    case FLOAT_TO_DOUBLE: return copy_values<float, double>(box, chunk, epoch);
    case FLOAT_TO_HALF: return copy_values<float, Half>(box, chunk, epoch);
    case HALF_TO_FLOAT: return copy_values<Half, float>(box, chunk, epoch);
    case FLOAT_TO_BRAIN: return copy_values<float, Brain>(box, chunk, epoch);
    case BRAIN_TO_FLOAT: return copy_values<Brain, float>(box, chunk, epoch);
    case PAIR_4: return copy_values<Pair<bits32>, Pair<bits32>>(box, chunk, epoch);
    case PAIR_8:
      return copy_values<Pair<unsigned long long>, Pair<unsigned long long>>(box, chunk, epoch);
  }
}

KERNEL copy_boxes(const Box* boxes, const Chunk* chunks, index_t count) {
  FOR_BLOCKS(c, count) { copy_chunk(boxes[chunks[c].box], chunks[c], 0); }
}

// --- sending and receiving ----------------------------------------------------------------------------

// One direction of an exchange: boxes, their chunks, and the number of chunks of each message that each block of
// threads copies, (blocks, messages).
struct Load {
  const Box* boxes;
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
    copy_chunk(load.boxes[chunk.box], chunk, epoch);
  }
  complete_messages(signals, load.shares + b * signals.count, epoch);
}

// Block b waits for the messages of its share of all chunks, and copies the chunks from the mailboxes.
INLINE void receive_share(const Load& load, const Signals& signals, index_t b, long long epoch) {
  if (b == 0) wait_for_messages(signals, epoch);
  for (index_t c = b; c < load.count; c += signals.blocks) {
    const Chunk chunk = load.chunks[c];
    if (chunk.opens) {
      const long long arrived = signals.messages[chunk.message].arrived;
      block_waits_for_message(signals, arrived, epoch, chunk.message);
    }
    copy_chunk(load.boxes[chunk.box], chunk, epoch);
  }
  end_epoch(signals, epoch);
}

#define LOAD_ARGUMENTS(name)                                                                   \
  const Box *name##_boxes, const Chunk *name##_chunks, index_t name##_count,                   \
      const long long *name##_shares
#define LOAD(name)                                                                             \
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

// Sends and receives in one launch. All blocks must be able to run at the same time, because they wait for blocks of
// other ranks, which wait for them.
KERNEL exchange_boxes(LOAD_ARGUMENTS(out), LOAD_ARGUMENTS(in), SIGNAL_ARGUMENTS) {
  const Signals signals SIGNALS;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, blocks) {
    send_share(LOAD(out), signals, b, now);
    receive_share(LOAD(in), signals, b, now);
  }
}

// --- signals of messages that other kernels store and read -----------------------------------------

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

// On a CPU, waits for a limited time for a flag of every message. `missing` becomes the number of a message whose flag
// is not set by then, or 0. flags: addresses of the flags.
KERNEL poll_flags(const long long* flags, index_t count, const long long* epoch, const long long* stop,
                  index_t nanoseconds, long long* missing) {
  const Timeout timeout{stop, nanoseconds};
  ONE_THREAD {
    *missing = 0;
    for (index_t m = 0; m < count && !*missing; ++m)
      if (!wait_for_flag(as_pointer<long long>(flags[m]), *epoch + 1, timeout))
        *missing = m + 1;
  }
}

// --- sums -----------------------------------------------------------------------------------------

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
