// MPC on a GPU: a warp encodes a chunk, 128 words at a time, four consecutive words in a lane. The
// chunks' places in the stream come from a prefix sum within the launch, by decoupled look-back.
#pragma once

namespace mpc {

constexpr bits32 ALL = 0xffffffff;
constexpr int TURNS = CHUNK / 128;                     // turns of a warp per chunk
constexpr int WARPS = 32768 / (CHUNK * sizeof(word));  // largest number per block: 32 KiB of chunks

INLINE int lane_number() { return threadIdx.x % 32; }

template <class Number> INLINE Number inclusive_sum(Number own) {  // over the lanes of a warp
  UNROLL
  for (int step = 1; step < 32; step *= 2) {
    const Number below = __shfl_up_sync(ALL, own, step);
    if (lane_number() >= step) own += below;
  }
  return own;
}

// --- encoding and decoding of a chunk ------------------------------------------------------------

// Transposes the bits of groups, where word r of lane l is row 4 l + r. Two steps of the five or
// six are within a lane. In the others, each of two lanes keeps half of its columns and rotates the
// other lane's.
class Transposition {
  bits32 keep_4_, rotate_4_, bytes_8_, bytes_16_;
  bool lower_32_;

  METHOD bits32 across(bits32 row) const {
    const bits32 by_4 = __shfl_xor_sync(ALL, row, 1);
    row = (row & keep_4_) | (__funnelshift_l(by_4, by_4, rotate_4_) & ~keep_4_);
    row = __byte_perm(row, __shfl_xor_sync(ALL, row, 2), bytes_8_);
    return __byte_perm(row, __shfl_xor_sync(ALL, row, 4), bytes_16_);
  }
  METHOD void finish(bits32& row) const { row = across(row); }
  METHOD void finish(bits64& row) const {
    bits32 low = across(static_cast<bits32>(row)), high = across(static_cast<bits32>(row >> 32));
    const bits32 other = __shfl_xor_sync(ALL, lower_32_ ? low : high, 8);
    (lower_32_ ? low : high) = other;
    row = static_cast<bits64>(high) << 32 | low;
  }

 public:
  METHOD Transposition() {
    const int lane = lane_number();
    keep_4_ = lane & 1 ? 0xf0f0f0f0 : 0x0f0f0f0f;
    rotate_4_ = lane & 1 ? 28 : 4;
    bytes_8_ = lane & 2 ? 0x3715 : 0x6240;
    bytes_16_ = lane & 4 ? 0x3276 : 0x5410;
    lower_32_ = lane & 8;
  }
  METHOD void operator()(word (&w)[4]) const {
    swap_halves(w[0], w[1], 1);
    swap_halves(w[2], w[3], 1);
    swap_halves(w[0], w[2], 2);
    swap_halves(w[1], w[3], 2);
    UNROLL
    for (int r = 0; r < 4; ++r) finish(w[r]);
  }
};

// Subtracts from each word the previous word, if necessary that of the previous turn.
struct Differences {
  word carry = 0;

  METHOD void operator()(word (&w)[4]) {
    const word last = __shfl_sync(ALL, w[3], lane_number() + 31);
    const word before = lane_number() ? last : carry;
    carry = last;  // only lane 0 uses it: the last lane's
    UNROLL
    for (int r = 3; r > 0; --r) w[r] -= w[r - 1];
    w[0] -= before;
  }
};

// The inverse of Differences.
struct Sums {
  word carry = 0;

