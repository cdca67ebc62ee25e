// Chunks of MPC on a GPU: a warp does one at a time, 128 words in a turn. A lane has four of these,
// side by side, so that two of a transposition's steps, and most differences, are its own affair.
#pragma once

namespace mpc {

#define FOR_CHUNKS(c, count)                                                      \
  const bits32 c = (blockIdx.x * blockDim.x + threadIdx.x) / 32;                  \
  if (c < (count))
#define SCRATCH_OF_CHUNK(Word, name)                                              \
  SHARED(Word, name##_of_block, [mpc::CHUNKS_AT_ONCE<Word>][mpc::CHUNK]);                   \
  Word* const name = name##_of_block[threadIdx.x / 32]

constexpr bits32 ALL = 0xffffffff;
constexpr int TURNS = CHUNK / 128;

INLINE int lane_number() { return threadIdx.x % 32; }

// The sum of what this lane and those before it have.
template <class Word> INLINE Word sum_up_to_lane(Word own) {
  UNROLL
  for (int step = 1; step < 32; step *= 2) {
    const Word below = __shfl_up_sync(ALL, own, step);
    if (lane_number() >= step) own += below;
  }
  return own;
}

// Transposes the bits of groups whose row 4 l + r is word r of lane l, counted within the group.
// Where rows lie in different lanes, each keeps half of its columns and rotates the other's.
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
  template <class Word> METHOD void operator()(Word (&w)[4]) const {
    swap_halves(w[0], w[1], 1);
    swap_halves(w[2], w[3], 1);
    swap_halves(w[0], w[2], 2);
    swap_halves(w[1], w[3], 2);
    UNROLL
    for (int r = 0; r < 4; ++r) finish(w[r]);
  }
};

// Differences of neighbours, from turn to turn.
template <class Word> struct Differences {
  Word carry = 0;

  METHOD void operator()(Word (&w)[4]) {
    const Word last = __shfl_sync(ALL, w[3], lane_number() + 31);
    const Word before = lane_number() ? last : carry;
    carry = last;  // matters in lane 0, where it is the last lane's
    UNROLL
    for (int r = 3; r > 0; --r) w[r] -= w[r - 1];
    w[0] -= before;
  }
};

// Their inverse.
template <class Word> struct Sums {
  Word carry = 0;

  METHOD void operator()(Word (&w)[4]) {
    UNROLL
    for (int r = 1; r < 4; ++r) w[r] += w[r - 1];
    const Word sum = sum_up_to_lane(w[3]);
    const Word before = carry + sum - w[3];
    carry += __shfl_sync(ALL, sum, 31);
    UNROLL
    for (int r = 0; r < 4; ++r) w[r] += before;
  }
};

// Words i .. i + 3, zero where there are no more.
template <class Word, class Source>
INLINE void read_four(const Source& source, bits32 i, bits32 count, Word (&w)[4]) {
  if (i + 3 < count) return source.four(i, w);
  UNROLL
  for (int r = 0; r < 4; ++r) w[r] = i + r < count ? source(i + r) : 0;
}

// Subtract from words i .. i + 3 their neighbours in the chunk that begins at `first`.
template <class Word, class Source>
INLINE void subtract_far(const Source& source, bits32 i, bits32 first, const Layout<Word>& layout,
                         Word (&w)[4]) {
  UNROLL
  for (int r = 0; r < 4; ++r)
    if (i + r >= first + layout.dim && i + r < layout.count) w[r] -= source(i + r - layout.dim);
}

// Append the words that are not zero to `kept`; `number` counts them. The bitmap of the eight lanes
// that a word of it stands for.
template <class Word> INLINE bits32 keep_four(const Word (&w)[4], Word* kept, bits32& number) {
  bits32 map = 0;
  UNROLL
  for (int r = 0; r < 4; ++r) map |= static_cast<bits32>(w[r] != 0) << r;
  const bits32 own = set_bits(map), sum = sum_up_to_lane(own);
  bits32 next = number + sum - own;
  number += __shfl_sync(ALL, sum, 31);
  UNROLL
  for (int r = 0; r < 4; ++r) {
    if (w[r] != 0) kept[next] = w[r];
    next += w[r] != 0;
  }
  map <<= 4 * (lane_number() % 8);
  UNROLL
  for (int step = 1; step < 8; step *= 2) map |= __shfl_xor_sync(ALL, map, step);
  return map;
}

// Code chunk `c`: its bitmap into the stream, the kept words into `kept`, (CHUNK,); their number.
template <class Word, class Source>
INLINE bits32 pack_chunk(const Source& source, const Layout<Word>& layout, bits32 c, Word* stream,
                         Word* kept) {
  const Transposition transpose;
  const bits32 first = c * CHUNK, lane = lane_number();
  Differences<Word> near, rows;
  bits32 number = 0, maps = 0;
  Word ahead[4];
  read_four(source, first + 4 * lane, layout.count, ahead);
  __syncwarp();  // whoever still reads what the scratch held before
#pragma unroll 1
  for (int turn = 0; turn < TURNS; ++turn) {
    const bits32 i = first + 128 * turn + 4 * lane;
    Word w[4] = {ahead[0], ahead[1], ahead[2], ahead[3]};
    if (turn + 1 < TURNS) read_four(source, i + 128, layout.count, ahead);
    if (layout.dim == 1) {
      near(w);
      if (first + CHUNK > layout.count) {
        UNROLL
        for (int r = 0; r < 4; ++r)
          if (i + r >= layout.count) w[r] = 0;
      }
    } else {
      subtract_far(source, i, first, layout, w);
    }
    transpose(w);
    rows(w);
    const bits32 map = __shfl_sync(ALL, keep_four(w, kept, number), 8 * (lane % 4));
    if (lane / 4 == turn) maps = map;
  }
  if (c * MAPS + lane < layout.maps()) layout.maps_of(stream)[c * MAPS + lane] = maps;
  __syncwarp();
  return number;
}

// This lane's word of the bitmap of chunk `c`.
template <class Word>
INLINE bits32 map_of_lane(const Layout<Word>& layout, bits32 c, const Word* stream) {
  const bits32 m = c * MAPS + lane_number();
  return m < layout.maps() ? layout.maps_of(stream)[m] : 0;
}

// The number of words that chunk `c` of a stream has kept.
template <class Word>
INLINE bits32 count_kept(const Layout<Word>& layout, bits32 c, const Word* stream) {
  return __shfl_sync(ALL, sum_up_to_lane(set_bits(map_of_lane(layout, c, stream))), 31);
}

// Sums of words `dim` apart, in place. Lanes share the columns: each sums a run of rows, then adds
// what the runs before it have come to.
template <class Word> INLINE void sum_far(Word* words, int dim) {
  const int lane = lane_number(), runs = 32 / dim, column = lane % dim, run = lane / dim;
  const int rows = (CHUNK + dim - 1) / dim, length = (rows + runs - 1) / runs;
  const int begin = run < runs ? run * length * dim + column : CHUNK;
  const int end = run < runs && (run + 1) * length * dim < CHUNK ? (run + 1) * length * dim : CHUNK;
  Word sum = 0;
  for (int i = begin; i < end; i += dim) sum += words[i];
  Word total = sum;
  for (int step = dim; step < 32; step *= 2) {
    const Word below = __shfl_up_sync(ALL, total, step);
    if (lane >= step) total += below;
  }
  sum = total - sum;
  for (int i = begin; i < end; i += dim) words[i] = sum += words[i];
}

// Words `start` .. `start` + `count` - 1 of a stream, many of which are under way together.
template <class Word>
INLINE void fetch_kept(const Word* stream, bits32 start, index_t capacity, bits32 count, Word* to) {
  constexpr int TOGETHER = 8;
  for (bits32 first = lane_number(); first < count; first += 32 * TOGETHER) {
    Word word[TOGETHER];
    UNROLL
    for (int u = 0; u < TOGETHER; ++u) {
      const bits32 i = first + 32 * u;
      word[u] = i < count && start + i < capacity ? stream[start + i] : 0;
    }
    UNROLL
    for (int u = 0; u < TOGETHER; ++u)
      if (first + 32 * u < count) to[first + 32 * u] = word[u];
  }
}

template <class Word, class Sink>
INLINE void put_words(const Sink& sink, bits32 i, bits32 count, const Word (&w)[4]) {
  if (i + 3 < count) return sink.put_four(i, w);
  UNROLL
  for (int r = 0; r < 4; ++r)
    if (i + r < count) sink.put(i + r, w[r]);
}

// Decode chunk `c`, whose kept words begin at `start`; those beyond `capacity` count as zero. They
// are put at the scratch's end: what is decoded grows from its beginning and never overtakes them.
template <class Word, class Sink>
INLINE void unpack_chunk(const Sink& sink, const Layout<Word>& layout, bits32 c, const Word* stream,
                         bits32 start, index_t capacity, Word* words) {
  const Transposition transpose;
  const bits32 lane = lane_number(), maps = map_of_lane(layout, c, stream);
  const bits32 upto = sum_up_to_lane(set_bits(maps));
  const bits32 kept = __shfl_sync(ALL, upto, 31), base = CHUNK - kept + upto - set_bits(maps);
  __syncwarp();
  fetch_kept(stream, start, capacity, kept, words + CHUNK - kept);
  __syncwarp();
  Sums<Word> rows, near;
#pragma unroll 1
  for (int turn = 0; turn < TURNS; ++turn) {
    const int mine = 4 * turn + lane / 8, shift = 4 * (lane % 8);
    const bits32 map = __shfl_sync(ALL, maps, mine);
    bits32 next = __shfl_sync(ALL, base, mine) + set_bits(map & ((1u << shift) - 1));
    Word w[4];
    UNROLL
    for (int r = 0; r < 4; ++r) {
      const bool there = map >> shift >> r & 1;
      w[r] = there ? words[next] : 0;
      next += there;
    }
    rows(w);
    transpose(w);
    const int i = 128 * turn + 4 * lane;
    if (layout.dim == 1) {
      near(w);
      put_words(sink, c * CHUNK + i, layout.count, w);
    } else {
      __syncwarp();
      UNROLL
      for (int r = 0; r < 4; ++r) words[i + r] = w[r];
    }
  }
  if (layout.dim == 1) return;
  __syncwarp();
  sum_far(words, static_cast<int>(layout.dim));
  __syncwarp();
  for (bits32 i = lane; i < CHUNK && c * CHUNK + i < layout.count; i += 32)
    sink.put(c * CHUNK + i, words[i]);
}

}  // namespace mpc
