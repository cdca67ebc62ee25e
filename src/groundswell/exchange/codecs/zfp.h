// ZFP at a fixed rate along one axis: Lindstrom, Fixed-rate compressed floating-point arrays, IEEE
// TVCG 20, 2014. Streams are those of libzfp 1.0, bit for bit. A block of four values becomes
// integers that have an exponent in common, is transformed, and written plane by plane of bits, the
// highest first, until its share of the stream is full. A thread codes a block, in registers.
//
// What libzfp leaves undefined is settled as it comes out on x86: the values of a block below 2^-97
// (float) or 2^-961 (double), whose scale is infinite, all become the most negative integer.
//
// Values come from and go to functors, which may pack and unpack on the way: a source gives
// operator()(i), and four(i, values) for values i .. i + 3, i a multiple of 4; a sink takes
// put(i, value) and put_four(i, values).
#pragma once
#include "zfp_line.h"

namespace zfp {

// --- numbers -------------------------------------------------------------------------------------

template <class Value> struct Format;
template <> struct Format<float> {
  typedef bits32 Word;
  static constexpr int EXPONENT = 8, FRACTION = 23, BIAS = 127;
};
template <> struct Format<double> {
  typedef bits64 Word;
  static constexpr int EXPONENT = 11, FRACTION = 52, BIAS = 1023;
};
template <class Value> using WordOf = typename Format<Value>::Word;

// Bits that begin a block which is not zero: a one, and the exponent.
template <class Value> constexpr int HEADER = 1 + Format<Value>::EXPONENT;

template <class Value> INLINE WordOf<Value> bits_in(Value x) {
  WordOf<Value> bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

// The power of two with this exponent field; fields of zero and less are those of denormal numbers.
template <class Value> INLINE Value power_of_two(int field) {
  constexpr int fraction = Format<Value>::FRACTION;
  WordOf<Value> bits = 0;
  if (field > 0) bits = static_cast<WordOf<Value>>(field) << fraction;
  else if (field > -fraction) bits = static_cast<WordOf<Value>>(1) << (fraction - 1 + field);
  Value x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// Towards zero. What does not fit, or is none, becomes anything.
INLINE bits32 integer_of(float x) { return static_cast<bits32>(static_cast<int>(x)); }
INLINE bits64 integer_of(double x) { return static_cast<bits64>(static_cast<long long>(x)); }
INLINE float number_of(bits32 q) { return static_cast<float>(static_cast<int>(q)); }
INLINE double number_of(bits64 q) { return static_cast<double>(static_cast<long long>(q)); }

// --- transform -----------------------------------------------------------------------------------

INLINE bits32 half(bits32 x) { return static_cast<bits32>(static_cast<int>(x) >> 1); }
INLINE bits64 half(bits64 x) { return static_cast<bits64>(static_cast<long long>(x) >> 1); }

// 1/16 [4 4 4 4; 5 1 -1 -5; -4 4 4 -4; -2 6 -6 2], by steps that can be undone but for rounding.
template <class Word> INLINE void lift(Word& x, Word& y, Word& z, Word& w) {
  x = half(x + w), w -= x;
  z = half(z + y), y -= z;
  x = half(x + z), z -= x;
  w = half(w + y), y -= w;
  w += half(y), y -= half(w);
}
template <class Word> INLINE void unlift(Word& x, Word& y, Word& z, Word& w) {
  y += half(w), w -= half(y);
  y += w, w = 2 * w - y;
  z += x, x = 2 * x - z;
  y += z, z = 2 * z - y;
  w += x, x = 2 * x - w;
}

// --- integers to the base of -2 ------------------------------------------------------------------

template <class Word> METHOD constexpr Word alternate() { return ~static_cast<Word>(0) / 3 * 2; }
template <class Word> INLINE Word to_negabinary(Word x) {
  return (x + alternate<Word>()) ^ alternate<Word>();
}
template <class Word> INLINE Word from_negabinary(Word u) {
  return (u ^ alternate<Word>()) - alternate<Word>();
}

// --- blocks --------------------------------------------------------------------------------------

// Integers of a block as negabinary numbers; its exponent field plus one, or 0 if it is zero.
template <class Value> INLINE int to_integers(const Value (&v)[4], WordOf<Value> (&u)[4]) {
  typedef WordOf<Value> Word;
  constexpr int width = 8 * sizeof(Word), most = 2 * Format<Value>::BIAS;
  Value largest = 0;
  UNROLL
  for (int i = 0; i < 4; ++i) largest = fabs(v[i]) > largest ? fabs(v[i]) : largest;
  const int field = static_cast<int>(bits_in(largest) >> Format<Value>::FRACTION);
  const int scale = most + width - 3 - field;
  const Value factor = power_of_two<Value>(scale);
  Word q[4];
  UNROLL
  for (int i = 0; i < 4; ++i)
    q[i] = scale > most ? static_cast<Word>(1) << (width - 1) : integer_of(factor * v[i]);
  lift(q[0], q[1], q[2], q[3]);
  UNROLL
  for (int i = 0; i < 4; ++i) u[i] = to_negabinary(q[i]);
  return largest > 0 ? field + 1 : 0;
}

template <class Value>
INLINE void to_values(const WordOf<Value> (&u)[4], int exponent, Value (&v)[4]) {
  typedef WordOf<Value> Word;
  constexpr int width = 8 * sizeof(Word);
  Word q[4];
  UNROLL
  for (int i = 0; i < 4; ++i) q[i] = from_negabinary(u[i]);
  unlift(q[0], q[1], q[2], q[3]);
  const Value factor = power_of_two<Value>(exponent - (width - 2));
  UNROLL
  for (int i = 0; i < 4; ++i) v[i] = factor * number_of(q[i]);
}

// Planes that are written of a block: libzfp has a smallest exponent, which doubles can reach.
template <class Value> INLINE int planes_of(int exponent) {
  constexpr int width = 8 * sizeof(Value), beyond = 1074 + 4;
  const int most = exponent - Format<Value>::BIAS + beyond;
  return most < width ? most : width;
}

template <int BITS, class Value, class Out> INLINE void encode(const Value (&v)[4], Out& out) {
  constexpr int begin = HEADER<Value>;
  WordOf<Value> u[4];
  const int exponent = to_integers(v, u);
  const bits64 header = exponent ? (2 * exponent + 1) & low_bits(begin) : 0;
  if constexpr (BITS <= 64) {
    out.put(exponent ? line_code<BITS>(u, header, begin) : 0, BITS);
  } else {
    out.put(header, begin);
    int left = BITS - begin;
    if (exponent) left = put_planes(u, planes_of<Value>(exponent), left, out);
    out.pad(left);
  }
}

// The block that begins at `bit` of a stream.
template <int BITS, class Value>
INLINE void decode(const bits64* stream, index_t words, index_t bit, Value (&v)[4]) {
  constexpr int begin = HEADER<Value>;
  Reader in(stream, words, bit);
  const int header = static_cast<int>(in.ahead() & low_bits(begin)), exponent = header >> 1;
  WordOf<Value> u[4];
  if constexpr (BITS <= 64) {
    line_integers<BITS>(in.ahead(), begin, u);
  } else {
    in.skip(begin);
    get_planes(u, planes_of<Value>(exponent), BITS - begin, in);
  }
  to_values(u, exponent, v);
  UNROLL
  for (int i = 0; i < 4; ++i) v[i] = header & 1 ? v[i] : 0;
}

// --- where values are ----------------------------------------------------------------------------

// Where a block reaches beyond the last value it repeats one: 0 0 0 0, 0 1 1 0, 0 1 2 0.
INLINE index_t inside(index_t first, int n, index_t end) {
  return first + n < end ? first + n : first + (n == 2 && end - first == 2);
}

// The block of values from `first` on; `end` is behind the last value that there is.
template <class Source, class Value>
INLINE void gather(const Source& source, index_t first, index_t end, Value (&v)[4]) {
  if (first + 3 < end) return source.four(first, v);
  UNROLL
  for (int n = 0; n < 4; ++n) v[n] = source(inside(first, n, end));
}

template <class Sink, class Value>
INLINE void scatter(const Sink& sink, index_t first, index_t end, const Value (&v)[4]) {
  if (first + 3 < end) return sink.put_four(first, v);
  UNROLL
  for (int n = 0; n < 4; ++n)
    if (first + n < end) sink.put(first + n, v[n]);
}

// Values without gaps; what is only read is const.
template <class Value> struct Array {
  Value* values;
  bool aligned;

  METHOD explicit Array(Value* v) : values(v), aligned(in_fours(v)) {}
  METHOD Value operator()(index_t i) const { return values[i]; }
  template <class V> METHOD void four(index_t i, V (&v)[4]) const {
    load_four(values + i, aligned, v);
  }
  template <class V> METHOD void put(index_t i, V value) const { values[i] = value; }
  template <class V> METHOD void put_four(index_t i, const V (&v)[4]) const {
    store_four(values + i, aligned, v);
  }
};

}  // namespace zfp
