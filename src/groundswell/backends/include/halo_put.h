// One-sided halo exchange: a kernel stores its values a second time, in the ghost layers where they are
// needed. The ghosts belong to another block, or to the same block on a periodic axis. They may lie in
// the memory of another process on another GPU.
#pragma once
#include "portable.h"

// A box of points of one field. The ghost of each value lies `shift` bytes after the value. Must agree
// with exchange/puts.py.
struct Put {
  long long field, i, j, k, ni, nj, nk, shift;

  METHOD bool contains(int x, int y, int z) const {
    return x >= i && x < i + ni && y >= j && y < j + nj && z >= k && z < k + nk;
  }
};

// All boxes, and an interior box that none of them overlaps. Most points are in the interior.
struct Puts {
  const Put* boxes;
  index_t count;
  Put interior;
};

#define PUT_ARGUMENTS                                                                        \
  const Put *put_boxes, index_t put_count, index_t interior_i, index_t interior_j,           \
      index_t interior_k, index_t interior_ni, index_t interior_nj, index_t interior_nk
#define PUTS                                                                                 \
  Puts {                                                                                     \
    put_boxes, put_count, {                                                                  \
      0, interior_i, interior_j, interior_k, interior_ni, interior_nj, interior_nk, 0        \
    }                                                                                        \
  }

// Copies the values at point (i, j, k) to their ghosts. `values_at` points to the value of each field,
// which the kernel has just stored.
template <int FIELDS>
INLINE void put(const Puts& puts, int i, int j, int k, real* const (&values_at)[FIELDS]) {
  if (puts.interior.contains(i, j, k)) return;
  real values[FIELDS];
  UNROLL
  for (int f = 0; f < FIELDS; ++f) values[f] = *values_at[f];
  for (index_t p = 0; p < puts.count; ++p) {
    const Put& box = puts.boxes[p];
    if (!box.contains(i, j, k)) continue;
    UNROLL
    for (int f = 0; f < FIELDS; ++f)
      if (box.field == f)
        *reinterpret_cast<real*>(reinterpret_cast<char*>(values_at[f]) + box.shift) = values[f];
  }
}
