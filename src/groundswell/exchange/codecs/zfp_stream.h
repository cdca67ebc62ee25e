// Streams of bits, which threads write and read from any bit on.
#pragma once
#include "bits.h"

namespace zfp {

// Bits below bit `n`, 0 <= n <= 64.
INLINE bits64 low_bits(int n) { return n < 64 ? (1ull << n) - 1 : ~0ull; }

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

}  // namespace zfp
