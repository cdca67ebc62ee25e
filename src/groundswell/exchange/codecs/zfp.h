// ZFP at a fixed rate: Lindstrom, Fixed-rate compressed floating-point arrays, IEEE TVCG 20, 2014.
// Streams are those of libzfp 1.0, bit for bit. A block of 4^d values becomes integers that have
// an exponent in common, is transformed along each axis, ordered by sequency, and written plane by
// plane of bits, the highest first, until its share of the stream is full. A thread codes a block,
// in registers.
//
// What libzfp leaves undefined is settled as it comes out on x86: the values of a block below 2^-97
// (float) or 2^-961 (double), whose scale is infinite, all become the most negative integer.
//
// Values come from and go to functors, which may pack and unpack on the way: a source gives
// operator()(x, y, z), a sink takes put(x, y, z, value). In one dimension a source also gives
// four(x, values), and a sink takes put_four(x, values), x a multiple of 4.
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

template <class Word, int SIZE> INLINE void transform(Word (&q)[SIZE]) {
  UNROLL
  for (int step = 1; step < SIZE; step *= 4)
    UNROLL
    for (int i = 0; i < SIZE; ++i)
      if (i / step % 4 == 0) lift(q[i], q[i + step], q[i + 2 * step], q[i + 3 * step]);
}
template <class Word, int SIZE> INLINE void transform_back(Word (&q)[SIZE]) {
  UNROLL
  for (int step = SIZE / 4; step > 0; step /= 4)
    UNROLL
    for (int i = 0; i < SIZE; ++i)
      if (i / step % 4 == 0) unlift(q[i], q[i + step], q[i + 2 * step], q[i + 3 * step]);
}

// Coefficients by x + y + z, then by x^2 + y^2 + z^2, each as x + 4 y + 16 z. The rest of the order
// is that of libzfp.
template <int DIMS> INLINE constexpr int place(int n) {
  constexpr unsigned char plane[16] = {0, 1, 4, 5, 2, 8, 6, 9, 3, 12, 10, 7, 13, 11, 14, 15};
  constexpr unsigned char space[64] = {
      0,  1,  4,  16, 20, 17, 5,  2,  8,  32, 21, 6,  18, 24, 9,  33, 36, 3,  12, 48, 22, 25,
      37, 40, 34, 10, 7,  19, 28, 13, 49, 52, 41, 38, 26, 23, 29, 53, 11, 35, 44, 14, 50, 56,
      42, 27, 39, 45, 30, 54, 57, 60, 51, 15, 43, 46, 58, 61, 55, 31, 62, 59, 47, 63};
  return DIMS == 1 ? n : DIMS == 2 ? plane[n % 16] : space[n];
}

// --- blocks --------------------------------------------------------------------------------------

// Integers of a block, in the order in which they are written, as negabinary numbers; its exponent
// field plus one, or 0 if it is zero.
template <class Value, int DIMS, int SIZE>
INLINE int to_integers(const Value (&v)[SIZE], WordOf<Value> (&u)[SIZE]) {
  typedef WordOf<Value> Word;
  constexpr int width = 8 * sizeof(Word), most = 2 * Format<Value>::BIAS;
  Value largest = 0;
  UNROLL
  for (int i = 0; i < SIZE; ++i) largest = fabs(v[i]) > largest ? fabs(v[i]) : largest;
  const int field = static_cast<int>(bits_in(largest) >> Format<Value>::FRACTION);
  const int scale = most + width - 3 - field;
  const Value factor = power_of_two<Value>(scale);
  Word q[SIZE];
  UNROLL
  for (int i = 0; i < SIZE; ++i)
    q[i] = scale > most ? static_cast<Word>(1) << (width - 1) : integer_of(factor * v[i]);
  transform(q);
  UNROLL
  for (int i = 0; i < SIZE; ++i) u[i] = to_negabinary(q[place<DIMS>(i)]);
  return largest > 0 ? field + 1 : 0;
}

template <class Value, int DIMS, int SIZE>
INLINE void to_values(const WordOf<Value> (&u)[SIZE], int exponent, Value (&v)[SIZE]) {
  typedef WordOf<Value> Word;
  constexpr int width = 8 * sizeof(Word);
  Word q[SIZE];
  UNROLL
  for (int i = 0; i < SIZE; ++i) q[place<DIMS>(i)] = from_negabinary(u[i]);
  transform_back(q);
  const Value factor = power_of_two<Value>(exponent - (width - 2));
  UNROLL
  for (int i = 0; i < SIZE; ++i) v[i] = factor * number_of(q[i]);
}

// Planes that are written of a block: libzfp has a smallest exponent, which doubles can reach.
template <class Value, int DIMS> INLINE int planes_of(int exponent) {
  constexpr int width = 8 * sizeof(Value), beyond = 1074 + 2 * DIMS + 2;
  const int most = exponent - Format<Value>::BIAS + beyond;
  return most < width ? most : width;
}

