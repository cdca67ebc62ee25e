// Chunks of MPC on a CPU: a core does one at a time. mpc_lanes.h has the same functions for a GPU.
#pragma once

namespace mpc {

#define FOR_CHUNKS(c, count)                                                      \
  PRAGMA(omp parallel for schedule(static))                                       \
  for (bits32 c = 0; c < (count); ++c)
#define SCRATCH_OF_CHUNK(Word, name) SHARED(Word, name, [mpc::CHUNK])

template <class Word> INLINE void transpose(Word* rows) {
  for (int step = BITS<Word> / 2; step; step /= 2)
    for (int row = 0; row < BITS<Word>; ++row)
      if (!(row & step)) swap_halves(rows[row], rows[row + step], step);
}

template <class Word> INLINE void transpose_groups(Word* words) {
  for (int first = 0; first < CHUNK; first += BITS<Word>) transpose(words + first);
}

INLINE bits32 words_of(bits32 count, bits32 chunk) {
  return count - chunk * CHUNK < CHUNK ? count - chunk * CHUNK : CHUNK;
}

// Keep the words that are not zero, in place; their number.
template <class Word> INLINE bits32 keep_words(Word* words, bits32* maps, bits32 map_count) {
  bits32 kept = 0;
  for (bits32 m = 0; m < MAPS; ++m) {
    bits32 map = 0;
    for (bits32 i = 0; i < 32; ++i) {
      const Word word = words[32 * m + i];
      map |= static_cast<bits32>(word != 0) << i;
      words[kept] = word;
      kept += word != 0;
    }
    if (m < map_count) maps[m] = map;
  }
  return kept;
}

// Code chunk `c`: its bitmap into the stream, the kept words into `kept`, (CHUNK,); their number.
template <class Word, class Source>
INLINE bits32 pack_chunk(const Source& source, const Layout<Word>& layout, bits32 c, Word* stream,
                         Word* kept) {
  const bits32 size = words_of(layout.count, c);
  for (bits32 i = 0; i < CHUNK; ++i) kept[i] = i < size ? source(c * CHUNK + i) : 0;
  for (bits32 i = size; i-- > layout.dim;) kept[i] -= kept[i - layout.dim];
  transpose_groups(kept);
  for (bits32 i = CHUNK; i-- > 1;) kept[i] -= kept[i - 1];
  return keep_words(kept, layout.maps_of(stream) + c * MAPS, layout.maps() - c * MAPS);
}

// The number of words that chunk `c` of a stream has kept.
template <class Word>
INLINE bits32 count_kept(const Layout<Word>& layout, bits32 c, const Word* stream) {
  bits32 kept = 0;
  for (bits32 m = c * MAPS; m < (c + 1) * MAPS && m < layout.maps(); ++m)
    kept += set_bits(layout.maps_of(stream)[m]);
  return kept;
}

// Decode chunk `c`, whose kept words begin at `start`; those beyond `capacity` count as zero.
template <class Word, class Sink>
INLINE void unpack_chunk(const Sink& sink, const Layout<Word>& layout, bits32 c, const Word* stream,
                         bits32 start, index_t capacity, Word* words) {
  const bits32* maps = layout.maps_of(stream);
  index_t next = start;
  Word before = 0;
  for (bits32 i = 0; i < CHUNK; ++i) {
    const bits32 m = c * MAPS + i / 32;
    if (m < layout.maps() && maps[m] >> (i % 32) & 1) {
      if (next < capacity) before += stream[next];
      ++next;
    }
    words[i] = before;
  }
  transpose_groups(words);
  for (bits32 i = layout.dim; i < CHUNK; ++i) words[i] += words[i - layout.dim];
  for (bits32 i = 0; i < words_of(layout.count, c); ++i) sink.put(c * CHUNK + i, words[i]);
}

}  // namespace mpc
