// Derivatives along a line of nodes. The nodes are symmetric about the middle of the line, so even
// values have odd derivatives and odd values have even ones. Each part needs a quarter of the
// products (Solomonoff 1992, J. Comput. Phys. 98:174).
#pragma once
#include "reference_element.h"

constexpr int HALF = NODES / 2, UPPER_HALF = (NODES + 1) / 2;

// From the first half of odd, or even, values to the derivatives at the first half.
UNIFORM_TABLE real OF_ODD[UPPER_HALF][HALF] = DERIVATIVES_OF_ODD;
UNIFORM_TABLE real OF_EVEN[HALF][UPPER_HALF] = DERIVATIVES_OF_EVEN;

// Replaces the values of a line by their derivatives, or by the product with the transposed matrix.
template <bool TRANSPOSED_MATRIX, class Value> INLINE void differentiate(Value (&line)[NODES]) {
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
      of_odd = FMA(TRANSPOSED_MATRIX ? OF_EVEN[m][n] : OF_ODD[n][m], odd[m], of_odd);
    UNROLL
    for (int m = 0; m < UPPER_HALF; ++m)
      if (n < HALF)
        of_even = FMA(TRANSPOSED_MATRIX ? OF_ODD[m][n] : OF_EVEN[n][m], even[m], of_even);
    line[n] = of_odd + of_even;
    if (n < HALF) line[NODES - 1 - n] = of_odd - of_even;
  }
}
