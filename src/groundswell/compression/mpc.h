// MPC, a lossless codec for floating-point numbers: Yang, Mukka, Hesaaraki and Burtscher, MPC: a
// massively parallel compression algorithm for scientific data, Cluster 2015. Streams have version
// 1.2 of its format, for scalar data. Values count as words, unsigned integers of 32 or 64 bits,
// which are encoded in chunks of 1024:
//
//   1. LNV1s: subtract from each word the one before it in the chunk;
//   2. BIT:   transpose the bits of each group of as many words as a word has bits;
//   3. LNV1s again;
//   4. ZE:    write a bitmap of the words that are not zero, and only these words.
//
// A chunk is a strip of values; a strip that is too short repeats its last value, so that the
// differences there are zero. A stream consists of a header, the bitmaps of all groups with values,
// and the nonzero words. It may end with a nonzero word that belongs to no group; decoders do not
// read it.
#pragma once
#include "strips.h"

namespace mpc {

constexpr int CHUNK = strips::STRIP;  // words that are encoded together
constexpr int MAPS = CHUNK / 32;      // words of 32 bits in their bitmap
constexpr int BITS = 8 * sizeof(word);
typedef strips::Values<word> Chunk;

enum Status { INTACT = 0, WRONG_HEADER = 1, TRUNCATED = 2 };  // of a stream

// The layout of a stream of `count` words.
struct Layout {
  bits32 count;

  METHOD bits32 chunks() const { return (count + CHUNK - 1) / CHUNK; }
  METHOD bits32 groups() const { return (count + BITS - 1) / BITS; }
  METHOD bits32 maps() const { return groups() * (BITS / 32); }
  METHOD bits32 header() const { return 8 / sizeof(word); }
  METHOD bits32 begin() const { return header() + groups(); }  // start of the nonzero words

  METHOD bits64 header_bits() const {
    const bits64 signature = sizeof(word) == 4 ? 0x63706d00 : 0x43504d00;
    return static_cast<bits64>(count) << 32 | signature;
  }
  METHOD void write_header(word* stream) const {
    for (bits32 n = 0; n < header(); ++n) stream[n] = static_cast<word>(header_bits() >> 32 * n);
  }
  METHOD bool matches(const word* stream, index_t capacity) const {
    if (capacity < begin()) return false;
    for (bits32 n = 0; n < header(); ++n)
      if (stream[n] != static_cast<word>(header_bits() >> 32 * n)) return false;
    return true;
  }
  METHOD bits32* maps_of(word* stream) const {
    return reinterpret_cast<bits32*>(stream + header());
  }
  METHOD const bits32* maps_of(const word* stream) const {
    return reinterpret_cast<const bits32*>(stream + header());
  }
};

// A step of a transposition: swaps the off-diagonal halves of two rows at the distance `step`.
INLINE void swap_halves(word& upper, word& lower, int step) {
  const word low = static_cast<word>(~static_cast<word>(0)) / ((static_cast<word>(1) << step) + 1);
  const word a = upper, b = lower;
  upper = (a & low) | (b & low) << step;
  lower = (b & ~low) | (a & ~low) >> step;
}

}  // namespace mpc

#if defined(__CUDACC__)
#include "mpc_gpu.h"
#else

// --- CPU: a core encodes a chunk at a time. mpc_gpu.h has the same functions for a GPU -----------

