// Memory variables as they are stored and read again: for test_half_memory.py.
#pragma once
#include "solvers/earthquake/kernels/memory.h"

KERNEL store_memory(Stored* stored, const real* values, const real* stresses, index_t count) {
  FOR_ITEMS(n, count) { stored[n] = to_store(values[n], stresses[n]); }
}

KERNEL read_memory(real* values, const Stored* stored, index_t count) {
  FOR_ITEMS(n, count) { values[n] = restored(stored[n]); }
}
