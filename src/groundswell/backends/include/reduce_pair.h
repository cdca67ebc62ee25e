// The reduction of two values. VALUE is their type, OPERATION the reduction.
#pragma once
#include "portable.h"

enum Reduction { SUM, PRODUCT, MINIMUM, MAXIMUM };  // as in rows.py
typedef VALUE value_t;

// Integers wrap around, which is defined for unsigned types only.
template <class Value> struct Wrapping {
  typedef Value type;
};
template <> struct Wrapping<int> {
  typedef unsigned int type;
};
template <> struct Wrapping<long long> {
  typedef unsigned long long type;
};

// NaN if any value is NaN.
INLINE value_t reduced(value_t a, value_t b) {
  typedef Wrapping<value_t>::type number;
  switch (OPERATION) {
    case PRODUCT: return static_cast<value_t>(static_cast<number>(a) * static_cast<number>(b));
    case MINIMUM: return b < a || b != b ? b : a;
    case MAXIMUM: return b > a || b != b ? b : a;
    default: return static_cast<value_t>(static_cast<number>(a) + static_cast<number>(b));
  }
}
