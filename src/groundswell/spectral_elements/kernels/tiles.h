// Products of 8 x 8 tiles of planes on a GPU's double-precision tensor cores. Planes are padded
// with zeros to whole tiles.
//
// In m8n8k4, lane 4 p + q has entry (p, q) of A (8 x 4), (q, p) of B (4 x 8), and (p, 2 q) and
// (p, 2 q + 1) of C (PTX ISA, section "Warp-level matrix fragment for mma.m8n8k4").
#pragma once
#include "reference_element.h"

constexpr int SIDE = NODES <= 8 ? 8 : 16;  // of padded planes
constexpr int TILES = SIDE / 8, WARPS = TILES * TILES, PIECES = SIDE / 4;
// Lanes then read different banks, four rows of four neighbours at a time.
constexpr int PITCH = SIDE == 8 ? 12 : 20;

// C += A B.
INLINE void multiply_tiles(real (&c)[2], real a, real b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(c[0]), "+d"(c[1])
               : "d"(a), "d"(b));
}

typedef real Plane[SIDE][PITCH];

INLINE bool inside(int s, int r) { return SIDE == NODES || (s < NODES && r < NODES); }
INLINE real derivative(int row, int column) {
  return inside(row, column) ? DERIVATIVE_AT[row][column] : REAL(0);
}
