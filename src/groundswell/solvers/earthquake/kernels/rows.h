// Corrections of the material of a depth row, where a medium that varies with depth only has other
// parameters at a point than those that follow from its cells; see effective.py.
#pragma once
#include "portable.h"

// Rows [NZ][4]: factors of the density at vz and of the compliance of sxz and syz, then stiffnesses
// added to those along z and across it. They are 1, 1, 0, 0 in other rows and other media.
enum Correction { DENSITY, SOFTNESS, ALONG_Z, ACROSS_Z, CORRECTIONS };

template <Correction C> INLINE real correction(const real* RESTRICT rows, int k) {
  return rows[static_cast<index_t>(CORRECTIONS) * k + C];
}
