// Words of bits, and what processors can tell about them.
#pragma once
#include "portable.h"

typedef unsigned int bits32;
typedef unsigned long long bits64;

// What holds the bits of a value.
#ifdef DOUBLE_PRECISION
typedef bits64 word;
#else
typedef bits32 word;
#endif

#if defined(__CUDACC__)

INLINE int set_bits(bits32 x) { return __popc(x); }
INLINE int leading_zeros(bits32 x) { return __clz(static_cast<int>(x)); }
INLINE int leading_zeros(bits64 x) { return __clzll(static_cast<long long>(x)); }
INLINE int trailing_zeros(bits32 x) { return x ? __ffs(static_cast<int>(x)) - 1 : 32; }
INLINE int trailing_zeros(bits64 x) { return x ? __ffsll(static_cast<long long>(x)) - 1 : 64; }

#else

INLINE int set_bits(bits32 x) { return __builtin_popcount(x); }
INLINE int leading_zeros(bits32 x) { return x ? __builtin_clz(x) : 32; }
INLINE int leading_zeros(bits64 x) { return x ? __builtin_clzll(x) : 64; }
INLINE int trailing_zeros(bits32 x) { return x ? __builtin_ctz(x) : 32; }
INLINE int trailing_zeros(bits64 x) { return x ? __builtin_ctzll(x) : 64; }

#endif

// --- four words that lie side by side, which a GPU moves at once ---------------------------------

template <class Word> struct alignas(16) Four {
  Word word[4];
};

template <class Word> INLINE bool in_fours(const Word* words) {
  return reinterpret_cast<index_t>(words) % 16 == 0;
}
template <class Word> INLINE void load_four(const Word* from, bool aligned, Word (&w)[4]) {
  Four<Word> f;
  if (aligned) {
    f = *reinterpret_cast<const Four<Word>*>(from);
  } else {
    UNROLL
    for (int r = 0; r < 4; ++r) f.word[r] = from[r];
  }
  UNROLL
  for (int r = 0; r < 4; ++r) w[r] = f.word[r];
}
template <class Word> INLINE void store_four(Word* to, bool aligned, const Word (&w)[4]) {
  if (aligned) {
    *reinterpret_cast<Four<Word>*>(to) = Four<Word>{{w[0], w[1], w[2], w[3]}};
  } else {
    UNROLL
    for (int r = 0; r < 4; ++r) to[r] = w[r];
  }
}
