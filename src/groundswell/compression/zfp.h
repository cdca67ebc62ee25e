// ZFP at a fixed rate, along one axis: Lindstrom, Fixed-rate compressed floating-point arrays, IEEE
// TVCG 20, 2014. Streams are those of libzfp 1.0, bit for bit. A block of four values becomes
// integers with a common exponent, which are transformed. The highest bit planes of the
// coefficients are kept, as many as fit into the ZFP_BITS of a block (zfp_planes.h). A thread
// encodes a block in registers.
//
// libzfp leaves blocks whose values are below 2^-97 (float) or 2^-961 (double) undefined, because
// their scale is infinite. Here, as there on x86, all their integers become the most negative one.
#pragma once
#include "zfp_planes.h"

namespace zfp {

#ifdef DOUBLE_PRECISION
constexpr int EXPONENT = 11, FRACTION = 52, BIAS = 1023;
typedef long long signed_word;
#else
constexpr int EXPONENT = 8, FRACTION = 23, BIAS = 127;
typedef int signed_word;
#endif
constexpr int HEADER = 1 + EXPONENT;  // bits: a one, unless all values are zero, and the exponent

// --- streams of bits -----------------------------------------------------------------------------

// A thread writes whole units of 8 to 64 bits, so that no two threads write to the same unit. At
// odd rates, only every other block ends at a byte boundary, so a thread encodes two blocks.
constexpr int BLOCKS = ZFP_BITS % 8 ? 2 : 1;
constexpr int LOWEST_BIT = (ZFP_BITS | 64) & -(ZFP_BITS | 64);
template <int BITS> struct UnitOf {
  typedef unsigned char Type;
};
template <> struct UnitOf<16> {
  typedef unsigned short Type;
};
template <> struct UnitOf<32> {
  typedef bits32 Type;
};
template <> struct UnitOf<64> {
  typedef bits64 Type;
};
typedef UnitOf<LOWEST_BIT>::Type Unit;
constexpr int UNIT = 8 * sizeof(Unit);

class Writer {
  Unit* to_;
  bits64 buffer_ = 0;
  int fill_ = 0;

  METHOD void store(int count) {
    UNROLL
    for (int i = 0; i < 64 / UNIT; ++i)
      if (i * UNIT < count) *to_++ = static_cast<Unit>(buffer_ >> (i * UNIT));
  }

 public:
  METHOD explicit Writer(Unit* to) : to_(to) {}

  // `length` bits, at most 64; those of `code` beyond must be zero.
  METHOD void put(bits64 code, int length) {
    buffer_ |= code << fill_;
    if (fill_ + length < 64) {
      fill_ += length;
      return;
    }
    store(64);
    buffer_ = fill_ ? code >> (64 - fill_) : 0;
    fill_ += length - 64;
  }
  METHOD void pad(int length) {
    for (; length > 0; length -= 64) put(0, length < 64 ? length : 64);
  }
  METHOD void close() { store(fill_); }
};

// Reads from any bit; beyond the `words` of the stream, all bits are zero.
class Reader {
  const bits64* stream_;
  index_t words_, next_;
  bits64 ahead_, behind_;  // the next 64 bits, and the `spare_` bits that follow
  int spare_;

  METHOD bits64 fetch_word() {
    const bits64 next = next_ < words_ ? stream_[next_] : 0;
    ++next_;
    return next;
  }

 public:
  METHOD Reader(const bits64* stream, index_t words, index_t bit)
      : stream_(stream), words_(words), next_(bit / 64), behind_(0), spare_(0) {
    ahead_ = fetch_word();
    skip(static_cast<int>(bit % 64));
  }
  METHOD bits64 ahead() const { return ahead_; }

