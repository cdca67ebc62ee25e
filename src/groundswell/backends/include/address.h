// Memory by its address, which may be another process'.
#pragma once
#include "portable.h"

template <class Value> INLINE Value* at(long long address) {
  return reinterpret_cast<Value*>(address);
}
