// Loop of the two hot kernels over a box of cells, with the layers of each cell.
//
// An Update has `layers`, `gather(i, j, k)`, which only reads, and `finish(inputs, past, i, j, k,
// in_layer)`, which computes and writes, so that all reads of a cell are in flight together.
// `fetch_cell(c)` prefetches the cache lines of cell c, `fetch_column(c)` those above and below it.
#pragma once
#include "bands.h"
#include "layers.h"

#ifdef __CUDACC__

struct InLayer {
  bool x, y, z;
  METHOD int layer_index_x(int i) const { return layer_index(i, NX, BEFORE_X, AFTER_X); }
};

INLINE InLayer layers_at(int i, int j, int k) {
  return {in_layer(i, NX, BEFORE_X, AFTER_X), in_layer(j, NY, BEFORE_Y, AFTER_Y),
          in_layer(k, NZ, BEFORE_Z, AFTER_Z)};
}

// Each warp prefetches the cache lines of cells some planes ahead, which a later block updates.
// Lines much further ahead would be evicted before their use. This raises the throughput on an
// H200, with 50 MB of cache, by 5 to 10 %. Grids whose two dozen fields fit in the cache stay there
// from step to step.
constexpr int GPU_LINE = 128 / sizeof(real), PLANE_BYTES = NX * NY * sizeof(real);
constexpr int BAND_PLANE = PLANE_BYTES < BAND_BYTES ? PLANE_BYTES : BAND_BYTES;
constexpr bool STAYS = static_cast<index_t>(PLANE) * NZ * sizeof(real) < 2000000;

template <class Update> INLINE void fetch_ahead(const Update& update, const Box& box, Point at) {
  constexpr int planes = (Update::BYTES_AHEAD + BAND_PLANE / 2) / BAND_PLANE;
  if (!STAYS && threadIdx.x % GPU_LINE == 0 && at.k + planes < box.k + box.nk)
    update.fetch_cell(cell_at(at.i, at.j, at.k + planes));
}

template <class Update> INLINE void for_cells_by_layer(const Update& update, const Box& box) {
  const Point at = point_in_band(box);
  if (!contains(box, at)) return;
  fetch_ahead(update, box, at);
  const auto [i, j, k] = at;
  const LayerMemory past = load_memory(update.layers, i, j, k, layers_at(i, j, k));
  const typename Update::Inputs inputs = update.gather(i, j, k);
  // Addresses for stores are computed anew: 64 registers instead of 93 with matched layers, 57
  // instead of 78 with a sponge, and more threads to hide the latency of memory.
  const int x = forget(i), y = forget(j), z = forget(k);
  update.finish(inputs, past, x, y, z, layers_at(x, y, z));
}

#else

// On a CPU the flags are types, so that vector loops have no branches. A loop stays on one side
// along x: the index of a cell in the layers skips the cells in between.
template <bool X, bool Y, bool Z> struct InLayer {
  static constexpr bool x = X, y = Y, z = Z;
  int skipped;
  METHOD int layer_index_x(int i) const { return i - skipped; }
};

// The vector loop below must be a single call without local variables: GCC turns these into arrays
// over the lanes before inlining, and then does not vectorise the loop.
template <class Flags, class Update>
INLINE void update_cell(const Update& update, int i, int j, int k, Flags in) {
  const LayerMemory past = load_memory(update.layers, i, j, k, in);
  update.finish(update.gather(i, j, k), past, i, j, k, in);
}

// Two dozen arrays are more than the hardware prefetchers of a core can follow. Each line of cells
// therefore prefetches the same line of a later row.
constexpr int LINE = 64 / sizeof(real), ROWS_AHEAD = 4;

template <class Flags, class Update>
__attribute__((noinline)) void sweep_row(const Update& update, int begin, int end, int j, int k,
                                         Flags in) {
  for (; begin + LINE <= end; begin += LINE) {
    update.fetch_cell(cell_at(begin, j + ROWS_AHEAD, k));
    update.fetch_column(cell_at(begin, j + ROWS_AHEAD, k));
    fetch_memory(update.layers, begin, j + ROWS_AHEAD, k, in);
    PRAGMA(omp simd)
    for (int i = begin; i < begin + LINE; ++i) update_cell(update, i, j, k, in);
  }
  for (; begin < end; ++begin) update_cell(update, begin, j, k, in);  // remainder of a line
}

template <class Flags, class Update>
inline void sweep_part(const Update& update, const Box& box, int begin, int end, int j, int k,
                       Flags in) {
  begin = begin > box.i ? begin : box.i;
  end = end < box.i + box.ni ? end : box.i + box.ni;
  sweep_row(update, begin, end, j, k, in);
}

template <bool Y, bool Z, class Update>
inline void sweep_rows(const Update& update, const Box& box, int j, int k) {
  using InLayerX = InLayer<MATCHED, Y, Z>;
  sweep_part(update, box, 0, BEFORE_X, j, k, InLayerX{0});
  sweep_part(update, box, NX - AFTER_X, NX, j, k, InLayerX{static_cast<int>(NX - LAYERS_X)});
  sweep_part(update, box, BEFORE_X, NX - AFTER_X, j, k, InLayer<false, Y, Z>{0});
}

template <class Update> inline void for_cells_by_layer(const Update& update, const Box& box) {
  const index_t cells = static_cast<index_t>(box.ni) * box.nj * box.nk;
  PRAGMA(omp parallel for collapse(2) schedule(static) if (SHORT_CELLS < cells))
  for (int k = box.k; k < box.k + box.nk; ++k)
    for (int j = box.j; j < box.j + box.nj; ++j) {
      const FlushDenormals flush;
      const bool y = in_layer(j, NY, BEFORE_Y, AFTER_Y), z = in_layer(k, NZ, BEFORE_Z, AFTER_Z);
      if (y && z) sweep_rows<MATCHED, MATCHED>(update, box, j, k);
      else if (y) sweep_rows<MATCHED, false>(update, box, j, k);
      else if (z) sweep_rows<false, MATCHED>(update, box, j, k);
      else sweep_rows<false, false>(update, box, j, k);
    }
}

#endif
