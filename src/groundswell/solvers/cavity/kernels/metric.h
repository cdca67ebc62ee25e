// Coefficients of differences along the axes at a point. On uniform grids they are numbers; on
// stretched grids a table holds them: for each axis, one row by point for each member of `Node`.
#pragma once
#include "lines.h"

// With x- and x+ the neighbours of a point: half, 1 / (x+ - x-), also one over twice the length of its
// cell, 1/m; push, the same for pressure, whose gradient is one-sided next to walls, 1/m; low, high,
// weights of the differences to x- and x+ in a second derivative, 1/m^2 (stretched grids only).
struct Node {
  real half, push, low, high;
};
struct Nodes {
  Node x, y, z;
};

// With a single point along an axis the flow does not vary along it.
template <class Axis> INLINE bool varies() { return Axis::points() > 1; }

template <class Axis> INLINE Node node_at(const real* metric, int n) {
  const real half = REAL(0.5) / Axis::h();
  if (!STRETCHED) return {half, half, REAL(0), REAL(0)};
  const int before = (Axis::axis > 0 ? X::points() : 0) + (Axis::axis > 1 ? Y::points() : 0);
  const real* row = metric + 4 * before + n;
  const int points = Axis::points();
  return {row[0], row[points], row[2 * points], row[3 * points]};
}

// The same index. On a GPU, what is read with it is read where it is used, not kept in registers.
INLINE int again(int n) {
#ifdef __CUDACC__
  if (STRETCHED) return forget(n);
#endif
  return n;
}

INLINE Nodes nodes_at(const real* metric, int i, int j, int k) {
  return {node_at<X>(metric, i), node_at<Y>(metric, j), node_at<Z>(metric, k)};
}

// One over the longest step that is stable for diffusion at a point, 1/s, given that of the grid.
INLINE real diffusion_limit(const Nodes& at, real diffusivity, real of_grid) {
  if (!STRETCHED) return of_grid;
  real sum = varies<X>() ? at.x.low + at.x.high : REAL(0);
  if (varies<Y>()) sum += at.y.low + at.y.high;
  if (varies<Z>()) sum += at.z.low + at.z.high;
  return diffusivity * sum;
}

// Step of pressure that damping allows, times beta squared, m^2/s. On stretched grids, DAMPED_STEP is
// that of cells of unit length along a single axis.
INLINE real damped_step(const Nodes& at) {
  if (!STRETCHED) return REAL(DAMPED_STEP);
  real sum = varies<X>() ? at.x.half : REAL(0);
  if (varies<Y>()) sum += at.y.half;
  if (varies<Z>()) sum += at.z.half;
  return REAL(0.5) * REAL(DAMPED_STEP) * RECIPROCAL(sum);
}
