// Arrays coded with ZFP, and back. ZFP_BITS are a block's share of the stream.
#pragma once
#include "strips.h"
#include "zfp.h"

namespace zfp {

METHOD constexpr int common_divisor(int a, int b) { return b ? common_divisor(b, a % b) : a; }

// Threads write whole pieces. Where blocks end within a byte, a thread codes as many as fill bytes.
constexpr int WIDEST = common_divisor(ZFP_BITS, 64), PIECE = WIDEST < 8 ? 8 : WIDEST;
constexpr int RUN = WIDEST < 8 ? 8 / WIDEST : 1;

template <int WIDTH> struct PieceOf;
template <> struct PieceOf<8> { typedef unsigned char Type; };
template <> struct PieceOf<16> { typedef unsigned short Type; };
template <> struct PieceOf<32> { typedef bits32 Type; };
template <> struct PieceOf<64> { typedef bits64 Type; };
typedef PieceOf<PIECE>::Type Piece;

// What is coded: the values of an array, or strips of boxes, each on its own.
#if STRIPS
typedef Strip Item;

// The strip of a block: those before it are not all full.
INLINE index_t strip_of(const Strip* all, index_t count, index_t block) {
  index_t strip = block / (strips::STRIP / 4);
  while (strip + 1 < count && all[strip + 1].fours <= block) ++strip;
  return strip;
}
INLINE void fetch(const Strip* all, index_t count, index_t block, real (&v)[4]) {
  const strips::Values<real> values(all, strip_of(all, count, block));
  const index_t first = values.begin;
  gather(values, first + 4 * (block - values.strip->fours), first + values.strip->count, v);
}
INLINE void store(const Strip* all, index_t count, index_t block, const real (&v)[4]) {
  const strips::Values<real> values(all, strip_of(all, count, block));
  const index_t first = values.begin;
  scatter(values, first + 4 * (block - values.strip->fours), first + values.strip->count, v);
}
#else
typedef real Item;

INLINE void fetch(const real* values, index_t count, index_t block, real (&v)[4]) {
  gather(Array<const real>(values), 4 * block, count, v);
}
INLINE void store(real* values, index_t count, index_t block, const real (&v)[4]) {
  scatter(Array<real>(values), 4 * block, count, v);
}
#endif

}  // namespace zfp

// The stream, (words,), of items, (count,), in so many blocks.
KERNEL zfp_compress(const zfp::Item* items, index_t count, index_t blocks, bits64* stream,
                    index_t words) {
  FOR_ITEMS(n, (blocks + zfp::RUN - 1) / zfp::RUN) {
    zfp::Writer<zfp::Piece> out(reinterpret_cast<zfp::Piece*>(stream) +
                                n * (zfp::RUN * ZFP_BITS / zfp::PIECE));
    index_t b = n * zfp::RUN;
    do {
      real v[4];
      zfp::fetch(items, count, b, v);
      zfp::encode<ZFP_BITS>(v, out);
    } while (++b < blocks && b % zfp::RUN);
    if (zfp::PIECE < 64 && b == blocks) out.pad(static_cast<int>(words * 64 - blocks * ZFP_BITS));
    if (zfp::PIECE < 64) out.close();  // or it is whole words
  }
}

// Items, (count,), in so many blocks, of a stream, (words,).
KERNEL zfp_decompress(const bits64* stream, index_t words, zfp::Item* items, index_t count,
                      index_t blocks) {
  FOR_ITEMS(b, blocks) {
    real v[4];
    zfp::decode<ZFP_BITS>(stream, words, b * ZFP_BITS, v);
    zfp::store(items, count, b, v);
  }
}
