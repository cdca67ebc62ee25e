// Low-storage Runge-Kutta schemes: r = a r + rates, u = u + b dt r in each stage.
#pragma once
#include "portable.h"

// Coefficients of a stage: a, b dt, and the time since the start of the step, s.
struct Stage {
  double a, b, time;
};

// Traces of other ranks use three buffers in turn, so that no stage writes the buffer that it reads. Three are needed
// because the number of stages is odd.
static_assert(STAGES % 2, "schemes with an even number of stages need two buffers");
INLINE int buffer_of(int stage) { return stage == STAGES - 1 ? 2 : stage % 2; }
