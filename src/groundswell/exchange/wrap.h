// Ghost layers of a periodic axis, filled from the block's own far side.
#include "portable.h"

INLINE index_t wrap_place(int i, int j, int k) {
  return static_cast<index_t>(k) * PLANE + static_cast<index_t>(j) * ROW + i;
}
INLINE void wrap_one(real* field, index_t to, index_t from) { field[to] = field[from]; }

// Layer l of 2 GHOSTS: the low side's from the outside in, then the high side's from the inside out.
INLINE int ghost_index(int l, int count) { return l < GHOSTS ? l - GHOSTS : count + l - GHOSTS; }
INLINE int source_index(int l, int count) {
  return (ghost_index(l, count) + GHOSTS * count) % count;  // also where count is 1
}

KERNEL wrap_x(real* a, real* b, real* c) {
  FOR_CELLS(l, 2 * GHOSTS, j, NY + 2 * GHOSTS, k, NZ + 2 * GHOSTS) {
    const index_t to = wrap_place(ghost_index(l, NX), j - GHOSTS, k - GHOSTS);
    const index_t from = wrap_place(source_index(l, NX), j - GHOSTS, k - GHOSTS);
    wrap_one(a, to, from);
    wrap_one(b, to, from);
    wrap_one(c, to, from);
  }
}

KERNEL wrap_y(real* a, real* b, real* c) {
  FOR_CELLS(i, NX + 2 * GHOSTS, l, 2 * GHOSTS, k, NZ + 2 * GHOSTS) {
    const index_t to = wrap_place(i - GHOSTS, ghost_index(l, NY), k - GHOSTS);
    const index_t from = wrap_place(i - GHOSTS, source_index(l, NY), k - GHOSTS);
    wrap_one(a, to, from);
    wrap_one(b, to, from);
    wrap_one(c, to, from);
  }
}