template <class Value, int DIMS, int BITS, class Out>
INLINE void encode(const Value (&v)[1 << 2 * DIMS], Out& out) {
  constexpr int begin = HEADER<Value>;
  WordOf<Value> u[1 << 2 * DIMS];
  const int exponent = to_integers<Value, DIMS>(v, u);
  const bits64 header = exponent ? (2 * exponent + 1) & low_bits(begin) : 0;
  if constexpr (DIMS == 1 && BITS <= 64) {
    out.put(exponent ? line_code<BITS>(u, header, begin) : 0, BITS);
  } else {
    out.put(header, begin);
    int left = BITS - begin;
    if (exponent) left = put_planes(u, planes_of<Value, DIMS>(exponent), left, out);
    out.pad(left);
  }
}

// The block that begins at `bit` of a stream.
template <class Value, int DIMS, int BITS>
INLINE void decode(const bits64* stream, index_t words, index_t bit, Value (&v)[1 << 2 * DIMS]) {
  constexpr int begin = HEADER<Value>;
  Reader in(stream, words, bit);
  const int header = static_cast<int>(in.ahead() & low_bits(begin)), exponent = header >> 1;
  WordOf<Value> u[1 << 2 * DIMS];
  if constexpr (DIMS == 1 && BITS <= 64) {
    line_integers<BITS>(in.ahead(), begin, u);
  } else {
    in.skip(begin);
    get_planes(u, planes_of<Value, DIMS>(exponent), BITS - begin, in);
  }
  to_values<Value, DIMS>(u, exponent, v);
  UNROLL
  for (int i = 0; i < 1 << 2 * DIMS; ++i) v[i] = header & 1 ? v[i] : 0;
}

// --- where values are ----------------------------------------------------------------------------

// Extents of an array, x fastest, and the blocks that cover it.
struct Grid {
  index_t nx, ny, nz;

  METHOD static index_t across(index_t n) { return (n + 3) >> 2; }
  template <int DIMS> METHOD index_t blocks() const {
    return across(nx) * (DIMS > 1 ? across(ny) : 1) * (DIMS > 2 ? across(nz) : 1);
  }
};

// The corner of a block, and how many values it has along each axis, as if it were whole.
struct Corner {
  index_t x, y = 0, z = 0;
};
template <int DIMS> INLINE Corner corner_of(const Grid& grid, index_t block) {
  if (DIMS == 1) return {4 * block};
  const index_t row = block / grid.across(grid.nx), x = 4 * (block - row * grid.across(grid.nx));
  if (DIMS == 2) return {x, 4 * row};
  const index_t layer = row / grid.across(grid.ny);
  return {x, 4 * (row - layer * grid.across(grid.ny)), 4 * layer};
}

// Where a block reaches beyond its array it repeats a value: 0 0 0 0, 0 1 1 0, 0 1 2 0.
INLINE index_t inside(index_t first, int n, index_t count) {
  return first + n < count ? first + n : first + (n == 2 && count - first == 2);
}

template <int DIMS, class Source, class Value>
INLINE void gather(const Source& source, const Grid& grid, index_t block,
                   Value (&v)[1 << 2 * DIMS]) {
  const Corner at = corner_of<DIMS>(grid, block);
  if constexpr (DIMS == 1)
    if (at.x + 3 < grid.nx) return source.four(at.x, v);
  UNROLL
  for (int i = 0; i < 1 << 2 * DIMS; ++i)
    v[i] = source(inside(at.x, i % 4, grid.nx), DIMS > 1 ? inside(at.y, i / 4 % 4, grid.ny) : 0,
                  DIMS > 2 ? inside(at.z, i / 16, grid.nz) : 0);
}

template <int DIMS, class Sink, class Value>
INLINE void scatter(const Sink& sink, const Grid& grid, index_t block,
                    const Value (&v)[1 << 2 * DIMS]) {
  const Corner at = corner_of<DIMS>(grid, block);
  if constexpr (DIMS == 1)
    if (at.x + 3 < grid.nx) return sink.put_four(at.x, v);
  UNROLL
  for (int i = 0; i < 1 << 2 * DIMS; ++i) {
    const index_t x = at.x + i % 4, y = at.y + i / 4 % 4, z = at.z + i / 16;
    if (x < grid.nx && (DIMS < 2 || y < grid.ny) && (DIMS < 3 || z < grid.nz))
      sink.put(x, y, z, v[i]);
  }
}

// Values without gaps; what is only read is const.
template <class Value> struct Array {
  Value* values;
  Grid grid;
  bool aligned;

  METHOD Array(Value* v, const Grid& g) : values(v), grid(g), aligned(in_fours(v)) {}
  METHOD index_t offset(index_t x, index_t y, index_t z) const {
    return (z * grid.ny + y) * grid.nx + x;
  }
  METHOD Value operator()(index_t x, index_t y, index_t z) const { return values[offset(x, y, z)]; }
  template <class V> METHOD void four(index_t x, V (&v)[4]) const {
    load_four(values + x, aligned, v);
  }
  template <class V> METHOD void put(index_t x, index_t y, index_t z, V value) const {
    values[offset(x, y, z)] = value;
  }
  template <class V> METHOD void put_four(index_t x, const V (&v)[4]) const {
    store_four(values + x, aligned, v);
  }
};

}  // namespace zfp
