// Pointers from integer addresses. The memory may belong to another process.
#pragma once
#include "portable.h"

template <class Value> INLINE Value* as_pointer(long long address) {
  return reinterpret_cast<Value*>(address);
}
