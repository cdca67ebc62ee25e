// Conversion between floating-point types: FROM and TO are float or double.
#pragma once
#include "portable.h"

KERNEL convert_values(const FROM* RESTRICT x, TO* RESTRICT y, index_t count) {
  FOR_ITEMS(i, count) y[i] = static_cast<TO>(x[i]);
}
