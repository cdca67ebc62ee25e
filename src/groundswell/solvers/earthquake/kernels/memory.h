// How the memory variables of attenuation are stored: as `real` or, with HALF_MEMORY, in 16 bits.
#pragma once
#include "narrow_floats.h"

#if HALF_MEMORY

// IEEE binary16, in units of MEMORY_UNIT, a power of two; see memory_unit.py.
typedef bits16 Stored;

#ifdef __CUDACC__
INLINE float widened(bits16 stored) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(stored));
  return x;
}
INLINE bits16 narrowed(float x) {
  bits16 stored;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(stored) : "f"(x));
  return stored;
}
#else
// Without branches, since GCC 12 vectorises neither conversions of _Float16 nor those of `Half`. No
// step yields a denormal float, which CPUs flush to zero.
INLINE float widened(bits16 stored) {
  const bits32 sign = static_cast<bits32>(stored & 0x8000) << 16, rest = stored & 0x7fff;
  const bits32 tiny = bits_of(static_cast<float>(static_cast<int>(rest)) * 5.9604645e-8f);
  const bits32 normal = (rest << 13) + (rest < 0x7c00 ? 0x38000000 : 0x70000000);
  return float_of(sign | (rest < 0x400 ? tiny : normal));
}
INLINE bits16 narrowed(float x) {
  const bits32 sign = bits_of(x) >> 16 & 0x8000, b = bits_of(x) & 0x7fffffff;
  const bits32 tiny = bits_of(float_of(b) + 0.5f) - 0x3f000000;  // below 2^-14
  const bits32 normal = (b - 0x38000000 + 0xfff + (b >> 13 & 1)) >> 13;
  const bits32 beyond = b > 0x7f800000 ? 0x7e00 : 0x7c00;  // NaN, or more than 65,504
  return static_cast<bits16>(sign | (b >= 0x477ff000 ? beyond : b < 0x38800000 ? tiny : normal));
}
#endif

INLINE real restored(Stored r) { return MEMORY_UNIT * widened(r); }

// Rounds to one of the two nearest numbers, and to r on average. Otherwise changes by less than half
// a unit in the last place would be lost, and a memory variable that relaxes for thousands of steps
// would stop decaying. The bits of `s`, which changes in every step, serve as a random number.
INLINE Stored to_store(real r, real s) {
  const float x = r * (REAL(1) / MEMORY_UNIT);
  const bits32 exponent = bits_of(x) & 0x7f800000, least = 0x38800000;  // of normal numbers: 2^-14
  const float ulp = float_of(exponent > least ? exponent : least) * 9.765625e-4f;  // 2^-10
  const int random = static_cast<int>(bits_of(s) * 2654435769u);
  return narrowed(x + static_cast<float>(random) * 2.3283064e-10f * ulp);  // up to half of it
}

#else

typedef real Stored;
INLINE real restored(Stored r) { return r; }
INLINE Stored to_store(real r, real) { return r; }

#endif

// Adds a change to a stored value; s is the stress before the change.
INLINE void add(Stored& r, real change, real s) { r = to_store(restored(r) + change, s); }
