// Blocks of four values that get at most 64 bits of a stream, coded without going from plane to
// plane: what zfp_planes.h would write and read, in fewer operations.
//
// Once three of the integers are known, what is written of a plane is just its digit, whether or
// not the fourth is known: all further planes are a transposition.
#pragma once
#include "zfp_planes.h"

namespace zfp {

template <int DISTANCE> INLINE bits32 swap_bits(bits32 x, bits32 mask) {
  const bits32 t = (x ^ x >> DISTANCE) & mask;
  return x ^ t ^ t << DISTANCE;
}

INLINE bits32 reversed(bits32 x) {
#if defined(__CUDACC__)
  return __brev(x);
#else
  x = __builtin_bswap32(x);
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  return (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
#endif
}

// Digits of the eight planes that the upper bytes of four words are, and back. Bit j of word i
// moves from 8 i + j to 4 j + i: the bits of a number of five bits change places.
INLINE bits32 to_digits(bits32 a, bits32 b, bits32 c, bits32 d) {
  bits32 x = reversed((a & 0xff000000) | (c >> 8 & 0xff0000) | (b >> 16 & 0xff00) | d >> 24);
  x = swap_bits<12>(x, 0x0000f0f0);
  x = swap_bits<6>(x, 0x00cc00cc);
  return swap_bits<3>(x, 0x0a0a0a0a);
}
INLINE bits32 from_digits(bits32 digits) {
  digits = swap_bits<3>(digits, 0x0a0a0a0a);
  digits = swap_bits<6>(digits, 0x00cc00cc);
  return reversed(swap_bits<12>(digits, 0x0000f0f0));
}

INLINE bits32 upper_half(bits32 x) { return x; }
INLINE bits32 upper_half(bits64 x) { return static_cast<bits32>(x >> 32); }

// Digits of the uppermost sixteen planes.
template <class Word> INLINE bits64 digits_of(const Word (&u)[4]) {
  const bits32 a = upper_half(u[0]), b = upper_half(u[1]);
  const bits32 c = upper_half(u[2]), d = upper_half(u[3]);
  const bits64 lower = to_digits(a << 8, b << 8, c << 8, d << 8);
  return lower << 32 | to_digits(a, b, c, d);
}

// Bits at the end of a code, which may have outgrown what is kept of it.
struct Line {
  bits64 code;
  int at;

  METHOD void put(bits64 bits, int length) {
    if (at < 64) code |= bits << at;
    at += length;
  }
  METHOD void put_digit(bits32 digit, int known) {
    const Code code = code_of(digit, known);
    put(code.bits, code.length);
  }
};

// Eight digits of which only the lower KEPT bits are kept, side by side.
template <int KEPT> INLINE bits32 narrowed(bits32 x) {
  constexpr bits32 nibble = (1u << KEPT) - 1, byte = (1u << 2 * KEPT) - 1;
  constexpr bits32 half = (1u << 4 * KEPT) - 1;
  x = (x & nibble * 0x01010101u) | (x >> (4 - KEPT) & (nibble << KEPT) * 0x01010101u);
  x = (x & byte * 0x00010001u) | (x >> (8 - 2 * KEPT) & (byte << 2 * KEPT) * 0x00010001u);
  return (x & half) | (x >> (16 - 4 * KEPT) & half << 4 * KEPT);
}

// The first `count` of sixteen digits, of which so many integers are known, and no other not zero.
template <int KNOWN> INLINE void put_run(Line& line, bits64 digits, int count) {
  constexpr int kept = KNOWN + 1;
  digits &= low_bits(4 * count);
  const bits64 upper = narrowed<kept>(static_cast<bits32>(digits >> 32));
  line.put(upper << 8 * kept | narrowed<kept>(static_cast<bits32>(digits)), kept * count);
}

// Plane by plane until three integers are known; how many planes these are.
template <class Word> INLINE int put_slowly(Line& line, const Word (&u)[4], int most) {
  constexpr int width = 8 * sizeof(Word);
  int plane = 0;
  for (int known = 0; known < 3 && line.at < most && plane < width; ++plane) {
    const bits32 digit = digit_of(u, plane);
    line.put_digit(digit, known);
    known = known_after(digit, known);
  }
  return plane;
}

// The first BITS of a block that begins with `code`, `at` bits of it. Integer n becomes known where
// any from n on has its first one. So planes fall into runs, and each run is a few operations.
template <int BITS, class Word> INLINE bits64 line_code(Word (&u)[4], bits64 code, int at) {
  constexpr int width = 8 * sizeof(Word), window = 16;
  const Word last = u[2] | u[3], all = u[0] | u[1] | last;
  const int empty = all ? leading_zeros(all) : width - 1;
  const int one = leading_zeros(u[1] | last) - empty, two = leading_zeros(last) - empty;
  Line line{code, at + empty};
  UNROLL
  for (int i = 0; i < 4; ++i) u[i] <<= empty;
  int done = two + 1;
  bits64 digits = 0;
  if (two < window) {
    digits = digits_of(u);
    line.put_digit(digits & 15, 0);
    if (one > 0) {
      put_run<1>(line, digits >> 4, one - 1);
      line.put_digit(digits >> 4 * one & 15, 1);
    }
    if (two > one) {
      put_run<2>(line, digits >> 4 * one >> 4, two - one - 1);
      line.put_digit(digits >> 4 * two & 15, 2);
    }
    digits = digits >> 4 * two >> 4;
  } else {
    done = put_slowly(line, u, BITS);
  }
  const int ready = done < window ? window - done : 0;
  line.put(digits, 4 * ready);
  if (line.at < BITS) {
    const int next = done + ready;
    Word rest[4];
    UNROLL
    for (int i = 0; i < 4; ++i) rest[i] = next < width ? u[i] << next : 0;
    line.put(digits_of(rest), 64);
  }
  return line.code & low_bits(BITS);
}

// Eight numbers of KEPT bits, side by side, as digits.
template <int KEPT> INLINE bits32 widened(bits32 x) {
  constexpr bits32 nibble = (1u << KEPT) - 1, byte = (1u << 2 * KEPT) - 1;
  constexpr bits32 half = (1u << 4 * KEPT) - 1;
  x = (x & half) | (x & half << 4 * KEPT) << (16 - 4 * KEPT);
  x = (x & byte * 0x00010001u) | (x & (byte << 2 * KEPT) * 0x00010001u) << (8 - 2 * KEPT);
  return (x & nibble * 0x01010101u) | (x & (nibble << KEPT) * 0x01010101u) << (4 - KEPT);
}

// Digits of the uppermost planes: sixteen, and those that follow.
struct Digits {
  bits64 first = 0, second = 0;
  int count = 0;

  METHOD void put(bits64 digits, int number) {
    if (count < 16) {
      first |= digits << 4 * count;
      second |= count ? digits >> (64 - 4 * count) : 0;
    } else if (count < 32) {
      second |= digits << (4 * count - 64);
    }
    count += number;
  }
};

// Sixteen numbers of KEPT bits as digits.
template <int KEPT> INLINE bits64 sixteen_digits(bits64 x) {
  const bits32 upper = widened<KEPT>(static_cast<bits32>(x >> 8 * KEPT));
  return static_cast<bits64>(upper) << 32 | widened<KEPT>(static_cast<bits32>(x));
}

// A run of planes in which nothing becomes known, and the digit that ends it; what is known then.
template <int KNOWN> INLINE int take_run(Rest& rest, Digits& digits) {
  constexpr int kept = KNOWN + 1;
  constexpr bits64 ends = KNOWN == 1 ? 0xaaaaaaaaaaaaaaaaull : 0x4924924924924924ull;
  const int run = trailing_zeros(rest.code & ends) / kept;
  const bits64 code = rest.code & low_bits(run * kept);
  digits.put(sixteen_digits<kept>(code), run < 16 ? run : 16);
  if (run > 16) digits.put(sixteen_digits<kept>(code >> 16 * kept), run - 16);
  rest.skip(run * kept);
  const bits32 digit = rest.take(KNOWN);
  digits.put(digit, 1);
  return 32 - leading_zeros(digit);
}

// The integers of a block from its first BITS, of which the header has `at`.
template <int BITS, class Word> INLINE void line_integers(bits64 code, int at, Word (&u)[4]) {
  constexpr int width = 8 * sizeof(Word);
  Rest rest{(code & low_bits(BITS)) >> at, BITS - at};
  const int zeros = trailing_zeros(rest.code), empty = zeros < width ? zeros : width;
  rest.skip(empty);
  Digits digits;
  if (rest.left > 0) {
    const bits32 digit = rest.take_unknown(0);
    digits.put(digit, 1);
    int known = 32 - leading_zeros(digit);
    if (known == 1) known = take_run<1>(rest, digits);
    if (known == 2) take_run<2>(rest, digits);
    digits.put(rest.left > 0 ? rest.code : 0, 16);
  }
  const bits32 parts[4] = {
      from_digits(static_cast<bits32>(digits.first)),
      from_digits(static_cast<bits32>(digits.first >> 32)),
      from_digits(static_cast<bits32>(digits.second)),
      from_digits(static_cast<bits32>(digits.second >> 32))};
  const int slot[4] = {3, 1, 2, 0};
  UNROLL
  for (int i = 0; i < 4; ++i) {
    bits32 bits = 0;
    UNROLL
    for (int p = 0; p < 4; ++p) bits |= (parts[p] >> (8 * slot[i]) & 0xff) << (24 - 8 * p);
    u[i] = empty < width ? static_cast<Word>(bits) << (width - 32) >> empty : 0;
  }
}

}  // namespace zfp
