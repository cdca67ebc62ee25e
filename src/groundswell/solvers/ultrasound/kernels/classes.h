// Classes of points: with CLASSES, the bytes of one (1 or 2; 0 without), properties of the medium are
// in a table of the materials, and each point has the number of its own.
#pragma once
#include "portable.h"

#if CLASSES == 1
typedef unsigned char Class;
#else
typedef unsigned short Class;
#endif

// Values in a record of the table of the coefficients of the equation of state, whose columns the
// kernels get; see device_materials.py.
constexpr int STATE_VALUES = 4;