namespace mpc {

// Transposes the bits of each group.
INLINE void transpose(word* words) {
  for (word* rows = words; rows < words + CHUNK; rows += BITS)
    for (int step = BITS / 2; step; step /= 2)
      for (int row = 0; row < BITS; ++row)
        if (!(row & step)) swap_halves(rows[row], rows[row + step], step);
}

// Subtracts from each word the one before it.
INLINE void subtract_neighbours(word* words) {
  for (bits32 i = CHUNK; i-- > 1;) words[i] -= words[i - 1];
}

// Writes the bitmap of chunk `c` to the stream and its nonzero words to `words`, (CHUNK,); returns
// their number.
INLINE bits32 encode(const Chunk& values, const Layout& layout, bits32 c, word* stream,
                     word* words) {
  for (bits32 i = 0; i < CHUNK; ++i) words[i] = values.get(i);
  subtract_neighbours(words);
  transpose(words);
  subtract_neighbours(words);
  bits32 nonzero = 0;
  for (bits32 m = 0; m < MAPS; ++m) {
    bits32 map = 0;
    for (bits32 i = 0; i < 32; ++i) {
      const word w = words[32 * m + i];
      map |= static_cast<bits32>(w != 0) << i;
      words[nonzero] = w;
      nonzero += w != 0;
    }
    if (c * MAPS + m < layout.maps()) layout.maps_of(stream)[c * MAPS + m] = map;
  }
  return nonzero;
}

// The number of nonzero words of chunk `c`, according to its bitmap.
INLINE bits32 count_nonzero(const Layout& layout, bits32 c, const word* stream) {
  bits32 nonzero = 0;
  for (bits32 m = c * MAPS; m < (c + 1) * MAPS && m < layout.maps(); ++m)
    nonzero += __builtin_popcount(layout.maps_of(stream)[m]);
  return nonzero;
}

// Decodes chunk `c`, whose nonzero words begin at `begin`; those beyond `capacity` count as zero.
INLINE void decode(const Chunk& values, const Layout& layout, bits32 c, const word* stream,
                   bits32 begin, index_t capacity, word* words) {
  const bits32* maps = layout.maps_of(stream);
  index_t next = begin;
  word before = 0;
  for (bits32 i = 0; i < CHUNK; ++i) {
    const bits32 m = c * MAPS + i / 32;
    if (m < layout.maps() && maps[m] >> (i % 32) & 1) {
      if (next < capacity) before += stream[next];
      ++next;
    }
    words[i] = before;
  }
  transpose(words);
  for (bits32 i = 1; i < CHUNK; ++i) words[i] += words[i - 1];
  for (bits32 i = 0; i < values.size(); ++i) values.put(i, words[i]);
}

// Calls measure(c, words) for each chunk, which returns the number of its nonzero words; then
// write(c, number, begin, words), where `begin` is the sum of the numbers of all earlier chunks;
// and finish(sum) at the end. `words`, (CHUNK,), keeps what measure has written. `begins` has an
// entry per chunk.
template <class Measure, class Write, class Finish>
INLINE void for_each_chunk(index_t chunks, bits64* begins, const Measure& measure,
                           const Write& write, const Finish& finish) {
  FOR_ITEMS(c, chunks) {
    SHARED(word, words, [CHUNK]);
    begins[c] = measure(static_cast<bits32>(c), words);
  }
  bits32 sum = 0;
  for (index_t c = 0; c < chunks; ++c) {
    const bits32 number = static_cast<bits32>(begins[c]);
    begins[c] = sum;
    sum += number;
  }
  FOR_ITEMS(c, chunks) {
    SHARED(word, words, [CHUNK]);
    const bits32 number = measure(static_cast<bits32>(c), words);
    write(static_cast<bits32>(c), number, static_cast<bits32>(begins[c]), words);
  }
  finish(sum);
}

}  // namespace mpc

#endif

// --- kernels -------------------------------------------------------------------------------------

// Encodes `count` values; `used` becomes the length of the stream, in bytes. `state` has three
// numbers and one per chunk; it must be zero before the first launch.
KERNEL mpc_compress(const Strip* table, index_t count, word* stream, index_t* used, bits64* state) {
  const mpc::Layout layout{static_cast<bits32>(count)};
  word* const nonzero = stream + layout.begin();
  mpc::for_each_chunk(
      layout.chunks(), state,
      [&](bits32 c, word* words) {
        return mpc::encode(mpc::Chunk(table, c), layout, c, stream, words);
      },
      [&](bits32, bits32 number, bits32 begin, const word* words) {
        word* const target = nonzero + begin;
        FOR_LANES(i, number) target[i] = words[i];
      },
      [&](bits32 sum) {
        layout.write_header(stream);
        *used = static_cast<index_t>(layout.begin() + sum) * sizeof(word);
      });
}

// Decodes a stream of `capacity` words, unless its header is wrong. `status` stores the last error.
KERNEL mpc_decompress(const word* stream, index_t capacity, index_t count, const Strip* table,
                      index_t* status, bits64* state) {
  const mpc::Layout layout{static_cast<bits32>(count)};
  const bool matches = layout.matches(stream, capacity);
  mpc::for_each_chunk(
      layout.chunks(), state,
      [&](bits32 c, word*) { return matches ? mpc::count_nonzero(layout, c, stream) : 0; },
      [&](bits32 c, bits32, bits32 begin, word* words) {
        if (matches)
          mpc::decode(mpc::Chunk(table, c), layout, c, stream, layout.begin() + begin, capacity,
                      words);
      },
      [&](bits32 sum) {
        if (!matches) {
          *status = mpc::WRONG_HEADER;
        } else if (layout.begin() + sum > capacity) {
          *status = mpc::TRUNCATED;
        }
      });
}
