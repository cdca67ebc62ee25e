// Arrays coded with MPC, and back: in three launches that run anywhere, or in one where blocks can
// wait for each other.
#pragma once
#include "lookback.h"
#include "mpc.h"
#include "strips.h"

// What is coded: words side by side, or strips of boxes, one a chunk.
#if STRIPS
typedef Strip item;
typedef strips::Values<word> Words;
INLINE Words words_of(const item* all, bits32 chunk) { return Words(all, chunk); }
INLINE Words words_into(const item* all, bits32 chunk) { return Words(all, chunk); }
#else
typedef word item;
INLINE mpc::Contiguous<word> words_of(const item* all, bits32) {
  return mpc::Contiguous<word>(all);
}
INLINE mpc::ContiguousSink<word> words_into(item* all, bits32) {
  return mpc::ContiguousSink<word>(all);
}
#endif

// --- three launches: sizes of chunks, where they begin, the chunks -------------------------------

// Replaces the sizes in starts, (chunks + 1,), by where chunks begin; the last entry is the end.
KERNEL mpc_scan(bits32* starts, index_t chunks, index_t begin) {
  constexpr int PARTS = 256;
  FOR_BLOCKS(b, 1) {
    SHARED(bits32, sums, [PARTS + 1]);
    const index_t length = (chunks + PARTS - 1) / PARTS;
    FOR_THREADS(t, PARTS) {
      bits32 sum = 0;
      for (index_t c = t * length; c < chunks && c < (t + 1) * length; ++c) sum += starts[c];
      sums[t + 1] = sum;
    }
    BARRIER();
    FOR_THREADS(t, 1) {
      sums[0] = static_cast<bits32>(begin);
      for (int p = 0; p < PARTS; ++p) sums[p + 1] += sums[p];
      starts[chunks] = sums[PARTS];
    }
    BARRIER();
    FOR_THREADS(t, PARTS) {
      bits32 next = sums[t];
      for (index_t c = t * length; c < chunks && c < (t + 1) * length; ++c) {
        const bits32 size = starts[c];
        starts[c] = next;
        next += size;
      }
    }
  }
}

// Sizes of the chunks of values, (count,), and the stream's bitmaps.
KERNEL mpc_measure(const item* values, index_t count, index_t dim, word* stream,
                   bits32* starts) {
  const mpc::Layout<word> layout{static_cast<bits32>(count), static_cast<bits32>(dim)};
  FOR_CHUNKS(c, layout.chunks()) {
    SCRATCH_OF_CHUNK(word, kept);
    const bits32 size = mpc::pack_chunk(words_of(values, c), layout, c, stream, kept);
    FOR_LANES(one, 1) starts[c + one] = size;
  }
}

// The rest of the stream, and its length in bytes.
KERNEL mpc_write(const item* values, index_t count, index_t dim, word* stream,
                 const bits32* starts, index_t* used) {
  const mpc::Layout<word> layout{static_cast<bits32>(count), static_cast<bits32>(dim)};
  ONE_THREAD {
    layout.open(stream);
    *used = static_cast<index_t>(starts[layout.chunks()]) * sizeof(word);
  }
  FOR_CHUNKS(c, layout.chunks()) {
    SCRATCH_OF_CHUNK(word, kept);
    const bits32 size = mpc::pack_chunk(words_of(values, c), layout, c, stream, kept);
    FOR_LANES(i, size) stream[starts[c] + i] = kept[i];
  }
}

// Sizes of the chunks of a stream, (capacity,).
KERNEL mpc_count(const word* stream, index_t capacity, index_t count, index_t dim,
                 bits32* starts) {
  const mpc::Layout<word> layout{static_cast<bits32>(count), static_cast<bits32>(dim)};
  FOR_CHUNKS(c, layout.chunks()) {
    const bool opens = layout.opens(stream, capacity);
    const bits32 size = opens ? mpc::count_kept(layout, c, stream) : 0;
    FOR_LANES(one, 1) starts[c + one] = size;
  }
}

