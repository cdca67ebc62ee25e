// Messages through memory that both ranks can access. The sender stores values in the receiver's
// mailbox or arrays, and sets a flag there. The host is not involved.
//
// An epoch is the number of an exchange. It is stored on the device, so that a captured graph can
// be replayed. A mailbox has two halves, used in turn. A rank stores in the same half again two
// exchanges later. By then it has received the next message of its peer, so the peer has already
// read the half. Memory without a second half needs permission: its owner allows the stores of each
// epoch once the old values are no longer read.
#pragma once
#include "address.h"
#include "sync_flags.h"

// Addresses of a message's flags on both ranks; must agree with transports/peer_memory.py. Both
// ranks of a pair have the same messages, some of which may be empty. An additional row of zeros
// represents copies within a rank.
struct MessageFlags {
  long long arrived, peer_arrived;  // the peer's message is here; this rank's message is there
  long long allowed, peer_allowed;  // this rank may store there; the peer, here; 0: not needed
  long long chunks;                 // number of chunks of this rank's message
  long long bytes, length;          // its size; the address of its length if it may be shorter
};

// The messages of an exchange, for all of its kernels. After a time-out, `failure` and `reported`
// contain the number of the message, counted from 1; the host sees `reported` immediately.
struct Signals {
  const MessageFlags* messages;
  index_t count, blocks;
  long long *done, *epoch, *failure, *reported;
  Timeout timeout;
};

INLINE void report_timeout(const Signals& signals, index_t number) {
  *signals.failure = number + 1;
  set_flag(signals.reported, number + 1);
}

// After a time-out, no further wait takes place.
INLINE void wait_for_message(const Signals& signals, long long flag, long long epoch,
                             index_t number) {
  if (!read_flag(signals.failure) &&
      !wait_for_flag(as_pointer<long long>(flag), epoch, signals.timeout))
    report_timeout(signals, number);
}

INLINE void block_waits_for_message(const Signals& signals, long long flag, long long epoch,
                                    index_t number) {
  FOR_THREADS(t, 1) { wait_for_message(signals, flag, epoch, number); }
  BARRIER();
}

INLINE void signal_arrival(const MessageFlags& message, long long epoch) {
  system_fence();  // for the stores of other blocks, which those blocks have counted
  set_flag(as_pointer<long long>(message.peer_arrived), epoch);
}

// Signals the arrival of all messages for which `ready` is true. A benchmark may define
// SIGNAL_ARRIVALS to signal as over a slower link.
template <class Ready>
INLINE void signal_arrivals_at_once(const Signals& signals, long long epoch, const Ready& ready) {
  FOR_THREADS(m, signals.count) {
    const MessageFlags message = signals.messages[m];
    if (ready(m, message)) signal_arrival(message, epoch);
  }
}
#ifndef SIGNAL_ARRIVALS
#define SIGNAL_ARRIVALS signal_arrivals_at_once
#endif

INLINE void allow_stores(const Signals& signals, long long epoch) {
  FOR_THREADS(m, signals.count) {
    const long long flag = signals.messages[m].peer_allowed;
    if (flag) set_flag(as_pointer<long long>(flag), epoch);
  }
}

// Allows the peers to store, and signals messages of which this kernel copies nothing: they are
// empty, or earlier kernels have stored them.
INLINE void open_messages(const Signals& signals, long long epoch) {
  allow_stores(signals, epoch);
  SIGNAL_ARRIVALS(signals, epoch,
                  [](index_t, const MessageFlags& message) { return !message.chunks; });
}

// Called when a block has stored its chunks of all messages. The block waits once, here, until its
// stores have crossed the link. The block that completes a message signals it.
INLINE void complete_messages(const Signals& signals, const long long* shares, long long epoch) {
  BARRIER();
  const auto last = [&](index_t m, const MessageFlags& message) {
    if (!shares[m]) return false;
    system_fence();
    if (fetch_add(signals.done + m, shares[m]) + shares[m] != message.chunks) return false;
    signals.done[m] = 0;
    return true;
  };
  SIGNAL_ARRIVALS(signals, epoch, last);
}

// Waits for all messages, each in a different thread.
INLINE void wait_for_messages(const Signals& signals, long long epoch) {
  FOR_THREADS(m, signals.count) {
    wait_for_message(signals, signals.messages[m].arrived, epoch, m);
  }
}

// Called when a block is done; the last block ends the epoch.
INLINE void end_epoch(const Signals& signals, long long epoch) {
  BARRIER();
  FOR_THREADS(t, 1) {
    long long* finished = signals.done + signals.count;
    if (fetch_add(finished, 1) == signals.blocks - 1) {
      *finished = 0;
      *signals.epoch = epoch;
    }
  }
}

#define SIGNAL_ARGUMENTS                                                                \
  const MessageFlags *messages, index_t message_count, index_t blocks, long long *done, \
      long long *epoch, long long *failure, long long *stop, index_t nanoseconds
#define SIGNALS                                                                            \
  {                                                                                        \
    messages, message_count, blocks, done, epoch, failure, stop + 1, { stop, nanoseconds } \
  }

// --- sums of a few numbers over all ranks --------------------------------------------------------
//
// One block of a kernel that needs the sums computes them. Each rank stores its numbers in the
// mailboxes of all other ranks, and adds the numbers of all ranks in the order of ranks, so that
// the sums are bit-identical.

// By rank: the address to which this rank's numbers go, and the address at which those of the other
// rank arrive.
struct Contribution {
  long long there, here;
  long long message;  // number of the message; -1 for this rank
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

// Replaces this rank's numbers by the sums.
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
