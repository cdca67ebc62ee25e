// Values of boxes as codecs take them: in strips of 1024, the last of a box padded with zeros. So
// words are packed as they are coded, and unpacked as they are decoded.
#pragma once
#include "bits.h"

// A run of a box's values; must agree with strips.py.
struct Strip {
  long long address, plane, row, step;  // of the box's first value; bytes between values
  long long rows, length, first, count;
};

namespace strips {

constexpr bits32 STRIP = 1024;

template <class Value> struct Values {
  const Strip* strip;
  bits32 begin;  // number of the strip's first value, as the codec counts

  METHOD Values(const Strip* all, bits32 number) : strip(all + number), begin(number * STRIP) {}

  METHOD Value* place(bits32 n) const {
    const Strip& s = *strip;
    const bits32 at = static_cast<bits32>(s.first) + n, length = static_cast<bits32>(s.length);
    if (at < length) return reinterpret_cast<Value*>(s.address + at * s.step);
    const bits32 rows = static_cast<bits32>(s.rows), line = at / length, plane = line / rows;
    return reinterpret_cast<Value*>(s.address + plane * s.plane + (line - plane * rows) * s.row +
                                    (at - line * length) * s.step);
  }
  METHOD Value operator()(bits32 i) const { return i - begin < strip->count ? *place(i - begin) : 0; }
  METHOD void four(bits32 i, Value (&v)[4]) const {
    UNROLL
    for (int r = 0; r < 4; ++r) v[r] = (*this)(i + r);
  }
  METHOD void put(bits32 i, Value v) const {
    if (i - begin < strip->count) *place(i - begin) = v;
  }
  METHOD void put_four(bits32 i, const Value (&v)[4]) const {
    UNROLL
    for (int r = 0; r < 4; ++r) put(i + r, v[r]);
  }
};

}  // namespace strips
