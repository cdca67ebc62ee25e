// A box of grid points, passed to a kernel as six integers.
#pragma once
#include "portable.h"

// ni x nj x nk points; the first one is (i, j, k).
struct Box {
  int i, j, k, ni, nj, nk;
};

#define BOX_ARGUMENTS                                                                  \
  index_t first_i, index_t first_j, index_t first_k, index_t count_i, index_t count_j, \
      index_t count_k
#define BOX                                                                             \
  Box {                                                                                 \
    static_cast<int>(first_i), static_cast<int>(first_j), static_cast<int>(first_k),    \
        static_cast<int>(count_i), static_cast<int>(count_j), static_cast<int>(count_k) \
  }
