// Row operations in place, as in assemble.h, for arrays that are too large for caches.
//
// A GPU moves memory in sectors. Most sectors of a mesh contain one or two values with copies.
// Processing such values one by one moves sectors twice and stores parts of sectors, which is
// slower (docs/performance/exchange.md). A tile is a set of sectors and all rows with values in
// them: a block loads the sectors, reduces the rows, and stores whole sectors.
#pragma once
#include "reduce_pair.h"

// Limits of a tile; must agree with tiles.py. Larger tiles would be slower, because unused shared
// memory serves as cache.
constexpr int THREADS = 128, SECTORS = 192, PAIRS = SECTORS * 16 / sizeof(value_t);
constexpr int PIECES = 2 * SECTORS / THREADS;  // pieces that a thread loads concurrently
static_assert(PIECES * THREADS == 2 * SECTORS, "each piece belongs to one thread");
constexpr unsigned PADDING = 0xffff;

struct alignas(16) Piece {  // half a sector, the most that a thread loads at once
  long long words[2];
} MAY_ALIAS;

struct Pair {
  unsigned short indices[2];
} MAY_ALIAS;

// The sectors of a tile, and the indices of its rows among the values of the sectors: first all
// rows of two values, then rows of three and four, then rows of up to eight; column by column.
// Indices are loaded in pairs. Must agree with tiles.py.
struct Tile {
  int first, sectors, indices, pairs, rows[3], spare;
};

// Reduces `count` rows of at most WIDTH values; returns the end of their indices.
template <int WIDTH>
INLINE const unsigned short* reduce_rows(value_t* values, const unsigned short* indices,
                                         int count) {
  FOR_THREADS(row, count) {
    unsigned index[WIDTH];
    UNROLL
    for (int n = 0; n < WIDTH; ++n) index[n] = indices[n * count + row];
    value_t result = values[index[0]];
    UNROLL
    for (int n = 1; n < WIDTH; ++n)
      if (index[n] != PADDING) result = reduced(result, values[index[n]]);
    UNROLL
    for (int n = 0; n < WIDTH; ++n)
      if (index[n] != PADDING) values[index[n]] = result;
  }
  return indices + WIDTH * count;
}

// Tiles, (count,), of each component of the values; components are `pitch` values apart. `sectors`
// are indices of sectors in a component.
KERNEL assemble_tiles(value_t* values, index_t pitch, const Tile* tiles, const int* sectors,
                      const Pair* indices, index_t count, index_t components) {
  FOR_BLOCKS(b, count * components) {
    SHARED(Piece, pieces, [2 * SECTORS]);
    SHARED(Pair, pairs, [PAIRS]);
    const index_t component = components > 1 ? b / count : 0;
    const Tile tile = tiles[b - component * count];
    Piece* const array = reinterpret_cast<Piece*>(values + component * pitch);
    const int* const numbers = sectors + tile.first;
    const Pair* const row_indices = indices + tile.indices;
    const int halves = 2 * tile.sectors;
    FOR_EXACT_THREADS(t, THREADS) {
      int number[PIECES];
      Piece piece[PIECES];
      UNROLL
      for (int u = 0; u < PIECES; ++u)
        if (t + u * THREADS < halves) number[u] = numbers[t / 2 + u * (THREADS / 2)];
      Pair pair;
      if (t < tile.pairs) pair = row_indices[t];
      UNROLL
      for (int u = 0; u < PIECES; ++u)
        if (t + u * THREADS < halves) piece[u] = array[2 * static_cast<index_t>(number[u]) + t % 2];
      if (t < tile.pairs) pairs[t] = pair;
      for (int n = t + THREADS; n < tile.pairs; n += THREADS) pairs[n] = row_indices[n];
      UNROLL
      for (int u = 0; u < PIECES; ++u)
        if (t + u * THREADS < halves) pieces[t + u * THREADS] = piece[u];
    }
    BARRIER();
    value_t* const held = reinterpret_cast<value_t*>(pieces);
    const unsigned short* next = pairs[0].indices;
    next = reduce_rows<2>(held, next, tile.rows[0]);
    next = reduce_rows<4>(held, next, tile.rows[1]);
    reduce_rows<8>(held, next, tile.rows[2]);
    BARRIER();
    FOR_THREADS(t, 2 * SECTORS)
      if (t < halves) array[2 * static_cast<index_t>(numbers[t / 2]) + t % 2] = pieces[t];
  }
}
