// Values of boxes as codecs take them: in strips of 1024, the last of a box shorter. So words are
// packed as they are coded, and unpacked as they are decoded. Who reads beyond a strip finds its last value again.
#pragma once
#include "bits.h"

// A run of a box's values; must agree with strips.py.
struct Strip {
  long long address, plane, row, step;  // of the box's first value; bytes between values
  long long rows, length, first;
  int count, fours;  // values; those before them in groups of four, of which each strip has whole ones
};

namespace strips {

constexpr bits32 STRIP = 1024;

template <class Value> struct Values {
  const Strip* strip;
  bits32 begin;  // number of the strip's first value, as the codec counts

  METHOD Values(const Strip* all, bits32 number) : strip(all + number), begin(number * STRIP) {}

  // The place of value n of the strip, and how many of its row begin there.
  METHOD char* place(bits32 n, bits32& together) const {
    const Strip& s = *strip;
    const bits32 at = static_cast<bits32>(s.first) + n, length = static_cast<bits32>(s.length);
    together = length - at;
    if (at < length) return reinterpret_cast<char*>(s.address + at * s.step);
    const bits32 rows = static_cast<bits32>(s.rows), line = at / length, plane = line / rows;
    const bits32 in_row = at - line * length;
    together = length - in_row;
    return reinterpret_cast<char*>(s.address + plane * s.plane + (line - plane * rows) * s.row +
                                   in_row * s.step);
  }
  METHOD Value& value(bits32 n) const {
    bits32 together;
    return *reinterpret_cast<Value*>(place(n, together));
  }
  // Four values whose places are worked out together, if they lie in one row.
  template <class Move> METHOD void each_of_four(bits32 n, const Move& move) const {
    bits32 together;
    char* const first = place(n, together);
    if (together >= 4) {
      UNROLL
      for (int r = 0; r < 4; ++r) move(r, *reinterpret_cast<Value*>(first + r * strip->step));
    } else {
      UNROLL
      for (int r = 0; r < 4; ++r) move(r, value(n + r));
    }
  }

  METHOD Value operator()(bits32 i) const {
    const bits32 last = static_cast<bits32>(strip->count) - 1;
    return value(i - begin < last ? i - begin : last);
  }
  METHOD void put(bits32 i, Value v) const {
    if (i - begin < strip->count) value(i - begin) = v;
  }
  METHOD void four(bits32 i, Value (&v)[4]) const {
    if (i - begin + 3 < strip->count) {
      each_of_four(i - begin, [&](int r, const Value& from) { v[r] = from; });
    } else {
      UNROLL
      for (int r = 0; r < 4; ++r) v[r] = (*this)(i + r);
    }
  }
  METHOD void put_four(bits32 i, const Value (&v)[4]) const {
    if (i - begin + 3 < strip->count) {
      each_of_four(i - begin, [&](int r, Value& to) { to = v[r]; });
    } else {
      UNROLL
      for (int r = 0; r < 4; ++r) put(i + r, v[r]);
    }
  }
};

}  // namespace strips
