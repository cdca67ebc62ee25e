// Rows of places in arrays. Rows with nearly as many places make up slices, whose rows are padded to the
// same width (Kreutzer et al. 2014, SIAM J. Sci. Comput. 36:C401, sliced ELLPACK). SMALL_INDICES says
// whether places fit in 32 bits. Must agree with exchange/assembly/rows.py.
#pragma once
#include "portable.h"

#if SMALL_INDICES
typedef int place_t;
#else
typedef long long place_t;
#endif

// Some rows, the share of one block of threads.
struct Slice {
  long long first, count;         // of the rows
  long long from_width, from;     // values of each in the old array, and where their places begin
  long long to_width, to;         // the same in the new one
};

// Neighbouring rows that a warp works on: the first one and their number; places of each, and where
// these begin.
struct alignas(4 * sizeof(place_t)) Strip {
  place_t first, count, width, from;
};

// A slice's places: all first ones, all second ones, and so on, -1 where a row has fewer. Width 0
// stands for rows whose one place is `first` further than their own number.
struct Places {
  const place_t* places;
  int width, count;
  place_t first;

  METHOD place_t at(int row, int n) const {
    return width ? places[n * static_cast<index_t>(count) + row] : first + row;
  }
};
