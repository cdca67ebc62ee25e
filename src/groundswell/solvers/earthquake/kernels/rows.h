// Corrections of depth rows in a medium that varies with depth only: its parameters at a point
// differ from those that follow from the adjacent cells; see effective.py.
#pragma once
#include "portable.h"

// Rows [NZ][4]: factors of the density at vz and of the compliance at sxz and syz, then stiffnesses
// added along z and across z, Pa. They are 1, 1, 0, 0 in rows of one material. Kernels for media
// without corrections do not read them.
enum Correction { DENSITY, COMPLIANCE, ALONG_Z, ACROSS_Z, CORRECTIONS };

template <Correction C> INLINE real correction(const real* RESTRICT rows, int k) {
#if CORRECTED_ROWS
  return rows[static_cast<index_t>(CORRECTIONS) * k + C];
#else
  return C == DENSITY || C == COMPLIANCE ? REAL(1) : REAL(0);
#endif
}
