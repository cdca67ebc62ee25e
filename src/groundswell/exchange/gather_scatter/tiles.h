// Values of one array that have several copies in it, each reduced to one that all its copies get:
// as assemble.h does it in place, for arrays that are too large for caches.
//
// Memory moves in sectors. Most of those of a mesh hold one or two values that have copies, and to
// move such values one by one moves sectors twice and stores them in part, which costs as much again.
// A tile is a set of sectors with all rows that have values in them: a block fetches the sectors,
// reduces the rows, and stores the sectors, those without copies as they were.
#pragma once
#include "reduce.h"

// Of a tile, at most; must agree with tiles.py. What a block does not take of its processor's memory
// is cache, so more would be slower.
constexpr int THREADS = 128, SECTORS = 192, PAIRS = SECTORS * 16 / sizeof(value_t);
constexpr int PIECES = 2 * SECTORS / THREADS;  // of sectors, that a thread has under way together
static_assert(PIECES * THREADS == 2 * SECTORS, "every piece is some thread's");
constexpr unsigned NOWHERE = 0xffff;

struct alignas(16) Piece {  // half a sector, which a thread moves at once
  long long words[2];
} MAY_ALIAS;

struct Pair {
  unsigned short places[2];
} MAY_ALIAS;

// Its sectors, and places of its rows among their values: first those of all rows of two, then of
// three and four, then of up to eight; all first ones, all second ones, and so on. Places are moved
// two at once. Must agree with tiles.py.
struct Tile {
  int first, sectors, places, pairs, rows[3], spare;
};

// `count` rows of at most WIDTH places; their end.
template <int WIDTH>
INLINE const unsigned short* reduce_rows(value_t* values, const unsigned short* places, int count) {
  FOR_THREADS(row, count) {
    unsigned place[WIDTH];
    UNROLL
    for (int n = 0; n < WIDTH; ++n) place[n] = places[n * count + row];
    value_t result = values[place[0]];
    UNROLL
    for (int n = 1; n < WIDTH; ++n)
      if (place[n] != NOWHERE) result = reduced(result, values[place[n]]);
    UNROLL
    for (int n = 0; n < WIDTH; ++n)
      if (place[n] != NOWHERE) values[place[n]] = result;
  }
  return places + WIDTH * count;
}

// The tiles, (count,), of components of values that lie `pitch` apart; `sectors` are numbers of theirs
// in a component.
KERNEL assemble_tiles(value_t* values, index_t pitch, const Tile* tiles, const int* sectors,
                      const Pair* places, index_t count, index_t components) {
  FOR_BLOCKS(b, count * components) {
    SHARED(Piece, pieces, [2 * SECTORS]);
    SHARED(Pair, pairs, [PAIRS]);
    const index_t component = components > 1 ? b / count : 0;
    const Tile tile = tiles[b - component * count];
    Piece* const array = reinterpret_cast<Piece*>(values + component * pitch);
    const int* const numbers = sectors + tile.first;
    const Pair* const places_of_rows = places + tile.places;
    const int halves = 2 * tile.sectors;
    FOR_EXACT_THREADS(t, THREADS) {
      int number[PIECES];
      Piece piece[PIECES];
      UNROLL
      for (int u = 0; u < PIECES; ++u)
        if (t + u * THREADS < halves) number[u] = numbers[t / 2 + u * (THREADS / 2)];
      Pair pair;
      if (t < tile.pairs) pair = places_of_rows[t];
      UNROLL
      for (int u = 0; u < PIECES; ++u)
        if (t + u * THREADS < halves) piece[u] = array[2 * static_cast<index_t>(number[u]) + t % 2];
      if (t < tile.pairs) pairs[t] = pair;
      for (int n = t + THREADS; n < tile.pairs; n += THREADS) pairs[n] = places_of_rows[n];
      UNROLL
      for (int u = 0; u < PIECES; ++u)
        if (t + u * THREADS < halves) pieces[t + u * THREADS] = piece[u];
    }
    BARRIER();
    value_t* const held = reinterpret_cast<value_t*>(pieces);
    const unsigned short* next = pairs[0].places;
    next = reduce_rows<2>(held, next, tile.rows[0]);
    next = reduce_rows<4>(held, next, tile.rows[1]);
    reduce_rows<8>(held, next, tile.rows[2]);
    BARRIER();
    FOR_THREADS(t, 2 * SECTORS)
      if (t < halves) array[2 * static_cast<index_t>(numbers[t / 2]) + t % 2] = pieces[t];
  }
}
