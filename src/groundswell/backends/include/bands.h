// GPUs: the point of a thread in a box whose rows are updated in bands, each through all planes.
//
// A launch of Cells(nx, ny, nz, band) has its blocks in the order x, y within a band of rows, z,
// band. The planes of a band that a point reads are then still in the second-level cache when the
// next planes of the band read them again. Whole planes of two dozen fields may be too large.
#pragma once
#include "box.h"

#ifdef __CUDACC__

struct Point {
  int i, j, k;
};

// The point may lie beyond the box.
INLINE Point point_in_band(const Box& box) {
  const float half = 0.5f;  // keeps the quotients far from where rounding would change an integer
  const int layers = __fdividef(box.nk - half, blockDim.z) + 1;
  const int band = __fdividef(blockIdx.z + half, layers);
  const int row = band * gridDim.y + blockIdx.y, layer = blockIdx.z - band * layers;
  return {static_cast<int>(box.i + blockIdx.x * blockDim.x + threadIdx.x),
          static_cast<int>(box.j + row * blockDim.y + threadIdx.y),
          static_cast<int>(box.k + layer * blockDim.z + threadIdx.z)};
}

INLINE bool contains(const Box& box, const Point& at) {
  return at.i < box.i + box.ni && at.j < box.j + box.nj && at.k < box.k + box.nk;
}

#endif
