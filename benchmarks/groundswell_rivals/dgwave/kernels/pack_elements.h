// Copies elements to messages: the variables and materials of each or, with WHOLE_ELEMENTS, all
// data of the element (GAPS, sections 4.4 and 7.4).
#pragma once
#include "portable.h"

//   u, r, rates [elements][VALUES]   fields, register and contributions
//   rest [count][REST]               the rest of each copied element
//   listed [count]                   the elements
//   targets [count]                  addresses of their copies, [VALUES][REST] or [3][VALUES][REST]
KERNEL pack_elements(const real* u, const real* r, const real* rates, const real* rest,
                     const long long* listed, const long long* targets, index_t count) {
  FOR_BLOCKS(b, count) {
    const index_t first = listed[b] * VALUES;
    real* const target = reinterpret_cast<real*>(targets[b]);
    FOR_THREADS(n, VALUES) {
      target[n] = u[first + n];
#if WHOLE_ELEMENTS
      target[VALUES + n] = rates[first + n];
      target[2 * VALUES + n] = r[first + n];
#endif
    }
    FOR_THREADS(n, REST) target[(WHOLE_ELEMENTS ? 3 : 1) * VALUES + n] = rest[b * REST + n];
  }
}