  METHOD void operator()(word (&w)[4]) {
    UNROLL
    for (int r = 1; r < 4; ++r) w[r] += w[r - 1];
    const word sum = inclusive_sum(w[3]);
    const word before = carry + sum - w[3];
    carry += __shfl_sync(ALL, sum, 31);
    UNROLL
    for (int r = 0; r < 4; ++r) w[r] += before;
  }
};

// Appends the words that are not zero to `words`, after the first `number`. Returns a word of the
// bitmap, which eight lanes share.
INLINE bits32 append_nonzero(const word (&w)[4], word* words, bits32& number) {
  bits32 map = 0;
  UNROLL
  for (int r = 0; r < 4; ++r) map |= static_cast<bits32>(w[r] != 0) << r;
  const bits32 own = __popc(map), sum = inclusive_sum(own);
  bits32 next = number + sum - own;
  number += __shfl_sync(ALL, sum, 31);
  UNROLL
  for (int r = 0; r < 4; ++r) {
    if (w[r] != 0) words[next] = w[r];
    next += w[r] != 0;
  }
  map <<= 4 * (lane_number() % 8);
  UNROLL
  for (int step = 1; step < 8; step *= 2) map |= __shfl_xor_sync(ALL, map, step);
  return map;
}

// Writes the bitmap of chunk `c` to the stream and its nonzero words to `words`, (CHUNK,); returns
// their number.
INLINE bits32 encode(const Chunk& values, const Layout& layout, bits32 c, word* stream,
                     word* words) {
  const Transposition transpose;
  const bits32 lane = lane_number();
  Differences neighbours, rows;
  bits32 number = 0, maps = 0;
  word ahead[4];
  values.get_four(4 * lane, ahead);
  __syncwarp();  // other lanes may still read the last chunk's words
#pragma unroll 1
  for (int turn = 0; turn < TURNS; ++turn) {
    const bits32 i = 128 * turn + 4 * lane;
    word w[4] = {ahead[0], ahead[1], ahead[2], ahead[3]};
    if (turn + 1 < TURNS) values.get_four(i + 128, ahead);
    neighbours(w);
    transpose(w);
    rows(w);
    const bits32 map = __shfl_sync(ALL, append_nonzero(w, words, number), 8 * (lane % 4));
    if (lane / 4 == turn) maps = map;
  }
  if (c * MAPS + lane < layout.maps()) layout.maps_of(stream)[c * MAPS + lane] = maps;
  __syncwarp();
  return number;
}

// This lane's word of the bitmap of chunk `c`.
INLINE bits32 map_of_lane(const Layout& layout, bits32 c, const word* stream) {
  const bits32 m = c * MAPS + lane_number();
  return m < layout.maps() ? layout.maps_of(stream)[m] : 0;
}

// The number of nonzero words of chunk `c`, according to its bitmap.
INLINE bits32 count_nonzero(const Layout& layout, bits32 c, const word* stream) {
  return __shfl_sync(ALL, inclusive_sum<bits32>(__popc(map_of_lane(layout, c, stream))), 31);
}

// Copies words of a stream from `begin` on; each lane has several loads in flight.
INLINE void copy_words(const word* stream, bits32 begin, index_t capacity, bits32 count, word* to) {
  constexpr int LOADS = 8;
  for (bits32 first = lane_number(); first < count; first += 32 * LOADS) {
    word loaded[LOADS];
    UNROLL
    for (int u = 0; u < LOADS; ++u) {
      const bits32 i = first + 32 * u;
      loaded[u] = i < count && begin + i < capacity ? stream[begin + i] : 0;
    }
    UNROLL
    for (int u = 0; u < LOADS; ++u)
      if (first + 32 * u < count) to[first + 32 * u] = loaded[u];
  }
}

// Decodes chunk `c`, whose nonzero words begin at `begin`; those beyond `capacity` count as zero.
INLINE void decode(const Chunk& values, const Layout& layout, bits32 c, const word* stream,
                   bits32 begin, index_t capacity, word* words) {
  const Transposition transpose;
  const bits32 lane = lane_number();
  const bits32 maps = map_of_lane(layout, c, stream), own = __popc(maps), sum = inclusive_sum(own);
  __syncwarp();
  copy_words(stream, begin, capacity, __shfl_sync(ALL, sum, 31), words);
  __syncwarp();
  Sums rows, neighbours;
#pragma unroll 1
  for (int turn = 0; turn < TURNS; ++turn) {
    const int source = 4 * turn + lane / 8, shift = 4 * (lane % 8);
    const bits32 map = __shfl_sync(ALL, maps, source);
    bits32 next = __shfl_sync(ALL, sum - own, source) + __popc(map & ((1u << shift) - 1));
    word w[4];
    UNROLL
    for (int r = 0; r < 4; ++r) {
      const bool nonzero = map >> shift >> r & 1;
      w[r] = nonzero ? words[next] : 0;
      next += nonzero;
    }
    rows(w);
    transpose(w);
    neighbours(w);
    values.put_four(128 * turn + 4 * lane, w);
  }
}

// --- decoupled look-back -------------------------------------------------------------------------
//
// Merrill and Garland, Single-pass parallel prefix scan with decoupled look-back, NVIDIA technical
// report NVR-2016-002, 2016. A tile has a chunk per warp of a block. It publishes its aggregate,
// the sum of its chunks' numbers, then adds up those of the tiles before it, back to one whose
// inclusive prefix is known, and publishes its own inclusive prefix. Descriptors contain the epoch,
// the number of the launch: those of earlier launches are invalid, so nothing is cleared between
// launches. The epoch is in device memory, so that a graph of launches can be replayed.
//
// Blocks take tiles from a counter, in ascending order. A tile therefore waits only for tiles in
// progress, for any number of resident blocks.
struct Scan {
  bits64 *epoch, *finished, *next, *tiles;
  METHOD explicit Scan(bits64* state)
      : epoch(state), finished(state + 1), next(state + 2), tiles(state + 3) {}
};

enum Flag { INVALID, AGGREGATE, PREFIX };
constexpr int LOOKS = 4;  // descriptors that a lane reads at once

INLINE bits64 descriptor(bits64 epoch, Flag flag, bits32 value) {
  return epoch << 34 | static_cast<bits64>(flag) << 32 | value;
}
INLINE void publish(bits64* tile, bits64 value) {
  asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(tile), "l"(value) : "memory");
}
INLINE bits64 load(const bits64* tile) {
  bits64 value;
  asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(tile) : "memory");
  return value;
}
INLINE Flag flag_of(bits64 tile, bits64 epoch) {
  return tile >> 34 == (epoch & 0x3fffffff) ? static_cast<Flag>(tile >> 32 & 3) : INVALID;
}