// What is wrong with a stream, if anything is: a verdict stays until someone else clears it.
INLINE void judge(const mpc::Layout<word>& layout, const word* stream, index_t capacity, index_t end,
                  index_t* verdict) {
  if (!layout.opens(stream, capacity)) {
    *verdict = mpc::FOREIGN;
  } else if (end > capacity) {
    *verdict = mpc::TOO_SHORT;
  }
}

// The values, (count,), of a stream, unless it is a foreign one.
KERNEL mpc_read(const word* stream, index_t capacity, index_t count, index_t dim, item* values,
                const bits32* starts, index_t* verdict) {
  const mpc::Layout<word> layout{static_cast<bits32>(count), static_cast<bits32>(dim)};
  ONE_THREAD { judge(layout, stream, capacity, starts[layout.chunks()], verdict); }
  FOR_CHUNKS(c, layout.chunks()) {
    SCRATCH_OF_CHUNK(word, scratch);
    if (layout.opens(stream, capacity))
      mpc::unpack_chunk(words_into(values, c), layout, c, stream, starts[c], capacity,
                        scratch);
  }
}

// --- one launch ----------------------------------------------------------------------------------

#if defined(__CUDACC__)

// A tile is a chunk for each warp. Warps without one take part, with nothing.
KERNEL mpc_compress(const item* values, index_t count, index_t dim, word* stream, index_t* used,
                    bits64* state, index_t blocks) {
  const mpc::Layout<word> layout{static_cast<bits32>(count), static_cast<bits32>(dim)};
  const lookback::Board board(state);
  const bits64 number = *board.number + 1;
  const index_t chunks = layout.chunks();
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  FOR_BLOCKS(b, blocks) {
    SCRATCH_OF_CHUNK(word, kept);
    SHARED(bits32, sizes, [mpc::CHUNKS_AT_ONCE<word>]);
    SHARED(bits32, begins, [mpc::CHUNKS_AT_ONCE<word> + 1]);
    SHARED(bits32, next, [1]);
    for (index_t tile; (tile = lookback::draw_tile(board, next[0])) * warps < chunks;) {
      const index_t c = tile * warps + warp;
      const bits32 size =
          c < chunks ? mpc::pack_chunk(words_of(values, c), layout, c, stream, kept) : 0;
      FOR_LANES(one, 1) sizes[warp + one] = size;
      lookback::begin_of_parts(board, number, tile, sizes, begins);
      word* const target = stream + layout.begin() + begins[warp];
      FOR_LANES(i, size) target[i] = kept[i];
      if (c == chunks - 1) {
        FOR_LANES(one, 1) {
          layout.open(stream);
          *used = static_cast<index_t>(layout.begin() + begins[warps]) * sizeof(word);
        }
      }
    }
    lookback::finish(board, number, blocks);
  }
}

KERNEL mpc_decompress(const word* stream, index_t capacity, index_t count, index_t dim,
                      item* values, index_t* verdict, bits64* state, index_t blocks) {
  const mpc::Layout<word> layout{static_cast<bits32>(count), static_cast<bits32>(dim)};
  const lookback::Board board(state);
  const bits64 number = *board.number + 1;
  const index_t chunks = layout.chunks();
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const bool opens = layout.opens(stream, capacity);
  FOR_BLOCKS(b, blocks) {
    SCRATCH_OF_CHUNK(word, scratch);
    SHARED(bits32, sizes, [mpc::CHUNKS_AT_ONCE<word>]);
    SHARED(bits32, begins, [mpc::CHUNKS_AT_ONCE<word> + 1]);
    SHARED(bits32, next, [1]);
    for (index_t tile; (tile = lookback::draw_tile(board, next[0])) * warps < chunks;) {
      const index_t c = tile * warps + warp;
      const bits32 size = c < chunks && opens ? mpc::count_kept(layout, c, stream) : 0;
      FOR_LANES(one, 1) sizes[warp + one] = size;
      lookback::begin_of_parts(board, number, tile, sizes, begins);
      if (c < chunks && opens)
        mpc::unpack_chunk(words_into(values, c), layout, c, stream,
                          layout.begin() + begins[warp], capacity, scratch);
      if (c == chunks - 1) {
        FOR_LANES(one, 1)
          judge(layout, stream, capacity, layout.begin() + begins[warps], verdict);
      }
    }
    lookback::finish(board, number, blocks);
  }
}

#endif
