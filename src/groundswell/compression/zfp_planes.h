// Embedded coding of ZFP: the bit planes of a block's four coefficients, the highest first. The
// four bits of a plane are a nibble, with the bit of coefficient i in place i.
//
// A coefficient is significant once one of its bits, or of the bits of a later coefficient, was not
// zero. A plane begins with the bits of the significant coefficients. Group tests follow: one bit
// shows whether a remaining bit is one; then the bits up to this one are written. The one of the
// last coefficient is implied, so once three are significant, a plane is written as its nibble.
#pragma once
#include "strips.h"

namespace zfp {

constexpr int WIDTH = 8 * sizeof(word);  // width of a coefficient: its number of planes

#if defined(__CUDACC__)
INLINE int leading_zeros(bits32 x) { return __clz(static_cast<int>(x)); }
INLINE int leading_zeros(bits64 x) { return __clzll(static_cast<long long>(x)); }
INLINE int trailing_zeros(bits32 x) { return x ? __ffs(static_cast<int>(x)) - 1 : 32; }
INLINE int trailing_zeros(bits64 x) { return x ? __ffsll(static_cast<long long>(x)) - 1 : 64; }
INLINE bits32 reversed(bits32 x) { return __brev(x); }
#else
INLINE int leading_zeros(bits32 x) { return x ? __builtin_clz(x) : 32; }
INLINE int leading_zeros(bits64 x) { return x ? __builtin_clzll(x) : 64; }
INLINE int trailing_zeros(bits32 x) { return x ? __builtin_ctz(x) : 32; }
INLINE int trailing_zeros(bits64 x) { return x ? __builtin_ctzll(x) : 64; }
INLINE bits32 reversed(bits32 x) {
  x = __builtin_bswap32(x);
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  return (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
}
#endif

// Bits below bit `n`, 0 <= n <= 64.
INLINE bits64 low_bits(int n) { return n < 64 ? (1ull << n) - 1 : ~0ull; }

// --- one plane -----------------------------------------------------------------------------------

INLINE bits32 nibble_of(const word (&u)[4], int plane) {
  bits32 nibble = 0;
  UNROLL
  for (int i = 0; i < 4; ++i) nibble |= static_cast<bits32>(u[i] >> (WIDTH - 1 - plane) & 1) << i;
  return nibble;
}

// The number of significant coefficients after a plane.
INLINE int significant_after(bits32 nibble, int significant) {
  const int top = 32 - leading_zeros(nibble);
  return top > significant ? top : significant;
}

// The code of a nibble if no coefficient is significant, and a one that marks its end.
METHOD constexpr bits64 code_at_first(int nibble) {
  bits64 code = 0;
  int at = 0;
  for (int significant = 0; significant < 4; ++significant, nibble /= 2) {
    if (!nibble) {
      ++at;
      break;
    }
    code |= 1ull << at++;
    for (; significant < 3 && !(nibble & 1); ++significant, nibble /= 2) ++at;
    if (significant < 3) code |= 1ull << at++;
  }
  return code | 1ull << at;
}

// These codes of eight nibbles, in a byte each.
METHOD constexpr bits64 eight_codes(int first) {
  bits64 codes = 0;
  for (int n = 0; n < 8; ++n) codes |= code_at_first(first + n) << (8 * n);
  return codes;
}

struct Code {
  bits32 bits;
  int length;
};

// The code of a nibble. It is part of the initial code of a nibble in which all significant
// coefficients have a one: there, two bits represent each of them.
INLINE Code code_of(bits32 nibble, int significant) {
  if (significant >= 3) return {nibble, 4};
  constexpr bits64 low = eight_codes(0), high = eight_codes(8);
  const bits32 ones = (1u << significant) - 1, filled = nibble | ones;
  const bits32 marked = static_cast<bits32>((filled < 8 ? low : high) >> (8 * (filled & 7))) & 0xff;
  const int length = 31 - leading_zeros(marked);
  const bits32 tests = (marked ^ 1u << length) >> 2 * significant;
  return {(nibble & ones) | tests << significant, length - significant};
}

// The bits of a block that are still to be decoded, followed by zeros.
struct Remaining {
  bits64 code;
  int left;

  METHOD void skip(int length) {
    code = length < 64 ? code >> length : 0;
    left -= length;
  }
  // The bits of a nibble that group tests encode.
  METHOD bits32 take_tests(int significant) {
    bits32 nibble = 0;
    while (significant < 4 && left > 0) {
      const bool more = code & 1;
      skip(1);
      if (!more) break;
      const int room = 3 - significant < left ? 3 - significant : left;
      const int zeros = trailing_zeros(static_cast<bits32>(code) | 16u);
      skip(zeros < room ? zeros + 1 : room);
      significant += zeros < room ? zeros : room;
      nibble |= 1u << significant++;
    }
    return nibble;
  }
  METHOD bits32 take_nibble(int significant) {
    const bits32 plain = static_cast<bits32>(code) & ((1u << significant) - 1);
    skip(significant);
    return plain | take_tests(significant);
  }
};

// --- sixteen planes at once: nibbles are a transposition of the coefficients' bits ---------------

template <int DISTANCE> INLINE bits32 swap_bits(bits32 x, bits32 mask) {
  const bits32 t = (x ^ x >> DISTANCE) & mask;
  return x ^ t ^ t << DISTANCE;
}

// The nibbles of the planes in the upper bytes of four words, and the inverse. Bit j of word i
// moves from 8 i + j to 4 j + i: a permutation of the five bits of its position.
INLINE bits32 to_nibbles(bits32 a, bits32 b, bits32 c, bits32 d) {
  bits32 x = reversed((a & 0xff000000) | (c >> 8 & 0xff0000) | (b >> 16 & 0xff00) | d >> 24);
  x = swap_bits<12>(x, 0x0000f0f0);
  x = swap_bits<6>(x, 0x00cc00cc);
  return swap_bits<3>(x, 0x0a0a0a0a);
}
INLINE bits32 from_nibbles(bits32 nibbles) {
  nibbles = swap_bits<3>(nibbles, 0x0a0a0a0a);
  nibbles = swap_bits<6>(nibbles, 0x00cc00cc);
  return reversed(swap_bits<12>(nibbles, 0x0000f0f0));
}

// The nibbles of the highest sixteen planes.
INLINE bits64 nibbles_of(const word (&u)[4]) {
  bits32 upper[4];
  UNROLL
  for (int i = 0; i < 4; ++i) upper[i] = static_cast<bits32>(u[i] >> (WIDTH - 32));
  const bits32 first = to_nibbles(upper[0], upper[1], upper[2], upper[3]);
  const bits64 next = to_nibbles(upper[0] << 8, upper[1] << 8, upper[2] << 8, upper[3] << 8);
  return next << 32 | first;
}

// Packs the low KEPT bits of eight nibbles, and unpacks them.
template <int KEPT> struct Packing {
  static constexpr bits32 NIBBLE = (1u << KEPT) - 1, BYTE = (1u << 2 * KEPT) - 1;
  static constexpr bits32 HALF = (1u << 4 * KEPT) - 1;

  METHOD static bits32 pack(bits32 x) {
    x = (x & NIBBLE * 0x01010101u) | (x >> (4 - KEPT) & (NIBBLE << KEPT) * 0x01010101u);
    x = (x & BYTE * 0x00010001u) | (x >> (8 - 2 * KEPT) & (BYTE << 2 * KEPT) * 0x00010001u);
    return (x & HALF) | (x >> (16 - 4 * KEPT) & HALF << 4 * KEPT);
  }
  METHOD static bits32 unpack(bits32 x) {
    x = (x & HALF) | (x & HALF << 4 * KEPT) << (16 - 4 * KEPT);
    x = (x & BYTE * 0x00010001u) | (x & (BYTE << 2 * KEPT) * 0x00010001u) << (8 - 2 * KEPT);
    return (x & NIBBLE * 0x01010101u) | (x & (NIBBLE << KEPT) * 0x01010101u) << (4 - KEPT);
  }
  METHOD static bits64 pack_sixteen(bits64 x) {
    const bits64 upper = pack(static_cast<bits32>(x >> 32));
    return upper << 8 * KEPT | pack(static_cast<bits32>(x));
  }
  METHOD static bits64 unpack_sixteen(bits64 x) {
    const bits64 upper = unpack(static_cast<bits32>(x >> 8 * KEPT));
    return upper << 32 | unpack(static_cast<bits32>(x));
  }
};

// --- blocks of at most 64 bits: the same code as plane by plane, in fewer operations -------------
//
// Coefficient n becomes significant in the plane of the first one of any from n on. Between these
// planes are runs in which none does: of each nibble the bits of the significant coefficients are
// written, and a zero.

// The code of a block. Bits beyond the first 64 are dropped.
struct BlockCode {
  bits64 code;
  int at;

  METHOD void put(bits64 bits, int length) {
    if (at < 64) code |= bits << at;
    at += length;
  }
  METHOD void put_nibble(bits32 nibble, int significant) {
    const Code next = code_of(nibble, significant);
    put(next.bits, next.length);
  }
  // The first `count` of sixteen nibbles, a run.
  template <int SIGNIFICANT> METHOD void put_run(bits64 nibbles, int count) {
    constexpr int kept = SIGNIFICANT + 1;
    put(Packing<kept>::pack_sixteen(nibbles & low_bits(4 * count)), kept * count);
  }
};

// Encodes planes until three coefficients are significant; returns the number of planes.
INLINE int put_until_three(BlockCode& block, const word (&u)[4], int most) {
  int plane = 0;
  for (int significant = 0; significant < 3 && block.at < most && plane < WIDTH; ++plane) {
    const bits32 nibble = nibble_of(u, plane);
    block.put_nibble(nibble, significant);
    significant = significant_after(nibble, significant);
  }
  return plane;
}

// The first BITS of a block, of which `code` is the header, of `at` bits.
template <int BITS> INLINE bits64 encode_short(word (&u)[4], bits64 code, int at) {
  constexpr int window = 16;
  const word last = u[2] | u[3], all = u[0] | u[1] | last;
  const int empty = all ? leading_zeros(all) : WIDTH - 1;
  const int one = leading_zeros(u[1] | last) - empty, two = leading_zeros(last) - empty;
  BlockCode block{code, at + empty};
  UNROLL
  for (int i = 0; i < 4; ++i) u[i] <<= empty;
  int done = two + 1;
  bits64 nibbles = 0;
  if (two < window) {
    nibbles = nibbles_of(u);
    block.put_nibble(nibbles & 15, 0);
    if (one > 0) {
      block.put_run<1>(nibbles >> 4, one - 1);
      block.put_nibble(nibbles >> 4 * one & 15, 1);
    }
    if (two > one) {
      block.put_run<2>(nibbles >> 4 * one >> 4, two - one - 1);
      block.put_nibble(nibbles >> 4 * two & 15, 2);
    }
    nibbles = nibbles >> 4 * two >> 4;
  } else {
    done = put_until_three(block, u, BITS);
  }
  const int ready = done < window ? window - done : 0;
  block.put(nibbles, 4 * ready);
  if (block.at < BITS) {
    const int next = done + ready;
    word rest[4];
    UNROLL
    for (int i = 0; i < 4; ++i) rest[i] = next < WIDTH ? u[i] << next : 0;
    block.put(nibbles_of(rest), 64);
  }
  return block.code & low_bits(BITS);
}

// The nibbles of up to 32 planes.
struct Nibbles {
  bits64 first = 0, second = 0;
  int count = 0;

  METHOD void put(bits64 nibbles, int number) {
    if (count < 16) {
      first |= nibbles << 4 * count;
      second |= count ? nibbles >> (64 - 4 * count) : 0;
    } else if (count < 32) {
      second |= nibbles << (4 * count - 64);
    }
    count += number;
  }
};

// Decodes a run and the nibble that ends it; returns the number of significant coefficients then.
template <int SIGNIFICANT> INLINE int take_run(Remaining& in, Nibbles& nibbles) {
  constexpr int kept = SIGNIFICANT + 1;
  constexpr bits64 ends = SIGNIFICANT == 1 ? 0xaaaaaaaaaaaaaaaaull : 0x4924924924924924ull;
  const int run = trailing_zeros(in.code & ends) / kept;
  const bits64 code = in.code & low_bits(run * kept);
  nibbles.put(Packing<kept>::unpack_sixteen(code), run < 16 ? run : 16);
  if (run > 16) nibbles.put(Packing<kept>::unpack_sixteen(code >> 16 * kept), run - 16);
  in.skip(run * kept);
  const bits32 nibble = in.take_nibble(SIGNIFICANT);
  nibbles.put(nibble, 1);
  return 32 - leading_zeros(nibble);
}

// The coefficients of a block from its first BITS, of which the header has `at`.
template <int BITS> INLINE void decode_short(bits64 code, int at, word (&u)[4]) {
  Remaining in{(code & low_bits(BITS)) >> at, BITS - at};
  const int zeros = trailing_zeros(in.code), empty = zeros < WIDTH ? zeros : WIDTH;
  in.skip(empty);
  Nibbles nibbles;
  if (in.left > 0) {
    const bits32 nibble = in.take_tests(0);
    nibbles.put(nibble, 1);
    int significant = 32 - leading_zeros(nibble);
    if (significant == 1) significant = take_run<1>(in, nibbles);
    if (significant == 2) take_run<2>(in, nibbles);
    nibbles.put(in.left > 0 ? in.code : 0, 16);
  }
  const bits32 parts[4] = {from_nibbles(static_cast<bits32>(nibbles.first)),
                           from_nibbles(static_cast<bits32>(nibbles.first >> 32)),
                           from_nibbles(static_cast<bits32>(nibbles.second)),
                           from_nibbles(static_cast<bits32>(nibbles.second >> 32))};
  const int slot[4] = {3, 1, 2, 0};
  UNROLL
  for (int i = 0; i < 4; ++i) {
    bits32 bits = 0;
    UNROLL
    for (int p = 0; p < 4; ++p) bits |= (parts[p] >> (8 * slot[i]) & 0xff) << (24 - 8 * p);
    u[i] = empty < WIDTH ? static_cast<word>(bits) << (WIDTH - 32) >> empty : 0;
  }
}

}  // namespace zfp
