// Arrays coded with ZFP, and back. ZFP_BITS are a block's share of the stream, ZFP_DIMS its axes.
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

// What is coded: an array, or strips of boxes, each on its own.
#if STRIPS
typedef Strip Item;
constexpr index_t BLOCKS = strips::STRIP / 4;

struct Values {
  strips::Values<real> of;

  METHOD real operator()(index_t x, index_t, index_t) const { return of(of.begin + x); }
  METHOD void four(index_t x, real (&v)[4]) const { of.four(of.begin + x, v); }
  METHOD void put(index_t x, index_t, index_t, real value) const { of.put(of.begin + x, value); }
  METHOD void put_four(index_t x, const real (&v)[4]) const { of.put_four(of.begin + x, v); }
};

// The strip of a block, of ny: those before it are not all full.
INLINE index_t strip_of(const Item* all, const Grid& grid, index_t block) {
  index_t strip = block / BLOCKS;
  while (strip + 1 < grid.ny && all[strip + 1].fours <= block) ++strip;
  return strip;
}
INLINE void gather(const Item* all, const Grid& grid, index_t block, real (&v)[4]) {
  const index_t strip = strip_of(all, grid, block);
  const Values values{strips::Values<real>(all, strip)};
  gather<1>(values, Grid{all[strip].count, 1, 1}, block - all[strip].fours, v);
}
INLINE void scatter(const Item* all, const Grid& grid, index_t block, const real (&v)[4]) {
  const index_t strip = strip_of(all, grid, block);
  const Values values{strips::Values<real>(all, strip)};
  scatter<1>(values, Grid{all[strip].count, 1, 1}, block - all[strip].fours, v);
}
#else
typedef real Item;

INLINE void gather(const Item* all, const Grid& grid, index_t block, real (&v)[1 << 2 * ZFP_DIMS]) {
  gather<ZFP_DIMS>(Array<const real>(all, grid), grid, block, v);
}
INLINE void scatter(Item* all, const Grid& grid, index_t block,
                    const real (&v)[1 << 2 * ZFP_DIMS]) {
  scatter<ZFP_DIMS>(Array<real>(all, grid), grid, block, v);
}
#endif

}  // namespace zfp

// The stream, (words,), of values, (nz, ny, nx).
KERNEL zfp_compress(const zfp::Item* values, index_t nx, index_t ny, index_t nz, bits64* stream,
                    index_t words) {
  const zfp::Grid grid{nx, ny, nz};
  const index_t blocks = grid.blocks<ZFP_DIMS>();
  FOR_ITEMS(n, (blocks + zfp::RUN - 1) / zfp::RUN) {
    zfp::Writer<zfp::Piece> out(reinterpret_cast<zfp::Piece*>(stream) +
                                n * (zfp::RUN * ZFP_BITS / zfp::PIECE));
    index_t b = n * zfp::RUN;
    do {
      real v[1 << 2 * ZFP_DIMS];
      zfp::gather(values, grid, b, v);
      zfp::encode<real, ZFP_DIMS, ZFP_BITS>(v, out);
    } while (++b < blocks && b % zfp::RUN);
    if (zfp::PIECE < 64 && b == blocks) out.pad(static_cast<int>(words * 64 - blocks * ZFP_BITS));
    if (zfp::PIECE < 64) out.close();  // or it is whole words
  }
}

// The values, (nz, ny, nx), of a stream, (words,).
KERNEL zfp_decompress(const bits64* stream, index_t words, zfp::Item* values, index_t nx, index_t ny,
                      index_t nz) {
  const zfp::Grid grid{nx, ny, nz};
  FOR_ITEMS(b, grid.blocks<ZFP_DIMS>()) {
    real v[1 << 2 * ZFP_DIMS];
    zfp::decode<real, ZFP_DIMS, ZFP_BITS>(stream, words, b * ZFP_BITS, v);
    zfp::scatter(values, grid, b, v);
  }
}
