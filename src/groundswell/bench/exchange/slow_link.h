// A slower link between ranks: a message arrives no sooner than it would over such a link, which carries
// one message of a rank at a time. Must come before the kernels that tell of messages (exchange/letters.h).
#pragma once
#include "sync_flags.h"

// What the link is, and when it will be free again: one for each rank, however much it exchanges.
struct Link {
  double nanoseconds_a_byte, latency, gap;
  long long free;
};
#if defined(__CUDACC__)
__device__ Link the_link;
#else
static Link the_link;
#endif

KERNEL set_link(const double* numbers) {
  ONE_THREAD { the_link = {numbers[0], numbers[1], numbers[2], 0}; }
}

// Take the link for so long, as soon as it is free; when it will be free again.
INLINE long long book(Link& link, long long now, long long lasts) {
  for (long long known = link.free;;) {
    const long long end = (known > now ? known : now) + lasts;
    const long long found = compare_and_swap(&link.free, known, end);
    if (found == known) return end;
    known = found;
  }
}

INLINE void wait_until(long long end, const Timeout& timeout) {
  for (int turn = 1; nanoseconds_now() < end; ++turn) {
    yield_thread();
    if (turn % 1024 == 0 && read_flag(timeout.stop)) return;
  }
}

// All messages that `ready` names leave now; one thread delivers them as they arrive.
template <class Post, class Ready>
INLINE void deliver_over_link(const Post& post, long long epoch, const Ready& ready) {
  FOR_THREADS(one, 1) {
    const long long now = nanoseconds_now();
    for (index_t l = 0; l < post.letter_count; ++l) {
      const auto letter = post.letters[l];
      if (!ready(l, letter)) continue;
      const long long bytes =
          letter.limit ? *reinterpret_cast<const long long*>(letter.limit) : letter.bytes;
      if (bytes) {
        const double lasts = the_link.gap + the_link.nanoseconds_a_byte * bytes;
        const long long sent = book(the_link, now, static_cast<long long>(lasts));
        wait_until(sent + static_cast<long long>(the_link.latency), post.timeout);
      }
      deliver(letter, epoch);
    }
  }
}
#define DELIVER deliver_over_link
