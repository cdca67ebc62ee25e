// The values that codecs encode: boxes in memory, divided into strips of 1024 values; the last
// strip of a box may be shorter. Codecs pack values while encoding, and unpack them while decoding.
#pragma once
#include "portable.h"

typedef unsigned int bits32;
typedef unsigned long long bits64;

// An unsigned integer of the size of a value.
#ifdef DOUBLE_PRECISION
typedef bits64 word;
#else
typedef bits32 word;
#endif

// A row of the table that strip_table of strips.py makes.
struct Strip {
  long long address, plane, row, step;  // address of the first value; distances in bytes
  long long rows, length, first;        // extents of the box; index of the strip's first value
  int count, first_block;               // values; blocks of four values in all earlier strips
};

namespace strips {

constexpr bits32 STRIP = 1024;

// The values of a strip, as floating-point numbers or as words, by their index in the strip.
template <class Value> struct Values {
  const Strip* strip;

  METHOD Values(const Strip* table, index_t number) : strip(table + number) {}

  // The address of value n, and the number of values from there to the end of its row.
  METHOD char* locate(bits32 n, bits32& left_in_row) const {
    const Strip& s = *strip;
    const bits32 at = static_cast<bits32>(s.first) + n, length = static_cast<bits32>(s.length);
    left_in_row = length - at;
    if (at < length) return reinterpret_cast<char*>(s.address + at * s.step);
    const bits32 rows = static_cast<bits32>(s.rows), line = at / length, plane = line / rows;
    const bits32 in_row = at - line * length;
    left_in_row = length - in_row;
    return reinterpret_cast<char*>(s.address + plane * s.plane + (line - plane * rows) * s.row +
                                   in_row * s.step);
  }
  METHOD Value& value(bits32 n) const {
    bits32 left_in_row;
    return *reinterpret_cast<Value*>(locate(n, left_in_row));
  }
  // Values n to n + 3. If they lie in one row, their addresses are computed together.
  template <class Function> METHOD void for_four(bits32 n, const Function& function) const {
    bits32 left_in_row;
    char* const first = locate(n, left_in_row);
    if (left_in_row >= 4) {
      UNROLL
      for (int r = 0; r < 4; ++r) function(r, *reinterpret_cast<Value*>(first + r * strip->step));
    } else {
      UNROLL
      for (int r = 0; r < 4; ++r) function(r, value(n + r));
    }
  }

  METHOD bits32 size() const { return static_cast<bits32>(strip->count); }
  METHOD Value get(bits32 n) const { return value(n < size() ? n : size() - 1); }
  METHOD void put(bits32 n, Value v) const {
    if (n < size()) value(n) = v;
  }
  // The same for n to n + 3. Beyond its end, a strip repeats its last value.
  METHOD void get_four(bits32 n, Value (&v)[4]) const {
    if (n + 3 < size()) return for_four(n, [&](int r, const Value& from) { v[r] = from; });
    UNROLL
    for (int r = 0; r < 4; ++r) v[r] = get(n + r);
  }
  METHOD void put_four(bits32 n, const Value (&v)[4]) const {
    if (n + 3 < size()) return for_four(n, [&](int r, Value& to) { to = v[r]; });
    UNROLL
    for (int r = 0; r < 4; ++r) put(n + r, v[r]);
  }
};

}  // namespace strips