  METHOD void skip(int length) {  // less than 64 bits
    if (length == 0) return;
    ahead_ = ahead_ >> length | behind_ << (64 - length);
    behind_ >>= length;
    spare_ -= length;
    if (spare_ >= 0) return;
    const bits64 next = fetch_word();
    ahead_ |= next << (64 + spare_);
    behind_ = next >> -spare_;
    spare_ += 64;
  }
};

// --- values and coefficients ---------------------------------------------------------------------

// The power of two with this exponent field; fields of zero and less give denormal numbers.
INLINE real power_of_two(int field) {
  word bits = 0;
  if (field > 0) bits = static_cast<word>(field) << FRACTION;
  else if (field > -FRACTION) bits = static_cast<word>(1) << (FRACTION - 1 + field);
  real x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

INLINE word half(word x) { return static_cast<word>(static_cast<signed_word>(x) >> 1); }

// 1/16 [4 4 4 4; 5 1 -1 -5; -4 4 4 -4; -2 6 -6 2], in steps that are invertible but for rounding.
INLINE void transform(word& x, word& y, word& z, word& w) {
  x = half(x + w), w -= x;
  z = half(z + y), y -= z;
  x = half(x + z), z -= x;
  w = half(w + y), y -= w;
  w += half(y), y -= half(w);
}
INLINE void transform_back(word& x, word& y, word& z, word& w) {
  y += half(w), w -= half(y);
  y += w, w = 2 * w - y;
  z += x, x = 2 * x - z;
  y += z, z = 2 * z - y;
  w += x, x = 2 * x - w;
}

constexpr word NEGABINARY = ~static_cast<word>(0) / 3 * 2;  // 1010...: bits of negative weight

// The coefficients of a block in negabinary; returns its exponent field plus one, or 0 if all
// values are zero. Conversion to integers rounds towards zero; NaN and infinity become any integer.
INLINE int to_coefficients(const real (&v)[4], word (&u)[4]) {
  constexpr int most = 2 * BIAS;
  real largest = 0;
  UNROLL
  for (int i = 0; i < 4; ++i) largest = fabs(v[i]) > largest ? fabs(v[i]) : largest;
  word bits;
  memcpy(&bits, &largest, sizeof bits);
  const int field = static_cast<int>(bits >> FRACTION), scale = most + WIDTH - 3 - field;
  const real factor = power_of_two(scale);
  UNROLL
  for (int i = 0; i < 4; ++i)
    u[i] = scale > most ? static_cast<word>(1) << (WIDTH - 1)
                        : static_cast<word>(static_cast<signed_word>(factor * v[i]));
  transform(u[0], u[1], u[2], u[3]);
  UNROLL
  for (int i = 0; i < 4; ++i) u[i] = (u[i] + NEGABINARY) ^ NEGABINARY;
  return largest > 0 ? field + 1 : 0;
}

INLINE void to_values(word (&u)[4], int exponent, real (&v)[4]) {
  UNROLL
  for (int i = 0; i < 4; ++i) u[i] = (u[i] ^ NEGABINARY) - NEGABINARY;
  transform_back(u[0], u[1], u[2], u[3]);
  const real factor = power_of_two(exponent - (WIDTH - 2));
  UNROLL
  for (int i = 0; i < 4; ++i) v[i] = factor * static_cast<real>(static_cast<signed_word>(u[i]));
}

// --- blocks --------------------------------------------------------------------------------------

// The number of planes of a block: libzfp has a smallest exponent, which doubles can reach.
INLINE int planes_of(int exponent) {
  constexpr int beyond = 1074 + 4;
  const int most = exponent - BIAS + beyond;
  return most < WIDTH ? most : WIDTH;
}

// Writes the highest planes as far as `left` bits allow; returns how many of these remain.
INLINE int put_planes(const word (&u)[4], int planes, int left, Writer& out) {
  int significant = 0;
  for (int plane = 0; plane < planes && left > 0; ++plane) {
    const bits32 nibble = nibble_of(u, plane);
    const Code code = code_of(nibble, significant);
    const int length = code.length < left ? code.length : left;
    out.put(code.bits & low_bits(length), length);
    left -= length;
    significant = significant_after(nibble, significant);
  }
  return left;
}

INLINE void get_planes(word (&u)[4], int planes, int left, Reader& in) {
  UNROLL
  for (int i = 0; i < 4; ++i) u[i] = 0;
  int significant = 0;
  for (int plane = 0; plane < planes && left > 0; ++plane) {
    Remaining remaining{in.ahead() & low_bits(left), left};
    const bits32 nibble = remaining.take_nibble(significant);
    UNROLL
    for (int i = 0; i < 4; ++i) u[i] |= static_cast<word>(nibble >> i & 1) << (WIDTH - 1 - plane);
    in.skip(left - remaining.left);
    left = remaining.left;
    significant = significant_after(nibble, significant);
  }
}

INLINE void encode(const real (&v)[4], Writer& out) {
  word u[4];
  const int exponent = to_coefficients(v, u);
  const bits64 header = exponent ? (2 * exponent + 1) & low_bits(HEADER) : 0;
#if ZFP_BITS <= 64
  out.put(exponent ? encode_short<ZFP_BITS>(u, header, HEADER) : 0, ZFP_BITS);
#else
  out.put(header, HEADER);
  int left = ZFP_BITS - HEADER;
  if (exponent) left = put_planes(u, planes_of(exponent), left, out);
  out.pad(left);
#endif
}

INLINE void decode(Reader in, real (&v)[4]) {
  const int header = static_cast<int>(in.ahead() & low_bits(HEADER)), exponent = header >> 1;
  word u[4];
#if ZFP_BITS <= 64
  decode_short<ZFP_BITS>(in.ahead(), HEADER, u);
#else
  in.skip(HEADER);
  get_planes(u, planes_of(exponent), ZFP_BITS - HEADER, in);
#endif
  to_values(u, exponent, v);
  UNROLL
  for (int i = 0; i < 4; ++i) v[i] = header & 1 ? v[i] : 0;
}

// --- blocks of strips ----------------------------------------------------------------------------

// The strip of a block; earlier strips may be shorter than STRIP.
INLINE strips::Values<real> strip_of(const Strip* table, index_t count, index_t block) {
  index_t strip = block / (strips::STRIP / 4);
  while (strip + 1 < count && table[strip + 1].first_block <= block) ++strip;
  return strips::Values<real>(table, strip);
}

// Values n to n + 3. A partial block is padded: 0 0 0 0, 0 1 1 0, 0 1 2 0.
INLINE void load_block(const strips::Values<real>& values, bits32 n, real (&v)[4]) {
  const bits32 left = values.size() - n;
  if (left > 3) return values.get_four(n, v);
  UNROLL
  for (bits32 i = 0; i < 4; ++i) v[i] = values.get(n + (i < left ? i : i == 2 && left == 2));
}

}  // namespace zfp

// Encodes `blocks` blocks of strips, (count,), as a stream of `words` words.
KERNEL zfp_compress(const Strip* table, index_t count, index_t blocks, bits64* stream,
                    index_t words) {
  using namespace zfp;
  FOR_ITEMS(n, (blocks + BLOCKS - 1) / BLOCKS) {
    Writer out(reinterpret_cast<Unit*>(stream) + n * (BLOCKS * ZFP_BITS / UNIT));
    index_t b = n * BLOCKS;
    do {
      const strips::Values<real> values = strip_of(table, count, b);
      real v[4];
      load_block(values, static_cast<bits32>(4 * (b - values.strip->first_block)), v);
      encode(v, out);
    } while (++b < blocks && b % BLOCKS);
    if (UNIT < 64 && b == blocks) out.pad(static_cast<int>(words * 64 - blocks * ZFP_BITS));
    if (UNIT < 64) out.close();  // otherwise all is written
  }
}

KERNEL zfp_decompress(const bits64* stream, index_t words, const Strip* table, index_t count,
                      index_t blocks) {
  FOR_ITEMS(b, blocks) {
    real v[4];
    zfp::decode(zfp::Reader(stream, words, b * ZFP_BITS), v);
    const strips::Values<real> values = zfp::strip_of(table, count, b);
    values.put_four(static_cast<bits32>(4 * (b - values.strip->first_block)), v);
  }
}
