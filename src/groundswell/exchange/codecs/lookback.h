// Offsets of tiles whose sizes are known one after another, within one launch: Merrill & Garland,
// Single-pass parallel prefix scan with decoupled look-back, 2016. GPU only.
//
// A tile posts its own size, looks back over those before it until one has posted where it ends,
// and posts its own end. Posts carry the number of the launch, so none is ever cleared; it is kept
// on the device, so that a recorded graph can be replayed.
//
// Blocks draw tiles like tickets, in rising order. So what a tile waits for is always under way,
// however many of the blocks find room on the device.
#pragma once
#include "bits.h"

namespace lookback {

// Of a launch: its number, how many blocks have finished, the next tile, and a post for each one;
// zeros at first.
struct Board {
  bits64 *number, *finished, *next, *posts;
  METHOD explicit Board(bits64* state)
      : number(state), finished(state + 1), next(state + 2), posts(state + 3) {}
};

#if defined(__CUDACC__)

enum Kind { NOTHING, SIZE, END };
constexpr int POSTS = 4;  // that a lane reads at once

INLINE bits64 post_of(bits64 number, Kind kind, bits32 value) {
  return number << 34 | static_cast<bits64>(kind) << 32 | value;
}
INLINE void put_up(bits64* post, bits64 value) {
  asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(post), "l"(value) : "memory");
}
INLINE bits64 look_at(const bits64* post) {
  bits64 value;
  asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(post) : "memory");
  return value;
}
INLINE Kind kind_of(bits64 post, bits64 number) {
  return post >> 34 == (number & 0x3fffffff) ? static_cast<Kind>(post >> 32 & 3) : NOTHING;
}

// What the tiles `last`, `last` - 1, ... of this lane add up to, as far as the first known end.
INLINE bits32 read_posts(const bits64* posts, index_t last, bits64 number, bool& ended) {
  bits64 post[POSTS];
  UNROLL
  for (int u = 0; u < POSTS; ++u)
    post[u] = last - u >= 0 ? look_at(posts + last - u) : post_of(number, END, 0);
  bits32 sum = 0;
  UNROLL
  for (int u = 0; u < POSTS; ++u) {
    while (!ended && kind_of(post[u], number) == NOTHING) post[u] = look_at(posts + last - u);
    sum += ended ? 0 : static_cast<bits32>(post[u]);
    ended = ended || kind_of(post[u], number) == END;
  }
  return sum;
}

// Where a tile of this size begins; called by one warp.
INLINE bits32 begin_of_tile(const Board& board, bits64 number, index_t tile, bits32 size) {
  constexpr bits32 all = 0xffffffff;
  const int lane = threadIdx.x % 32;
  if (lane == 0) put_up(board.posts + tile, post_of(number, tile ? SIZE : END, size));
  bits32 begin = 0;
  for (index_t last = tile - 1, found = 0; last >= 0 && !found; last -= 32 * POSTS) {
    bool ended = false;
    bits32 sum = read_posts(board.posts, last - POSTS * lane, number, ended);
    const bits32 ends = __ballot_sync(all, ended);
    if (ends && lane >= __ffs(ends)) sum = 0;
    UNROLL
    for (int step = 1; step < 32; step *= 2) sum += __shfl_xor_sync(all, sum, step);
    begin += sum;
    found = ends != 0;
  }
  if (lane == 0 && tile) put_up(board.posts + tile, post_of(number, END, begin + size));
  return begin;
}

// The next tile, for all threads of the block; `tile` is shared. Drawn no sooner than it can be begun
// at once: others will wait for its size.
INLINE index_t draw_tile(const Board& board, bits32& tile) {
  BARRIER();
  if (threadIdx.x == 0) tile = static_cast<bits32>(atomicAdd(board.next, 1ull));
  BARRIER();
  return tile;
}

// Where each warp's part of a tile begins, for all threads of the block. `sizes` and `begins` are
// shared, one entry a warp and, behind them, what all tiles so far come to.
INLINE void begin_of_parts(const Board& board, bits64 number, index_t tile, const bits32* sizes,
                           bits32* begins) {
  BARRIER();
  if (threadIdx.x < 32) {
    const int lane = threadIdx.x, warps = blockDim.x / 32;
    const bits32 own = lane < warps ? sizes[lane] : 0;
    bits32 upto = own;
    UNROLL
    for (int step = 1; step < 32; step *= 2) {
      const bits32 below = __shfl_up_sync(0xffffffff, upto, step);
      if (lane >= step) upto += below;
    }
    const bits32 size = __shfl_sync(0xffffffff, upto, 31);
    const bits32 begin = begin_of_tile(board, number, tile, size);
    if (lane < warps) begins[lane] = begin + upto - own;
    if (lane == 0) begins[warps] = begin + size;
  }
  BARRIER();
}

// The last block to finish makes ready for the next launch.
INLINE void finish(const Board& board, bits64 number, index_t blocks) {
  BARRIER();
  if (threadIdx.x == 0 && atomicAdd(board.finished, 1ull) == static_cast<bits64>(blocks) - 1) {
    *board.finished = *board.next = 0;
    *board.number = number;
  }
}

#endif

}  // namespace lookback
