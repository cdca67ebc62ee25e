// Planes of bits: how ZFP writes the four integers of a block. A plane's four bits are a digit.
//
// Integers are known once a bit of theirs, or of a later one, was not zero. Of a plane, the bits of
// those that are known are written as they are. The rest is cut after each one: a bit tells
// whether there is another one, then come the bits up to it. Were it the very last, it need not be
// written: so once three integers are known, just the digit is written.
#pragma once
#include "zfp_stream.h"

namespace zfp {

template <class Word> INLINE bits32 digit_of(const Word (&u)[4], int plane) {
  constexpr int width = 8 * sizeof(Word);
  bits32 digit = 0;
  UNROLL
  for (int i = 0; i < 4; ++i) digit |= static_cast<bits32>(u[i] >> (width - 1 - plane) & 1) << i;
  return digit;
}

// How many integers are known after a digit.
INLINE int known_after(bits32 digit, int known) {
  const int top = 32 - leading_zeros(digit);
  return top > known ? top : known;
}

// What is written of a digit if nothing is known, and a one to end it.
METHOD constexpr bits64 whole_code(int digit) {
  bits64 code = 0;
  int at = 0;
  for (int known = 0; known < 4; ++known, digit /= 2) {
    if (!digit) {
      ++at;
      break;
    }
    code |= 1ull << at++;
    for (; known < 3 && !(digit & 1); ++known, digit /= 2) ++at;
    if (known < 3) code |= 1ull << at++;
  }
  return code | 1ull << at;
}

// These codes for eight digits from `first` on.
METHOD constexpr bits64 eight_codes(int first) {
  bits64 codes = 0;
  for (int n = 0; n < 8; ++n) codes |= whole_code(first + n) << (8 * n);
  return codes;
}

struct Code {
  bits32 bits;
  int length;
};

// What is written of a digit. Were the integers that are known so before all ones, a whole code
// would begin with two bits for each of them.
INLINE Code code_of(bits32 digit, int known) {
  if (known >= 3) return {digit, 4};
  constexpr bits64 low = eight_codes(0), high = eight_codes(8);
  const bits32 ones = (1u << known) - 1, whole = digit | ones;
  const bits32 ended = static_cast<bits32>((whole < 8 ? low : high) >> (8 * (whole & 7))) & 0xff;
  const int length = 31 - leading_zeros(ended);
  return {(digit & ones) | (ended ^ 1u << length) >> 2 * known << known, length - known};
}

// Writes the upper `planes` as far as `left` bits allow; how many of these remain.
template <class Word, class Out>
INLINE int put_planes(const Word (&u)[4], int planes, int left, Out& out) {
  int known = 0;
  for (int plane = 0; plane < planes && left > 0; ++plane) {
    const bits32 digit = digit_of(u, plane);
    const Code code = code_of(digit, known);
    const int length = code.length < left ? code.length : left;
    out.put(code.bits & low_bits(length), length);
    left -= length;
    known = known_after(digit, known);
  }
  return left;
}

// Bits of a block that are still to be read, followed by zeros.
struct Rest {
  bits64 code;
  int left;

  METHOD void skip(int length) {
    code = length < 64 ? code >> length : 0;
    left -= length;
  }
  // The unknown integers' part of a digit, from integer `known` on.
  METHOD bits32 take_unknown(int known) {
    bits32 digit = 0;
    while (known < 4 && left > 0) {
      const bool more = code & 1;
      skip(1);
      if (!more) break;
      const int room = 3 - known < left ? 3 - known : left;
      const int zeros = trailing_zeros(static_cast<bits32>(code) | 16u);
      skip(zeros < room ? zeros + 1 : room);
      known += zeros < room ? zeros : room;
      digit |= 1u << known++;
    }
    return digit;
  }
  METHOD bits32 take(int known) {
    const bits32 plain = static_cast<bits32>(code) & ((1u << known) - 1);
    skip(known);
    return plain | take_unknown(known);
  }
};

// Reads what put_planes has written.
template <class Word> INLINE void get_planes(Word (&u)[4], int planes, int left, Reader& in) {
  constexpr int width = 8 * sizeof(Word);
  UNROLL
  for (int i = 0; i < 4; ++i) u[i] = 0;
  int known = 0;
  for (int plane = 0; plane < planes && left > 0; ++plane) {
    Rest rest{in.ahead() & low_bits(left), left};
    const bits32 digit = rest.take(known);
    UNROLL
    for (int i = 0; i < 4; ++i) u[i] |= static_cast<Word>(digit >> i & 1) << (width - 1 - plane);
    in.skip(left - rest.left);
    left = rest.left;
    known = known_after(digit, known);
  }
}

}  // namespace zfp
