// Blocks that wait, as those do that await messages.
#pragma once
#include "sync_flags.h"

KERNEL wait_a_while(index_t blocks, index_t nanoseconds) {
  FOR_BLOCKS(b, blocks) {
    FOR_THREADS(t, 1) {
      const long long begun = nanoseconds_now();
      while (nanoseconds_now() - begun < nanoseconds) yield_thread();
    }
    BARRIER();
  }
}
