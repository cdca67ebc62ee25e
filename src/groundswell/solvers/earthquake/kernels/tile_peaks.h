// The largest magnitudes of stresses in tiles of rows, for rock that yields; see plasticity.h.
#pragma once
#include "stress.h"

#if PEAKS
#include "tiles.h"

// Arguments of the update of stresses, and its members.
#define PEAK_ARGUMENTS , Peak* peaks
#define PEAK_MEMBERS peaks, static_cast<int>(first_i + count_i)

struct TilePeaks {
  Peak* of_tiles;
  int end_i;  // of the box

  // Of a cell. The lanes of a warp have consecutive cells of a row, which may be in two tiles.
  METHOD void keep(const Tensor& s, int i, int j, int k) const {
    const int lane = threadIdx.x % 32, first = lane - i % TILE;
    const int end = min(first + TILE, end_i - i + lane);
    const unsigned lanes =
        (first < 0 ? ~0u >> -first : ~0u << first) & (end < 32 ? ~(~0u << end) : ~0u);
    const real largest = fmax(fmax(fmax(fabs(s.xx), fabs(s.yy)), fmax(fabs(s.zz), fabs(s.xy))),
                              fmax(fabs(s.xz), fabs(s.yz)));
    const Peak peak = __reduce_max_sync(lanes, bits_of(rounded_up(largest)));
    if (lane == (first < 0 ? 0 : first)) atomicMax(of_tiles + peak_at(i / TILE + 1, j, k), peak);
  }
  METHOD float rounded_up(real x) const {
#ifdef DOUBLE_PRECISION
    return __double2float_ru(x);
#else
    return x;
#endif
  }
};

#else

#define PEAK_ARGUMENTS
#define PEAK_MEMBERS

struct TilePeaks {
  METHOD void keep(const Tensor&, int, int, int) const {}
};

#endif