// The sum of LOOKS tiles from `last` back, or back to the first one whose prefix is known.
INLINE bits32 sum_back(const bits64* tiles, index_t last, bits64 epoch, bool& complete) {
  bits64 tile[LOOKS];
  UNROLL
  for (int u = 0; u < LOOKS; ++u)
    tile[u] = last - u >= 0 ? load(tiles + last - u) : descriptor(epoch, PREFIX, 0);
  bits32 sum = 0;
  UNROLL
  for (int u = 0; u < LOOKS; ++u) {
    while (!complete && flag_of(tile[u], epoch) == INVALID) tile[u] = load(tiles + last - u);
    sum += complete ? 0 : static_cast<bits32>(tile[u]);
    complete = complete || flag_of(tile[u], epoch) == PREFIX;
  }
  return sum;
}

// The exclusive prefix of a tile, for all lanes of the warp that calls it.
INLINE bits32 exclusive_prefix(const Scan& scan, bits64 epoch, index_t tile, bits32 aggregate) {
  const int lane = lane_number();
  if (lane == 0)
    publish(scan.tiles + tile, descriptor(epoch, tile ? AGGREGATE : PREFIX, aggregate));
  bits32 prefix = 0;
  for (index_t last = tile - 1, found = 0; last >= 0 && !found; last -= 32 * LOOKS) {
    bool complete = false;
    bits32 sum = sum_back(scan.tiles, last - LOOKS * lane, epoch, complete);
    const bits32 lanes = __ballot_sync(ALL, complete);
    if (lanes && lane >= __ffs(lanes)) sum = 0;
    UNROLL
    for (int step = 1; step < 32; step *= 2) sum += __shfl_xor_sync(ALL, sum, step);
    prefix += sum;
    found = lanes != 0;
  }
  if (lane == 0 && tile) publish(scan.tiles + tile, descriptor(epoch, PREFIX, prefix + aggregate));
  return prefix;
}

// Replaces each warp's number by the sum of all earlier numbers, also of other tiles; the last
// entry becomes the sum of all so far. `begins`, (WARPS + 1,), is shared.
INLINE void scan_numbers(const Scan& scan, bits64 epoch, index_t tile, bits32* begins) {
  BARRIER();
  if (threadIdx.x < 32) {
    const int lane = lane_number(), warps = blockDim.x / 32;
    const bits32 own = lane < warps ? begins[lane] : 0, sum = inclusive_sum(own);
    const bits32 aggregate = __shfl_sync(ALL, sum, 31);
    const bits32 prefix = exclusive_prefix(scan, epoch, tile, aggregate);
    if (lane < warps) begins[lane] = prefix + sum - own;
    if (lane == 0) begins[warps] = prefix + aggregate;
  }
  BARRIER();
}

// The next tile, for all threads of a block. A block takes a tile only when it can begin
// immediately, because other blocks will wait for its aggregate.
INLINE index_t take_tile(const Scan& scan, bits32& shared) {
  BARRIER();
  if (threadIdx.x == 0) shared = static_cast<bits32>(atomicAdd(scan.next, 1ull));
  BARRIER();
  return shared;
}

// See mpc.h. `state`, (3 + tiles,), must be zero before the first launch.
template <class Measure, class Write, class Finish>
INLINE void for_each_chunk(index_t chunks, bits64* state, const Measure& measure,
                           const Write& write, const Finish& finish) {
  SHARED(word, words_of_block, [WARPS][CHUNK]);
  SHARED(bits32, begins, [WARPS + 1]);
  SHARED(bits32, next, [1]);
  const Scan scan(state);
  const bits64 epoch = *scan.epoch + 1;
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  word* const words = words_of_block[warp];
  for (index_t tile; (tile = take_tile(scan, next[0])) * warps < chunks;) {
    const index_t c = tile * warps + warp;
    const bits32 number = c < chunks ? measure(static_cast<bits32>(c), words) : 0;
    if (lane_number() == 0) begins[warp] = number;
    scan_numbers(scan, epoch, tile, begins);
    if (c < chunks) write(static_cast<bits32>(c), number, begins[warp], words);
    if (c == chunks - 1 && lane_number() == 0) finish(begins[warps]);
  }
  BARRIER();
  if (threadIdx.x == 0 && atomicAdd(scan.finished, 1ull) == gridDim.x - 1) {  // the last block
    *scan.finished = *scan.next = 0;
    *scan.epoch = epoch;
  }
}

}  // namespace mpc
