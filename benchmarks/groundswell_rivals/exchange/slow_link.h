// A slower link between ranks: a message arrives no sooner than it would over such a link, which
// carries one message of a rank at a time. Include it before exchange/signals.h.
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

// Signals messages for which `ready` is true when they would arrive; one thread does so.
template <class Signals, class Ready>
INLINE void signal_arrivals_over_link(const Signals& signals, long long epoch, const Ready& ready) {
  FOR_THREADS(one, 1) {
    const long long now = nanoseconds_now();
    for (index_t m = 0; m < signals.count; ++m) {
      const auto message = signals.messages[m];
      if (!ready(m, message)) continue;
      const long long bytes =
          message.length ? *reinterpret_cast<const long long*>(message.length) : message.bytes;
      if (bytes) {
        const double lasts = the_link.gap + the_link.nanoseconds_a_byte * bytes;
        const long long sent = book(the_link, now, static_cast<long long>(lasts));
        wait_until(sent + static_cast<long long>(the_link.latency), signals.timeout);
      }
      signal_arrival(message, epoch);
    }
  }
}
#define SIGNAL_ARRIVALS signal_arrivals_over_link
