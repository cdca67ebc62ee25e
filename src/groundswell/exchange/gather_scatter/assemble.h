// Rows of values, each reduced to one that is stored in one or several places: packing, unpacking,
// gathering and scattering of values that have several copies. MOST_AT_ONCE is how many values a thread
// has under way together.
#pragma once
#include "reduce.h"
#include "sliced_ellpack.h"

constexpr int THREADS = 256;

// Stores a row's result in all of its places, of which the first is known already.
INLINE void store(value_t* values, const SliceIndices& places, index_t row, stored_index_t first,
                  value_t result) {
  values[first] = result;
  for (index_t n = 1; n < places.width; ++n) {
    const stored_index_t place = places.at(row, n);
    if (place >= 0) values[place] = result;
  }
}

// Rows of at most WIDTH values, which all are on their way together, and those of several rows.
template <int WIDTH>
INLINE void reduce_narrow(const value_t* old, const SliceIndices& from, value_t* stored,
                          const SliceIndices& to) {
  constexpr int AT_ONCE = WIDTH < MOST_AT_ONCE ? MOST_AT_ONCE / WIDTH : 1;
  constexpr int NEXT = COALESCED ? THREADS : 1;
  FOR_THREADS(t, THREADS) {
    const int begin = COALESCED ? t : t * AT_ONCE;
    for (int first = begin; first < from.count; first += AT_ONCE * THREADS) {
      stored_index_t places[AT_ONCE][WIDTH], put[AT_ONCE];
      value_t found[AT_ONCE][WIDTH];
      UNROLL
      for (int u = 0; u < AT_ONCE; ++u) {
        const int row = first + u * NEXT;
        UNROLL
        for (int n = 0; n < WIDTH; ++n) places[u][n] = row < from.count ? from.at(row, n) : -1;
        put[u] = IN_PLACE || row >= from.count ? places[u][0] : to.at(row, 0);
      }
      UNROLL
      for (int u = 0; u < AT_ONCE; ++u)
        UNROLL
        for (int n = 0; n < WIDTH; ++n)
          if (places[u][n] >= 0) found[u][n] = old[places[u][n]];
      UNROLL
      for (int u = 0; u < AT_ONCE; ++u) {
        if (places[u][0] < 0) continue;
        UNROLL
        for (int n = 1; n < WIDTH; ++n)
          if (places[u][n] >= 0) found[u][0] = reduced(found[u][0], found[u][n]);
        if (!IN_PLACE) store(stored, to, first + u * NEXT, put[u], found[u][0]);
        UNROLL
        for (int n = 0; n < WIDTH; ++n)
          if (IN_PLACE && places[u][n] >= 0) stored[places[u][n]] = found[u][0];
      }
    }
  }
}

INLINE void reduce_wide(const value_t* old, const SliceIndices& from, value_t* stored,
                        const SliceIndices& to) {
  FOR_THREADS(row, from.count) {
    value_t result = old[from.at(row, 0)];
    for (index_t n = 1; n < from.width; ++n) {
      const stored_index_t place = from.at(row, n);
      if (place >= 0) result = reduced(result, old[place]);
    }
    store(stored, to, row, to.at(row, 0), result);
  }
}

// A slice's rows, where row 0 of straight ones has its places `from_first` and `to_first`.
INLINE void reduce_slice(const Slice& slice, const stored_index_t* places, const value_t* old,
                         index_t from_first, value_t* stored, index_t to_first) {
  const int rows = slice.count, from_width = slice.from_width, to_width = slice.to_width;
  const stored_index_t from_row = from_first + slice.first, to_row = to_first + slice.first;
  const SliceIndices source{places + slice.from, from_width, rows, from_row};
  const SliceIndices target{places + slice.to, to_width, rows, to_row};
  switch (from_width) {
    case 0:
    case 1: return reduce_narrow<1>(old, source, stored, target);
    case 2: return reduce_narrow<2>(old, source, stored, target);
    case 4: return reduce_narrow<4>(old, source, stored, target);
    case 8: return reduce_narrow<8>(old, source, stored, target);
    default: return reduce_wide(old, source, stored, target);
  }
}

// Components of values lie `pitch` apart. A row's values are read before any is stored, and no
// place belongs to two rows, so `from` and `to` may be the same array; IN_PLACE says that the places
// are the same, too.
KERNEL assemble(const value_t* from, index_t from_pitch, index_t from_first, value_t* to,
                index_t to_pitch, index_t to_first, const Slice* slices, const stored_index_t* places,
                index_t count, index_t components) {
  FOR_BLOCKS(b, count * components) {
    const index_t component = components > 1 ? b / count : 0;
    const Slice slice = slices[b - component * count];
    reduce_slice(slice, places, from + component * from_pitch, from_first,
                 to + component * to_pitch, to_first);
  }
}
