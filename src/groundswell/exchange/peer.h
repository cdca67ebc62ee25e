// Messages through memory that both ranks see: the sender copies its values straight into the
// receiver's mailbox, or into its ghost layers, and raises a flag there. No host is in between.
//
// Epochs count exchanges; they live on the device, so that a recorded graph can be replayed.
// A mailbox has two halves. A rank fills one half again only after two further exchanges, and until
// then its partner, whose next message it has awaited, must have emptied it. Ghost layers have no
// second half: their owner allows each epoch's stores, when nobody reads the old values any more.
#pragma once
#include "copy.h"
#include "flags.h"

// Addresses of a message's flags, here and at the partner. Each pair of ranks sends each other the
// same messages, some of them empty; must agree with transports/peer.py. One more letter, all zeros,
// stands for what a rank copies for itself.
struct Letter {
  long long arrived, tell_arrived;  // the partner's message is here; mine is there
  long long allowed, allow;         // I may store there; the partner may store here. 0: mailbox
  long long chunks;                 // of my message
  long long bytes, limit;           // of it; where there may be fewer, the address of their number
};

// A slower link, for experiments: a message has arrived no sooner than such a link, which carries
// one at a time, would have brought it. `busy` is when it will be free again, and behind that, for
// each letter, when it arrives, and the letter that the same thread delivers next.
struct Link {
  double nanoseconds_a_byte;
  long long latency, gap;
  long long* busy;

  METHOD bool there() const { return nanoseconds_a_byte > 0; }
  METHOD long long& arrival(index_t l) const { return busy[1 + 2 * l]; }
  METHOD long long& next(index_t l) const { return busy[2 + 2 * l]; }
  METHOD void take(const Letter& letter, index_t l, long long now) const {
    const long long bytes = letter.limit ? *at<long long>(letter.limit) : letter.bytes;
    const long long lasts = gap + static_cast<long long>(nanoseconds_a_byte * bytes);
    arrival(l) = bytes ? book(busy, now, lasts) + latency : now;
  }
};

// One direction of an exchange: which boxes, in which chunks, and how many chunks of each message
// are whose, (blocks, letters).
struct Load {
  const Box* boxes;
  const Chunk* chunks;
  index_t count;
  const long long* shares;
};

// What all launches of an exchange know of it. `failure` gets the number of the letter that a rank
// waited for in vain, counted from 1.
struct Post {
  const Letter* letters;
  index_t letter_count, blocks;
  long long *done, *epoch, *failure;
  Patience patience;
  Link link;
};

INLINE void await_letter(const Post& post, long long flag, long long epoch, index_t number) {
  FOR_THREADS(t, 1) {
    // Whoever has waited in vain once does not wait again.
    if (!read_flag(post.failure) && !await_flag(at<long long>(flag), epoch, post.patience))
      *post.failure = number + 1;
  }
  BARRIER();
}

INLINE void deliver(const Letter& letter, long long epoch) {
  publish();  // what other blocks have counted, too
  raise_flag(at<long long>(letter.tell_arrived), epoch);
}

// The same over a slower link, for letters of which `ready` says that they can leave: all leave
// now, and one thread delivers them as they arrive.
template <class Ready>
INLINE void deliver_slowly(const Post& post, long long epoch, const Ready& ready) {
  FOR_THREADS(one, 1) {
    const long long now = nanoseconds_now();
    index_t first = -1, latest = -1;
    for (index_t l = 0; l < post.letter_count; ++l) {
      const Letter letter = post.letters[l];
      if (!ready(l, letter)) continue;
      post.link.take(letter, l, now);
      (latest < 0 ? first : post.link.next(latest)) = l;
      latest = l;
    }
    for (index_t l = first; l >= 0; l = l == latest ? -1 : post.link.next(l)) {
      wait_until(post.link.arrival(l), post.patience);
      deliver(post.letters[l], epoch);
    }
  }
}

