// When a recorder takes a sample: at step `begin` of the clock, and every `every` steps after it.
#pragma once
#include "portable.h"

INLINE bool sample_due(const long long* RESTRICT clock, index_t begin, index_t every) {
  return clock[0] >= begin && (clock[0] - begin) % every == 0;
}
INLINE index_t sample_slot(const long long* RESTRICT clock, index_t begin, index_t every,
                           index_t slots) {
  return (clock[0] - begin) / every % slots;
}
