// Derivatives along a line of nodes. Nodes lie as densely at one end as at the other, so what is even
// about a line's middle has an odd derivative and the other way round, and each of the two parts wants a
// quarter of the products (Solomonoff 1992, J. Comput. Phys. 98:174).
#pragma once
#include "element.h"

constexpr int HALF = NODES / 2, UPPER_HALF = (NODES + 1) / 2;

// What derivatives at a line's first half come to of odd values, and of even ones, from that half.
UNIFORM_TABLE real OF_ODD[UPPER_HALF][HALF] = DERIVATIVES_OF_ODD;
UNIFORM_TABLE real OF_EVEN[HALF][UPPER_HALF] = DERIVATIVES_OF_EVEN;

// A line's derivatives in place of its values; or what the transposed matrix makes of these.
template <bool ADJOINT, class Value> INLINE void derive(Value (&line)[NODES]) {
  Value even[UPPER_HALF], odd[HALF];
  UNROLL
  for (int m = 0; m < HALF; ++m) {
    even[m] = line[m] + line[NODES - 1 - m];
    odd[m] = line[m] - line[NODES - 1 - m];
  }
  if (NODES % 2) even[UPPER_HALF - 1] = line[HALF];
  UNROLL
  for (int n = 0; n < UPPER_HALF; ++n) {
    Value of_odd{}, of_even{};
    UNROLL
    for (int m = 0; m < HALF; ++m)
      of_odd = FMA(ADJOINT ? OF_EVEN[m][n] : OF_ODD[n][m], odd[m], of_odd);
    UNROLL
    for (int m = 0; m < UPPER_HALF; ++m)
      if (n < HALF) of_even = FMA(ADJOINT ? OF_ODD[m][n] : OF_EVEN[n][m], even[m], of_even);
    line[n] = of_odd + of_even;
    if (n < HALF) line[NODES - 1 - n] = of_odd - of_even;
  }
}
