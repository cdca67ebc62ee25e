// Messages through memory that both ranks see: the sender copies its values straight into the
// receiver's mailbox, or into its ghost layers, and raises a flag there. No host is in between.
//
// Epochs count exchanges; they live on the device, so that a recorded graph can be replayed.
// A mailbox has two halves. A rank fills one half again only after two further exchanges, and until
// then its partner, whose next message it has awaited, must have emptied it. Ghost layers have no
// second half: their owner allows each epoch's stores, when nobody reads the old values any more.
#pragma once
#include "address.h"
#include "sync_flags.h"

// Addresses of a message's flags, here and at the partner. Each pair of ranks sends each other the
// same messages, some of them empty; must agree with transports/mailboxes.py. One more letter, all
// zeros, stands for what a rank copies for itself.
struct Letter {
  long long arrived, tell_arrived;  // the partner's message is here; mine is there
  long long allowed, allow;         // I may store there; the partner may store here. 0: mailbox
  long long chunks;                 // of my message
  long long bytes, limit;           // of it; where there may be fewer, the address of their number
};

// What all launches of an exchange know of it. `failure`, and `told` where the host sees it at once,
// get the number of the letter that a rank waited for in vain, counted from 1.
struct Post {
  const Letter* letters;
  index_t letter_count, blocks;
  long long *done, *epoch, *failure, *told;
  Timeout timeout;
};

INLINE void give_up(const Post& post, index_t number) {
  *post.failure = number + 1;
  set_flag(post.told, number + 1);
}

INLINE void await_letter(const Post& post, long long flag, long long epoch, index_t number) {
  FOR_THREADS(t, 1) {
    // Whoever has waited in vain once does not wait again.
    if (!read_flag(post.failure) && !wait_for_flag(as_pointer<long long>(flag), epoch, post.timeout))
      give_up(post, number);
  }
  BARRIER();
}

INLINE void deliver(const Letter& letter, long long epoch) {
  system_fence();  // what other blocks have counted, too
  set_flag(as_pointer<long long>(letter.tell_arrived), epoch);
}

// Tells the partners of all messages of which `ready` says that they can leave. A benchmark may define
// DELIVER to have it done in another way, as over a slower link.
template <class Ready>
INLINE void deliver_at_once(const Post& post, long long epoch, const Ready& ready) {
  FOR_THREADS(l, post.letter_count) {
    const Letter letter = post.letters[l];
    if (ready(l, letter)) deliver(letter, epoch);
  }
}
#ifndef DELIVER
#define DELIVER deliver_at_once
#endif

// Let the partners store, and tell them of messages in which there is nothing to be copied: nothing
// at all, or nothing that earlier kernels have not stored themselves.
INLINE void begin_letters(const Post& post, long long epoch) {
  FOR_THREADS(l, post.letter_count)
    if (post.letters[l].allow) set_flag(as_pointer<long long>(post.letters[l].allow), epoch);
  DELIVER(post, epoch, [](index_t, const Letter& letter) { return !letter.chunks; });
}

// A block's chunks of all messages are in place. Stores that cross a link are waited for once, at
// the end; the block that brings a message's last ones raises its flag.
INLINE void close_letters(const Post& post, const long long* shares, long long epoch) {
  BARRIER();
  const auto last = [&](index_t l, const Letter& letter) {
    if (!shares[l]) return false;
    system_fence();
    if (fetch_add(post.done + l, shares[l]) + shares[l] != letter.chunks) return false;
    post.done[l] = 0;
    return true;
  };
  DELIVER(post, epoch, last);
}

// Waits for all messages, each by another thread.
INLINE void await_letters(const Post& post, long long epoch) {
  FOR_THREADS(l, post.letter_count) {
    if (!read_flag(post.failure) &&
        !wait_for_flag(as_pointer<long long>(post.letters[l].arrived), epoch, post.timeout))
      give_up(post, l);
  }
}

// Whatever a block had to do is done; the last block ends the epoch.
INLINE void end_epoch(const Post& post, long long epoch) {
  BARRIER();
  FOR_THREADS(t, 1) {
    long long* finished = post.done + post.letter_count;
    if (fetch_add(finished, 1) == post.blocks - 1) {
      *finished = 0;
      *post.epoch = epoch;
    }
  }
}

#define POST_ARGUMENTS                                                                       \
  const Letter *letters, index_t letter_count, index_t blocks, long long *done,              \
      long long *epoch, long long *failure, long long *stop, index_t nanoseconds
#define POST                                                                                 \
  {                                                                                          \
    letters, letter_count, blocks, done, epoch, failure, stop + 1, { stop, nanoseconds }     \
  }
