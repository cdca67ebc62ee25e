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
// same messages, some of them empty; must agree with transports/peer.py.
struct Letter {
  long long arrived, tell_arrived;  // the partner's message is here; mine is there
  long long allowed, allow;         // I may store there; the partner may store here. 0: mailbox
  long long chunks;                 // of my message
};

// Whom a rank waited for in vain: number of the letter, counted from 1.
INLINE void await_letter(long long flag, long long epoch, const Patience& patience,
                         index_t number, long long* failure) {
  FOR_THREADS(t, 1) {
    if (!await_flag(at<long long>(flag), epoch, patience)) *failure = number + 1;
  }
  BARRIER();
}

INLINE void open_letter(const Letter& letter, long long epoch) {
  if (letter.allow) raise_flag(at<long long>(letter.allow), epoch);
  if (!letter.chunks) raise_flag(at<long long>(letter.tell_arrived), epoch);
}

// A block's chunks of one message are in place; the block that brings the last ones raises the flag.
INLINE void close_letter(const Letter& letter, long long* done, index_t chunks, long long epoch) {
  BARRIER();
  FOR_THREADS(t, 1) {
    publish();
    if (count_up(done, chunks) + chunks == letter.chunks) {
      *done = 0;
      raise_flag(at<long long>(letter.tell_arrived), epoch);
    }
  }
}

// Copy all chunks to where they are wanted.
KERNEL send_boxes(const Box* boxes, const Chunk* chunks, index_t count, index_t blocks,
                  const Letter* letters, index_t letter_count, long long* done,
                  const long long* epoch, const long long* stop, index_t nanoseconds,
                  long long* failure) {
  const Patience patience{stop, nanoseconds};
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, blocks) {
    if (b == 0) FOR_THREADS(l, letter_count) open_letter(letters[l], now);
    index_t copied = 0;
    for (index_t c = b; c < count; c += blocks) {
      const Chunk chunk = chunks[c];
      const Letter letter = letters[chunk.message];
      if (letter.allowed && !copied)
        await_letter(letter.allowed, now, patience, chunk.message, failure);
      copy_chunk(boxes[chunk.box], chunk, now);
      ++copied;
      if (c + blocks >= count || chunks[c + blocks].message != chunk.message) {
        close_letter(letter, done + chunk.message, copied, now);
        copied = 0;
      }
    }
  }
}

// Wait for every message, copy what lies in mailboxes to where it belongs, and end the epoch.
KERNEL receive_boxes(const Box* boxes, const Chunk* chunks, index_t count, index_t blocks,
                     const Letter* letters, index_t letter_count, long long* done,
                     long long* epoch, const long long* stop, index_t nanoseconds,
                     long long* failure) {
  const Patience patience{stop, nanoseconds};
  const long long now = *epoch + 1;
  FOR_BLOCKS(b, blocks) {
    if (b == 0) {
      FOR_THREADS(l, letter_count) {
        if (!await_flag(at<long long>(letters[l].arrived), now, patience)) *failure = l + 1;
      }
    }
    for (index_t c = b; c < count; c += blocks) {
      const Chunk chunk = chunks[c];
      await_letter(letters[chunk.message].arrived, now, patience, chunk.message, failure);
      copy_chunk(boxes[chunk.box], chunk, now);
    }
    BARRIER();
    FOR_THREADS(t, 1) {
      if (count_up(done, 1) == blocks - 1) {
        *done = 0;
        *epoch = now;
      }
    }
  }
}

// Wait a while for every message; `missing` becomes the number of one that is late, or 0.
KERNEL await_letters(const Letter* letters, index_t letter_count, const long long* epoch,
                     const long long* stop, index_t nanoseconds, long long* missing) {
  const Patience patience{stop, nanoseconds};
  FOR_BLOCKS(b, 1) {
    FOR_THREADS(t, 1) {
      *missing = 0;
      for (index_t l = 0; l < letter_count; ++l)
        if (!await_flag(at<long long>(letters[l].arrived), *epoch + 1, patience)) *missing = l + 1;
    }
  }
}