// Let the partners store, and tell them of messages in which there is nothing to be copied: nothing
// at all, or nothing that earlier kernels have not stored themselves.
INLINE void begin_letters(const Post& post, long long epoch) {
  FOR_THREADS(l, post.letter_count)
    if (post.letters[l].allow) raise_flag(at<long long>(post.letters[l].allow), epoch);
  const auto empty = [](index_t, const Letter& letter) { return !letter.chunks; };
  if (post.link.there()) return deliver_slowly(post, epoch, empty);
  FOR_THREADS(l, post.letter_count) {
    const Letter letter = post.letters[l];
    if (empty(l, letter)) deliver(letter, epoch);
  }
}

// A block's chunks of all messages are in place. Stores that cross a link are waited for once, at
// the end; the block that brings a message's last ones raises its flag.
INLINE void close_letters(const Post& post, const long long* shares, long long epoch) {
  BARRIER();
  const auto last = [&](index_t l, const Letter& letter) {
    if (!shares[l]) return false;
    publish();
    if (count_up(post.done + l, shares[l]) + shares[l] != letter.chunks) return false;
    post.done[l] = 0;
    return true;
  };
  if (post.link.there()) return deliver_slowly(post, epoch, last);
  FOR_THREADS(l, post.letter_count) {
    const Letter letter = post.letters[l];
    if (last(l, letter)) deliver(letter, epoch);
  }
}

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
// belongs; the last block to finish ends the epoch.
INLINE void receive_share(const Load& load, const Post& post, index_t b, long long epoch) {
  if (b == 0) {
    FOR_THREADS(l, post.letter_count) {
      if (!read_flag(post.failure) &&
          !await_flag(at<long long>(post.letters[l].arrived), epoch, post.patience))
        *post.failure = l + 1;
    }
  }
  for (index_t c = b; c < load.count; c += post.blocks) {
    const Chunk chunk = load.chunks[c];
    if (chunk.opens) await_letter(post, post.letters[chunk.message].arrived, epoch, chunk.message);
    copy_chunk(load.boxes[chunk.box], chunk, epoch);
  }
  BARRIER();
  FOR_THREADS(t, 1) {
    long long* finished = post.done + post.letter_count;
    if (count_up(finished, 1) == post.blocks - 1) {
      *finished = 0;
      *post.epoch = epoch;
    }
  }
}

#define LOAD_ARGUMENTS(name)                                                                 \
  const Box *name##_boxes, const Chunk *name##_chunks, index_t name##_count,                 \
      const long long *name##_shares
#define LOAD(name)                                                                           \
  Load { name##_boxes, name##_chunks, name##_count, name##_shares }
#define POST_ARGUMENTS                                                                       \
  const Letter *letters, index_t letter_count, index_t blocks, long long *done,              \
      long long *epoch, long long *failure, const long long *stop, index_t nanoseconds,      \
      const double *rate, index_t latency, index_t gap, long long *busy
#define POST                                                                                 \
  {                                                                                          \
    letters, letter_count, blocks, done, epoch, failure, { stop, nanoseconds },              \
        { *rate, latency, gap, busy }                                                             \
  }

// Let the partners store, and wait until they let this rank: the kernels that follow store there.
KERNEL open_letters(POST_ARGUMENTS) {
  const Post post POST;
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, 1) {
    FOR_THREADS(l, letter_count)
      if (letters[l].allow) raise_flag(at<long long>(letters[l].allow), now);
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
KERNEL await_letters(const Letter* letters, index_t letter_count, const long long* epoch,
                     const long long* stop, index_t nanoseconds, long long* missing) {
  const Patience patience{stop, nanoseconds};
  ONCE {
    *missing = 0;
    for (index_t l = 0; l < letter_count && !*missing; ++l)
      if (!await_flag(at<long long>(letters[l].arrived), *epoch + 1, patience)) *missing = l + 1;
  }
}
