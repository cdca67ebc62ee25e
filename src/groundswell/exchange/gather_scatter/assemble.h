// Row operations: the values at the source indices of a row are reduced, and the result is stored
// at all target indices of the row. They pack, unpack, gather and scatter values with several
// copies. MAX_IN_FLIGHT limits the concurrent loads of a thread.
#pragma once
#include "reduce_pair.h"
#include "sliced_ellpack.h"

constexpr int THREADS = 256;

// Stores the result of a row at all of its indices; the first index has been loaded.
INLINE void store(value_t* values, const SliceIndices& indices, index_t row, stored_index_t first,
                  value_t result) {
  values[first] = result;
  for (index_t n = 1; n < indices.width; ++n) {
    const stored_index_t index = indices.at(row, n);
    if (index >= 0) values[index] = result;
  }
}

// Rows of at most WIDTH values. All loads of a row, and of several rows, are in flight together.
template <int WIDTH>
INLINE void reduce_narrow(const value_t* old, const SliceIndices& from, value_t* stored,
                          const SliceIndices& to) {
  constexpr int AT_ONCE = WIDTH < MAX_IN_FLIGHT ? MAX_IN_FLIGHT / WIDTH : 1;
  constexpr int NEXT = COALESCED ? THREADS : 1;
  FOR_THREADS(t, THREADS) {
    const int begin = COALESCED ? t : t * AT_ONCE;
    for (int first = begin; first < from.count; first += AT_ONCE * THREADS) {
      stored_index_t indices[AT_ONCE][WIDTH], targets[AT_ONCE];
      value_t loaded[AT_ONCE][WIDTH];
      UNROLL
      for (int u = 0; u < AT_ONCE; ++u) {
        const int row = first + u * NEXT;
        UNROLL
        for (int n = 0; n < WIDTH; ++n) indices[u][n] = row < from.count ? from.at(row, n) : -1;
        targets[u] = IN_PLACE || row >= from.count ? indices[u][0] : to.at(row, 0);
      }
      UNROLL
      for (int u = 0; u < AT_ONCE; ++u) {
        UNROLL
        for (int n = 0; n < WIDTH; ++n)
          if (indices[u][n] >= 0) loaded[u][n] = old[indices[u][n]];
      }
      UNROLL
      for (int u = 0; u < AT_ONCE; ++u) {
        if (indices[u][0] < 0) continue;
        UNROLL
        for (int n = 1; n < WIDTH; ++n)
          if (indices[u][n] >= 0) loaded[u][0] = reduced(loaded[u][0], loaded[u][n]);
        if (!IN_PLACE) store(stored, to, first + u * NEXT, targets[u], loaded[u][0]);
        UNROLL
        for (int n = 0; n < WIDTH; ++n)
          if (IN_PLACE && indices[u][n] >= 0) stored[indices[u][n]] = loaded[u][0];
      }
    }
  }
}

INLINE void reduce_wide(const value_t* old, const SliceIndices& from, value_t* stored,
                        const SliceIndices& to) {
  FOR_THREADS(row, from.count) {
    value_t result = old[from.at(row, 0)];
    for (index_t n = 1; n < from.width; ++n) {
      const stored_index_t index = from.at(row, n);
      if (index >= 0) result = reduced(result, old[index]);
    }
    store(stored, to, row, to.at(row, 0), result);
  }
}

// The rows of a slice. Row 0 of contiguous rows has the indices `from_first` and `to_first`.
INLINE void reduce_slice(const Slice& slice, const stored_index_t* indices, const value_t* old,
                         index_t from_first, value_t* stored, index_t to_first) {
  const int rows = slice.count, from_width = slice.from_width, to_width = slice.to_width;
  const stored_index_t from_row = from_first + slice.first, to_row = to_first + slice.first;
  const SliceIndices source{indices + slice.from, from_width, rows, from_row};
  const SliceIndices target{indices + slice.to, to_width, rows, to_row};
  switch (from_width) {
    case 0:
    case 1: return reduce_narrow<1>(old, source, stored, target);
    case 2: return reduce_narrow<2>(old, source, stored, target);
    case 4: return reduce_narrow<4>(old, source, stored, target);
    case 8: return reduce_narrow<8>(old, source, stored, target);
    default: return reduce_wide(old, source, stored, target);
  }
}

// Components of values are `pitch` values apart. The values of a row are loaded before its result
// is stored, and rows are disjoint, so `from` and `to` may be the same array. IN_PLACE means that
// source and target indices are also equal.
KERNEL assemble(const value_t* from, index_t from_pitch, index_t from_first, value_t* to,
                index_t to_pitch, index_t to_first, const Slice* slices,
                const stored_index_t* indices, index_t count, index_t components) {
  FOR_BLOCKS(b, count * components) {
    const index_t component = components > 1 ? b / count : 0;
    const Slice slice = slices[b - component * count];
    reduce_slice(slice, indices, from + component * from_pitch, from_first,
                 to + component * to_pitch, to_first);
  }
}
