// Sums of a few numbers over all ranks, computed by one block of a kernel that needs them. Each rank
// stores its numbers in every other rank's mailbox, and adds those of all ranks in the order of ranks,
// so that all get the same bits.
#pragma once
#include "signals.h"

// Where a rank's numbers go, and where those of the other rank arrive; by rank.
struct Contribution {
  long long there, here;
  long long message;  // its number; -1 for this rank
};

struct AllReduce {
  const Contribution* contributions;
  index_t ranks, flip;
};

#define ALLREDUCE_ARGUMENTS \
  const Contribution *contributions, index_t ranks, index_t flip, SIGNAL_ARGUMENTS
#define ALLREDUCE \
  AllReduce { contributions, ranks, flip }

template <int COUNT>
INLINE void start_allreduce(const AllReduce& reduce, const Signals& signals, const double* mine,
                            long long now) {
  FOR_THREADS(n, reduce.ranks) {
    const Contribution other = reduce.contributions[n];
    if (other.message < 0) continue;
    double* const there = as_pointer<double>(other.there + (now & 1) * reduce.flip);
    for (int q = 0; q < COUNT; ++q) there[q] = mine[q];
    signal_arrival(signals.messages[other.message], now);
  }
}

// This rank's numbers become the sums.
template <int COUNT>
INLINE void finish_allreduce(const AllReduce& reduce, const Signals& signals, double* mine,
                             long long now) {
  wait_for_messages(signals, now);
  BARRIER();
  FOR_THREADS(q, COUNT) {
    double sum = 0;
    for (index_t n = 0; n < reduce.ranks; ++n) {
      const Contribution other = reduce.contributions[n];
      const long long here = other.here + (now & 1) * reduce.flip;
      sum += other.message < 0 ? mine[q] : as_pointer<double>(here)[q];
    }
    mine[q] = sum;
  }
  end_epoch(signals, now);
}
