// Rows of array indices in sliced ELLPACK format (Kreutzer et al. 2014, SIAM J. Sci. Comput.
// 36:C401). A slice holds rows of similar length, padded to the same width. INDICES_32_BIT says
// whether the indices are stored in 32 bits. Must agree with backends/sliced_ellpack.py.
#pragma once
#include "portable.h"

#if INDICES_32_BIT
typedef int stored_index_t;
#else
typedef long long stored_index_t;
#endif

// The rows that one block of threads processes. Each row reads `from_width` values of the source
// array and writes `to_width` values of the target array.
struct Slice {
  long long first, count;      // first row, number of rows
  long long from_width, from;  // source indices in a row, offset of the slice's source indices
  long long to_width, to;      // the same for the target
};

// Consecutive rows that one warp processes: first row, number of rows, indices in a row, and offset
// of the strip's indices.
struct alignas(4 * sizeof(stored_index_t)) Strip {
  stored_index_t first, count, width, from;
};

// The indices of a slice, column by column: index n of all rows is contiguous. Shorter rows are
// padded with -1. Width 0 means that row r has the single index first + r, which is not stored.
struct SliceIndices {
  const stored_index_t* indices;
  int width, count;
  stored_index_t first;

  METHOD stored_index_t at(int row, int n) const {
    return width ? indices[n * static_cast<index_t>(count) + row] : first + row;
  }
};
