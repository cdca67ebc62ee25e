// What rows of values are reduced to. VALUE is their type, OPERATION what is done to them.
#pragma once
#include "portable.h"

#define SUM 0
#define PRODUCT 1
#define MINIMUM 2
#define MAXIMUM 3

typedef VALUE value_t;

// Whole numbers wrap around; as unsigned ones they are allowed to.
template <class Value> struct Wrapping { typedef Value type; };
template <> struct Wrapping<int> { typedef unsigned int type; };
template <> struct Wrapping<long long> { typedef unsigned long long type; };

// NaN wins.
INLINE value_t reduced(value_t a, value_t b) {
  typedef Wrapping<value_t>::type number;
  switch (OPERATION) {
    case PRODUCT: return static_cast<value_t>(static_cast<number>(a) * static_cast<number>(b));
    case MINIMUM: return b < a || b != b ? b : a;
    case MAXIMUM: return b > a || b != b ? b : a;
    default: return static_cast<value_t>(static_cast<number>(a) + static_cast<number>(b));
  }
}
