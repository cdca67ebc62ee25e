// MPC v1.2, a lossless code for numbers that resemble their neighbours: Yang, Mukka, Hesaaraki and
// Burtscher, Cluster 2015. Words of 32 or 64 bits count as integers, and are coded in chunks of
// 1024 words:
//
//   1. from each word its neighbour, `dim` words before it in the chunk, is subtracted;
//   2. of each group of as many words as they have bits, the bits are transposed;
//   3. from each word the one before it in the chunk is subtracted;
//   4. a bitmap tells which words are not zero, and only these are kept.
//
// A stream is a header, the bitmaps of all groups, and the kept words. A chunk that is not full is
// padded with zeros, and so may keep one word that belongs to no group and that nobody reads.
//
// Words come from and go to functors, which may pack and unpack on the way. A source gives
// operator()(i), and four(i, words) for words i .. i + 3, i a multiple of 4; a sink takes
// put(i, word) and put_four(i, words).
#pragma once
#include "bits.h"

namespace mpc {

constexpr int CHUNK = 1024;        // words that are coded together
constexpr int MAPS = CHUNK / 32;   // their bitmap, in words of 32 bits
constexpr int SCRATCH = 32768;     // bytes of a block, or of a core, where chunks are put together

// What is wrong with a stream.
enum Verdict { SOUND = 0, FOREIGN = 1, TOO_SHORT = 2 };

template <class Word> constexpr int BITS = 8 * static_cast<int>(sizeof(Word));
template <class Word> constexpr int CHUNKS_AT_ONCE = SCRATCH / CHUNK * 8 / BITS<Word>;

// How a stream of `count` words, each compared with the one `dim` before it, is laid out.
template <class Word> struct Layout {
  bits32 count, dim;

  METHOD bits32 chunks() const { return (count + CHUNK - 1) / CHUNK; }
  METHOD bits32 groups() const { return (count + BITS<Word> - 1) / BITS<Word>; }
  METHOD bits32 maps() const { return groups() * (BITS<Word> / 32); }
  METHOD bits32 header() const { return sizeof(Word) == 4 ? 2 : 1; }
  METHOD bits32 begin() const { return header() + groups(); }  // of the kept words
  METHOD bits32 signature() const {
    return (sizeof(Word) == 4 ? 0x63706d00 : 0x43504d00) + dim - 1;
  }

  METHOD void open(Word* stream) const {
    if (sizeof(Word) == 4) {
      stream[0] = static_cast<Word>(signature());
      stream[1] = static_cast<Word>(count);
    } else {
      stream[0] = static_cast<Word>(static_cast<bits64>(count) << 32 | signature());
    }
  }
  METHOD bool opens(const Word* stream, index_t capacity) const {
    if (capacity < begin()) return false;
    if (sizeof(Word) == 4) return stream[0] == signature() && stream[1] == count;
    return stream[0] == (static_cast<bits64>(count) << 32 | signature());
  }
  METHOD bits32* maps_of(Word* stream) const {
    return reinterpret_cast<bits32*>(stream + header());
  }
  METHOD const bits32* maps_of(const Word* stream) const {
    return reinterpret_cast<const bits32*>(stream + header());
  }
};

// Words that lie side by side.
template <class Word> struct Contiguous {
  const Word* words;
  bool aligned;

  METHOD explicit Contiguous(const Word* w) : words(w), aligned(in_fours(w)) {}
  METHOD Word operator()(bits32 i) const { return words[i]; }
  METHOD void four(bits32 i, Word (&w)[4]) const { load_four(words + i, aligned, w); }
};

template <class Word> struct ContiguousSink {
  Word* words;
  bool aligned;

  METHOD explicit ContiguousSink(Word* w) : words(w), aligned(in_fours(w)) {}
  METHOD void put(bits32 i, Word w) const { words[i] = w; }
  METHOD void put_four(bits32 i, const Word (&w)[4]) const { store_four(words + i, aligned, w); }
};

// Columns of a transposition of which bit `step` of the number is not set.
template <class Word> METHOD constexpr Word low_columns(int step) {
  return static_cast<Word>(~static_cast<Word>(0)) / ((static_cast<Word>(1) << step) + 1);
}

// Two rows, `step` apart, swap the halves that a transposition wants swapped.
template <class Word> INLINE void swap_halves(Word& upper, Word& lower, int step) {
  const Word low = low_columns<Word>(step), a = upper, b = lower;
  upper = (a & low) | (b & low) << step;
  lower = (b & ~low) | (a & ~low) >> step;
}

}  // namespace mpc

#if defined(__CUDACC__)
#include "mpc_lanes.h"
#else
#include "mpc_core.h"
#endif
