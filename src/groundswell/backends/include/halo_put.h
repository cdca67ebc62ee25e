// Values that a kernel stores twice: in its own block, and where they are ghosts of another one, or
// of its own on a periodic axis. That may be memory of another process, on another GPU.
#pragma once
#include "portable.h"

// A box of points, and how many bytes from each value its other place is; must agree with
// exchange/puts.py.
struct Put {
  long long field, i, j, k, ni, nj, nk, shift;

  METHOD bool holds(int x, int y, int z) const {
    return x >= i && x < i + ni && y >= j && y < j + nj && z >= k && z < k + nk;
  }
};

// All boxes, and one that none of them reaches into, where most points lie.
struct Puts {
  const Put* rows;
  index_t count;
  Put inner;
};

#define PUT_ARGUMENTS                                                                        \
  const Put *put_rows, index_t put_count, index_t inner_i, index_t inner_j, index_t inner_k, \
      index_t inner_ni, index_t inner_nj, index_t inner_nk
#define PUTS                                                                                 \
  Puts {                                                                                     \
    put_rows, put_count, { 0, inner_i, inner_j, inner_k, inner_ni, inner_nj, inner_nk, 0 }   \
  }

// Stores once more what has just been stored at point (i, j, k): the values of all fields there.
template <int FIELDS>
INLINE void put(const Puts& puts, int i, int j, int k, real* const (&places)[FIELDS]) {
  if (puts.inner.holds(i, j, k)) return;
  real values[FIELDS];
  UNROLL
  for (int f = 0; f < FIELDS; ++f) values[f] = *places[f];
  for (index_t p = 0; p < puts.count; ++p) {
    const Put& row = puts.rows[p];
    if (!row.holds(i, j, k)) continue;
    UNROLL
    for (int f = 0; f < FIELDS; ++f)
      if (row.field == f)
        *reinterpret_cast<real*>(reinterpret_cast<char*>(places[f]) + row.shift) = values[f];
  }
}
