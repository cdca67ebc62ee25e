// Floating-point numbers of 16 bits, converted without hardware support, with the same results on
// every device.
#pragma once
#include "portable.h"

typedef unsigned short bits16;
typedef unsigned int bits32;

INLINE bits32 bits_of(float x) {
  bits32 bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
INLINE float float_of(bits32 bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// The upper half of a float, rounded to nearest even; NaN stays NaN.
struct Brain {
  bits16 bits;
  Brain() = default;
  METHOD explicit Brain(float x) {
    const bits32 b = bits_of(x);
    bits = x == x ? static_cast<bits16>((b + 0x7fff + (b >> 16 & 1)) >> 16) : 0x7fc0;
  }
  METHOD explicit operator float() const { return float_of(static_cast<bits32>(bits) << 16); }
};

// IEEE binary16, rounded to nearest even, without hardware support. Adding a power of two lets the
// float unit round at the right place; another power of two rescales the exponent.
struct Half {
  bits16 bits;
  Half() = default;
  METHOD explicit Half(float x) {
    const bits32 sign = bits_of(x) >> 31 << 15, b = bits_of(x) & 0x7fffffff;
    if (b > 0x7f800000) bits = 0x7e00;                                         // NaN
    else if (b >= 0x477ff000) bits = 0x7c00;                                   // beyond 65,504
    else if (b < 0x38800000) bits = bits_of(float_of(b) + 0.5f) - 0x3f000000;  // below 2^-14
    else bits = (b - 0x38000000 + 0xfff + (b >> 13 & 1)) >> 13;
    bits |= sign;
  }
  METHOD explicit operator float() const {
    const bits32 sign = static_cast<bits32>(bits & 0x8000) << 16, rest = bits & 0x7fff;
    if (rest >= 0x7c00) return float_of(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    if (rest < 0x400) return float_of(sign | bits_of(static_cast<float>(rest) * 5.9604645e-8f));
    return float_of(sign | ((rest << 13) + 0x38000000));
  }
};
