// Numbers of all ranks, added up by one block of a kernel that wants them: each rank stores its own in
// every other one's mailbox, and adds what all have in the order of ranks, so that all get the same.
#pragma once
#include "letters.h"

// Where a rank's numbers go and where its letter's come, in the order of ranks; this rank has its own.
struct Desk {
  long long theirs, here;
  long long letter;  // -1: of this rank
};

struct Total {
  const Desk* desks;
  index_t ranks, flip;
};

#define TOTAL_ARGUMENTS const Desk *desks, index_t ranks, index_t flip, POST_ARGUMENTS
#define TOTAL \
  Total { desks, ranks, flip }

template <int COUNT>
INLINE void tell_ranks(const Total& total, const Post& post, const double* mine, long long now) {
  FOR_THREADS(n, total.ranks) {
    const Desk desk = total.desks[n];
    if (desk.letter < 0) continue;
    double* const theirs = as_pointer<double>(desk.theirs + (now & 1) * total.flip);
    for (int q = 0; q < COUNT; ++q) theirs[q] = mine[q];
    system_fence();
    set_flag(as_pointer<long long>(post.letters[desk.letter].tell_arrived), now);
  }
}

// This rank's numbers become all ranks' sums.
template <int COUNT>
INLINE void add_ranks(const Total& total, const Post& post, double* mine, long long now) {
  await_letters(post, now);
  BARRIER();
  FOR_THREADS(q, COUNT) {
    double sum = 0;
    for (index_t n = 0; n < total.ranks; ++n) {
      const Desk desk = total.desks[n];
      sum += desk.letter < 0 ? mine[q] : as_pointer<double>(desk.here + (now & 1) * total.flip)[q];
    }
    mine[q] = sum;
  }
  end_epoch(post, now);
}
