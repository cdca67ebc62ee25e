// Planes of bits: how ZFP writes the integers of a block, and streams that start at any bit.
//
// Integers are known once a bit of theirs, or of a later one, was not zero. Of a plane, the bits of
// those that are known are written as they are. The rest is cut after each one: a bit tells
// whether there is another one, then come the bits up to it. Were it the very last, it need not be
// written.
#pragma once
#include "bits.h"

namespace zfp {

// Bits below bit `n`, 0 <= n <= 64.
INLINE bits64 low_bits(int n) { return n < 64 ? (1ull << n) - 1 : ~0ull; }

// --- integers to the base of -2 ------------------------------------------------------------------

template <class Word> METHOD constexpr Word alternate() { return ~static_cast<Word>(0) / 3 * 2; }
template <class Word> INLINE Word to_negabinary(Word x) {
  return (x + alternate<Word>()) ^ alternate<Word>();
}
template <class Word> INLINE Word from_negabinary(Word u) {
  return (u ^ alternate<Word>()) - alternate<Word>();
}

// --- streams -------------------------------------------------------------------------------------

// Writes whole pieces, of 8 to 64 bits, so that threads never share what they write.
template <class Piece> class Writer {
  static constexpr int PIECE = 8 * sizeof(Piece);
  Piece* to_;
  bits64 buffer_ = 0;
  int fill_ = 0;

  METHOD void store(int count) {
    UNROLL
    for (int i = 0; i < 64 / PIECE; ++i)
      if (i * PIECE < count) *to_++ = static_cast<Piece>(buffer_ >> (i * PIECE));
  }

 public:
  METHOD explicit Writer(Piece* to) : to_(to) {}

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

// Reads from any bit on; beyond the stream's `words` all bits are zero.
class Reader {
  const bits64* stream_;
  index_t words_, next_;
  bits64 ahead_, behind_;  // the next 64 bits, and those that follow
  int spare_;              // how many these are

  METHOD bits64 fetch_word() {
    const bits64 word = next_ < words_ ? stream_[next_] : 0;
    ++next_;
    return word;
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
    const bits64 word = fetch_word();
    ahead_ |= word << (64 + spare_);
    behind_ = word >> -spare_;
    spare_ += 64;
  }
};

// --- plane by plane ------------------------------------------------------------------------------

template <int SIZE, class Word> INLINE bits64 plane_of(const Word (&u)[SIZE], int k) {
  bits32 halves[2] = {0, 0};
  UNROLL
  for (int i = 0; i < SIZE; ++i) halves[i / 32] |= static_cast<bits32>(u[i] >> k & 1) << (i % 32);
  return static_cast<bits64>(halves[1]) << 32 | halves[0];
}
template <int SIZE, class Word> INLINE void set_plane(Word (&u)[SIZE], int k, bits64 plane) {
  const bits32 halves[2] = {static_cast<bits32>(plane), static_cast<bits32>(plane >> 32)};
  UNROLL
  for (int i = 0; i < SIZE; ++i) u[i] |= static_cast<Word>(halves[i / 32] >> (i % 32) & 1) << k;
}

// Writes the upper `planes` as far as `left` bits allow; how many of these remain.
template <int SIZE, class Word, class Out>
INLINE int put_planes(const Word (&u)[SIZE], int planes, int left, Out& out) {
  constexpr int width = 8 * sizeof(Word);
  int known = 0;
  for (int k = width - 1; k >= width - planes && left > 0; --k) {
    bits64 rest = plane_of(u, k);
    const int plain = known < left ? known : left;
    out.put(rest & low_bits(plain), plain);
    left -= plain;
    rest = known < 64 ? rest >> known : 0;
    while (known < SIZE && left > 0) {
      const int zeros = rest ? trailing_zeros(rest) : 0;
      const bool told = rest && known + zeros < SIZE - 1;
      const int wanted = 1 + zeros + told, length = wanted < left ? wanted : left;
      const bits64 code = rest ? 1 | static_cast<bits64>(told) << zeros << 1 : 0;
      out.put(code & low_bits(length), length);
      left -= length;
      if (!rest) break;
      rest = rest >> zeros >> 1;
      known += zeros + 1;
    }
  }
  return left;
}

// Reads what put_planes has written.
template <int SIZE, class Word>
INLINE void get_planes(Word (&u)[SIZE], int planes, int left, Reader& in) {
  constexpr int width = 8 * sizeof(Word);
  UNROLL
  for (int i = 0; i < SIZE; ++i) u[i] = 0;
  int known = 0;
  for (int k = width - 1; k >= width - planes && left > 0; --k) {
    const int plain = known < left ? known : left;
    bits64 plane = in.ahead() & low_bits(plain);
    in.skip(plain / 2);
    in.skip(plain - plain / 2);
    left -= plain;
    while (known < SIZE && left > 0) {
      const bool more = in.ahead() & 1;
      in.skip(1);
      --left;
      if (!more) break;
      const int room = SIZE - 1 - known < left ? SIZE - 1 - known : left;
      const int zeros = trailing_zeros(in.ahead());
      const int length = zeros < room ? zeros + 1 : room;
      in.skip(length);
      left -= length;
      known += zeros < room ? zeros : room;
      plane |= 1ull << known++;
    }
    set_plane(u, k, plane);
  }
}

}  // namespace zfp
