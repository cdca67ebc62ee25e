// Boxes of values that travel in letters: straight into the receivers' mailboxes or ghost layers.
#pragma once
#include "copy.h"
#include "letters.h"

// One direction of an exchange: which boxes, in which chunks, and how many chunks of each message
// are whose, (blocks, letters).
struct Load {
  const Box* boxes;
  const Chunk* chunks;
  index_t count;
  const long long* shares;
};

// Block b's share of copying all chunks to where they are wanted.
INLINE void send_share(const Load& load, const Post& post, index_t b, long long epoch) {
  if (b == 0) begin_letters(post, epoch);
  for (index_t c = b; c < load.count; c += post.blocks) {
    const Chunk chunk = load.chunks[c];
    const Letter letter = post.letters[chunk.message];
    if (letter.allowed && chunk.opens) await_letter(post, letter.allowed, epoch, chunk.message);
    copy_chunk(load.boxes[chunk.box], chunk, epoch);
  }
  close_letters(post, load.shares + b * post.letter_count, epoch);
}

// Block b's share of waiting for every message, and of copying what lies in mailboxes to where it
// belongs.
INLINE void receive_share(const Load& load, const Post& post, index_t b, long long epoch) {
  if (b == 0) await_letters(post, epoch);
  for (index_t c = b; c < load.count; c += post.blocks) {
    const Chunk chunk = load.chunks[c];
    if (chunk.opens) await_letter(post, post.letters[chunk.message].arrived, epoch, chunk.message);
    copy_chunk(load.boxes[chunk.box], chunk, epoch);
  }
  end_epoch(post, epoch);
}

#define LOAD_ARGUMENTS(name)                                                                 \
  const Box *name##_boxes, const Chunk *name##_chunks, index_t name##_count,                 \
      const long long *name##_shares
#define LOAD(name)                                                                           \
  Load { name##_boxes, name##_chunks, name##_count, name##_shares }

// Let the partners store, and wait until they let this rank: the kernels that follow store there.
KERNEL open_letters(POST_ARGUMENTS) {
  const Post post POST;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, 1) {
    FOR_THREADS(l, letter_count)
      if (letters[l].allow) set_flag(as_pointer<long long>(letters[l].allow), now);
    for (index_t l = 0; l < letter_count; ++l)
      if (letters[l].allowed) await_letter(post, letters[l].allowed, now, l);
  }
}

// The kernels before have stored everything: a small one that finds room beside any other says so.
KERNEL raise_letters(POST_ARGUMENTS) {
  const Post post POST;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, 1) { begin_letters(post, now); }
}

KERNEL send_boxes(LOAD_ARGUMENTS(out), POST_ARGUMENTS) {
  const Post post POST;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, blocks) { send_share(LOAD(out), post, b, now); }
}

KERNEL receive_boxes(LOAD_ARGUMENTS(in), POST_ARGUMENTS) {
  const Post post POST;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, blocks) { receive_share(LOAD(in), post, b, now); }
}

// Both in one launch, whose blocks must all be able to run at once: they wait for those of other
// ranks, which wait for them.
KERNEL swap_boxes(LOAD_ARGUMENTS(out), LOAD_ARGUMENTS(in), POST_ARGUMENTS) {
  const Post post POST;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, blocks) {
    send_share(LOAD(out), post, b, now);
    receive_share(LOAD(in), post, b, now);
  }
}

// Wait a while for every message; `missing` becomes the number of one that is late, or 0.
KERNEL look_for_letters(const Letter* letters, index_t letter_count, const long long* epoch,
                        const long long* stop, index_t nanoseconds, long long* missing) {
  const Timeout timeout{stop, nanoseconds};
  ONE_THREAD {
    *missing = 0;
    for (index_t l = 0; l < letter_count && !*missing; ++l)
      if (!wait_for_flag(as_pointer<long long>(letters[l].arrived), *epoch + 1, timeout))
        *missing = l + 1;
  }
}
