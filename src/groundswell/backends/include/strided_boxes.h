// Copies of boxes of values in memory, any number of consecutive values at once, with conversion to
// other types.
#pragma once
#include "address.h"
#include "narrow_floats.h"

// Source type and target type of a value.
enum Kind {
  BYTES_1,
  BYTES_2,
  BYTES_4,
  BYTES_8,
  BYTES_16,
  DOUBLE_TO_FLOAT,
  FLOAT_TO_DOUBLE,
  FLOAT_TO_HALF,
  HALF_TO_FLOAT,
  FLOAT_TO_BRAIN,
  BRAIN_TO_FLOAT,
  // Complex numbers with the alignment of one part:
  PAIR_4,
  PAIR_8
};

// Address of a box, and distances in bytes between its planes, rows and values. Odd epochs are
// offset by `flip` bytes, which is how double buffers alternate.
struct StridedBox {
  long long address, plane, row, step, flip;
};

// A box with its source and target; must agree with boxes.py.
struct BoxCopy {
  long long kind, rows, length;  // planes follow from the number of values
  StridedBox from, to;
};

// Consecutive values of a box.
struct Part {
  long long first, count;
};

struct Word16 {
  alignas(16) unsigned int word[4];
};
template <class Number> struct Pair {
  Number first, second;
};

INLINE long long begin_of(const StridedBox& p, index_t epoch) {
  return p.address + (epoch & 1) * p.flip;
}

#if defined(__CUDACC__)

constexpr int IN_FLIGHT = 4;  // number of values of a thread that are in flight together

// Byte offset of value n of a box. Arguments are passed by value: through a reference, they would
// be reloaded after every store, which might have changed them.
struct Offsets {
  index_t plane, row, step;
  bits32 rows, length;

  INLINE Offsets(const StridedBox& p, const BoxCopy& box)
      : plane(p.plane), row(p.row), step(p.step), rows(static_cast<bits32>(box.rows)),
        length(static_cast<bits32>(box.length)) {}

  INLINE index_t operator()(bits32 n) const {
    if (n < length) return n * step;  // a contiguous box
    const bits32 line = n / length, layer = line / rows;
    return layer * plane + (line - layer * rows) * row + (n - line * length) * step;
  }
};

template <class From, class To>
INLINE void copy_values(const BoxCopy& box, const Part& part, index_t epoch) {
  const long long from = begin_of(box.from, epoch), to = begin_of(box.to, epoch);
  const Offsets source(box.from, box), target(box.to, box);
  const bits32 first = static_cast<bits32>(part.first), stride = blockDim.x;
  const bits32 end = first + static_cast<bits32>(part.count);
  for (bits32 n = first + threadIdx.x; n < end; n += IN_FLIGHT * stride) {
    From values[IN_FLIGHT];
    UNROLL
    for (int u = 0; u < IN_FLIGHT; ++u)
      if (n + u * stride < end) values[u] = *as_pointer<From>(from + source(n + u * stride));
    UNROLL
    for (int u = 0; u < IN_FLIGHT; ++u)
      if (n + u * stride < end) *as_pointer<To>(to + target(n + u * stride)) = To(values[u]);
  }
}

#else

template <class From, class To>
INLINE void copy_row(long long from, long long from_step, long long to, long long to_step,
                     index_t count) {
  if (from_step == sizeof(From) && to_step == sizeof(To)) {
    const From* RESTRICT source = as_pointer<From>(from);
    To* RESTRICT target = as_pointer<To>(to);
    PRAGMA(omp simd)
    for (index_t n = 0; n < count; ++n) target[n] = To(source[n]);
  } else {
    for (index_t n = 0; n < count; ++n)
      *as_pointer<To>(to + n * to_step) = To(*as_pointer<From>(from + n * from_step));
  }
}

template <class From, class To>
INLINE void copy_values(const BoxCopy& box, const Part& part, index_t epoch) {
  const long long from = begin_of(box.from, epoch), to = begin_of(box.to, epoch);
  const index_t end = part.first + part.count;
  for (index_t n = part.first, count; n < end; n += count) {
    const index_t row = n / box.length, in_row = n % box.length;
    const index_t plane = row / box.rows, in_plane = row % box.rows;
    count = end - n < box.length - in_row ? end - n : box.length - in_row;
    const StridedBox &f = box.from, &t = box.to;
    copy_row<From, To>(from + plane * f.plane + in_plane * f.row + in_row * f.step, f.step,
                       to + plane * t.plane + in_plane * t.row + in_row * t.step, t.step, count);
  }
}

#endif

INLINE void copy_part(const BoxCopy& box, const Part& part, index_t epoch) {
  switch (box.kind) {
    case BYTES_1: return copy_values<unsigned char, unsigned char>(box, part, epoch);
    case BYTES_2: return copy_values<bits16, bits16>(box, part, epoch);
    case BYTES_4: return copy_values<bits32, bits32>(box, part, epoch);
    case BYTES_8: return copy_values<unsigned long long, unsigned long long>(box, part, epoch);
    case BYTES_16: return copy_values<Word16, Word16>(box, part, epoch);
    case DOUBLE_TO_FLOAT: return copy_values<double, float>(box, part, epoch);
    case FLOAT_TO_DOUBLE: return copy_values<float, double>(box, part, epoch);
    case FLOAT_TO_HALF: return copy_values<float, Half>(box, part, epoch);
    case HALF_TO_FLOAT: return copy_values<Half, float>(box, part, epoch);
    case FLOAT_TO_BRAIN: return copy_values<float, Brain>(box, part, epoch);
    case BRAIN_TO_FLOAT: return copy_values<Brain, float>(box, part, epoch);
    case PAIR_4: return copy_values<Pair<bits32>, Pair<bits32>>(box, part, epoch);
    case PAIR_8:
      return copy_values<Pair<unsigned long long>, Pair<unsigned long long>>(box, part, epoch);
  }
}
