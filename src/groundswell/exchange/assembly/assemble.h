// Rows of values, each reduced to one that is stored in one or several places: packing, unpacking,
// gathering and scattering of values that have several copies.
//
// VALUE is the type of the values, SMALL_INDICES whether places fit in 32 bits, OPERATION what is
// done to them. FROM and TO are how many values each row has in the two arrays, 0 if rows differ;
// IN_PLACE says that both are the same. A thread has AT_ONCE rows of THREADS ones under way.
#pragma once
#include "portable.h"

#define SUM 0
#define PRODUCT 1
#define MINIMUM 2
#define MAXIMUM 3

#if SMALL_INDICES
typedef int place_t;
#else
typedef long long place_t;
#endif
typedef VALUE value_t;

// Whole numbers wrap around; as unsigned ones they are allowed to.
template <class Value> struct Wrapping { typedef Value type; };
template <> struct Wrapping<int> { typedef unsigned int type; };
template <> struct Wrapping<long long> { typedef unsigned long long type; };

// NaN wins.
INLINE value_t reduced(value_t a, value_t b) {
  typedef Wrapping<value_t>::type number;
  switch (OPERATION) {
    case PRODUCT: return static_cast<value_t>(static_cast<number>(a) * static_cast<number>(b));
    case MINIMUM: return b < a || b != b ? b : a;
    case MAXIMUM: return b > a || b != b ? b : a;
    default: return static_cast<value_t>(static_cast<number>(a) + static_cast<number>(b));
  }
}

// The places of each row: those of rows that differ one row after the other, from starts[row] on;
// otherwise all first ones, all second ones, and so on. Without `places` a row's only one is `first`
// further than its own number.
template <int WIDTH> struct Rows {
  const place_t *starts, *places;
  index_t first, count;

  METHOD index_t size(index_t row) const { return WIDTH ? WIDTH : starts[row + 1] - starts[row]; }
  METHOD index_t at(index_t row, index_t n) const {
    if (WIDTH == 0) return places[starts[row] + n];
    return places ? places[n * count + row] : first + row;
  }
};

INLINE value_t reduced_row(const value_t* values, const Rows<0>& rows, index_t row) {
  value_t result = values[rows.at(row, 0)];
  for (index_t n = 1; n < rows.size(row); ++n) result = reduced(result, values[rows.at(row, n)]);
  return result;
}

// Rows of a few values: all of a thread's are on their way together.
template <int WIDTH>
INLINE void reduce_rows(const value_t* values, const Rows<WIDTH>& rows, index_t row,
                        index_t (&places)[AT_ONCE][WIDTH], value_t (&results)[AT_ONCE]) {
  value_t found[AT_ONCE][WIDTH];
  UNROLL
  for (int u = 0; u < AT_ONCE; ++u)
    UNROLL
    for (int n = 0; n < WIDTH; ++n)
      if (row + u * THREADS < rows.count) places[u][n] = rows.at(row + u * THREADS, n);
  UNROLL
  for (int u = 0; u < AT_ONCE; ++u)
    UNROLL
    for (int n = 0; n < WIDTH; ++n)
      if (row + u * THREADS < rows.count) found[u][n] = values[places[u][n]];
  UNROLL
  for (int u = 0; u < AT_ONCE; ++u) {
    results[u] = found[u][0];
    UNROLL
    for (int n = 1; n < WIDTH; ++n) results[u] = reduced(results[u], found[u][n]);
  }
}

#if FROM
typedef index_t places_t[AT_ONCE][FROM];
#else
typedef index_t places_t;
INLINE void reduce_rows(const value_t* values, const Rows<0>& rows, index_t row, places_t&,
                        value_t (&results)[AT_ONCE]) {
  for (int u = 0; u < AT_ONCE; ++u)
    if (row + u * THREADS < rows.count) results[u] = reduced_row(values, rows, row + u * THREADS);
}
#endif

INLINE void store_row(value_t* values, const Rows<TO>& rows, index_t row, value_t result) {
  const index_t size = rows.size(row);
  for (index_t n = 0; n < size; ++n) values[rows.at(row, n)] = result;
}

// Components of values lie `pitch` apart. A row's values are read before any is stored, and no
// place belongs to two rows, so `from` and `to` may be the same array.
KERNEL assemble(const value_t* from, index_t from_pitch, value_t* to, index_t to_pitch,
                const place_t* from_starts, const place_t* from_places, index_t from_first,
                const place_t* to_starts, const place_t* to_places, index_t to_first, index_t rows,
                index_t blocks, index_t components) {
  const Rows<FROM> source{from_starts, from_places, from_first, rows};
  const Rows<TO> target{to_starts, to_places, to_first, rows};
  FOR_BLOCKS(b, blocks * components) {
    const index_t component = b / blocks, first = (b - component * blocks) * (THREADS * AT_ONCE);
    const value_t* old = from + component * from_pitch;
    value_t* stored = to + component * to_pitch;
    FOR_THREADS(t, THREADS) {
      places_t places;
      value_t results[AT_ONCE];
      reduce_rows(old, source, first + t, places, results);
      UNROLL
      for (int u = 0; u < AT_ONCE; ++u) {
        const index_t row = first + t + u * THREADS;
        if (row >= rows) continue;
#if IN_PLACE
        UNROLL
        for (int n = 0; n < FROM; ++n) stored[places[u][n]] = results[u];
#else
        store_row(stored, target, row, results[u]);
#endif
      }
    }
  }
}
