// Strips for codes that know arrays only: values side by side, each strip filled up with its last one.
#pragma once
#include "strips.h"

KERNEL pack_strips(const Strip* all, index_t count, word* values) {
  FOR_BLOCKS(b, count) {
    const strips::Values<word> strip(all, static_cast<bits32>(b));
    FOR_THREADS(n, strips::STRIP) values[strip.begin + n] = strip(strip.begin + n);
  }
}

KERNEL unpack_strips(const word* values, index_t count, const Strip* all) {
  FOR_BLOCKS(b, count) {
    const strips::Values<word> strip(all, static_cast<bits32>(b));
    FOR_THREADS(n, strips::STRIP) strip.put(strip.begin + n, values[strip.begin + n]);
  }
}

// How long a stream of nvCOMP's is: its header, and what follows.
KERNEL measure_stream(const bits64* stream, index_t* used) {
  ONE_THREAD { *used = static_cast<index_t>(stream[1] + static_cast<bits32>(stream[5])); }
}
