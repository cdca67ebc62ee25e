// Loop over the cells of soft soil, or over those at their edges.
//
// An Update has `start`, the stress that linear rock has after the step, and `advance` for each
// element that may yield, up to `bound`; elements beyond it are advanced while one `begins`.
// `finish` stores what was lost.
#pragma once
#include "bands.h"
#include "soil_elements.h"

#ifdef __CUDACC__

template <class Update>
INLINE typename Update::Values start(const Update& update, int i, int j, int k) {
  const int depth = depth_of(k);
  if (depth == SURFACE) return update.template start<SURFACE>(i, j, k);
  if (depth == SECOND) return update.template start<SECOND>(i, j, k);
  return update.template start<DEEPER>(i, j, k);
}

// Prefetches what elements have lost in 32 cells, a line for each lane of a warp.
INLINE void fetch_elements(const real* own, int elements) {
  constexpr int LINE = 128 / sizeof(real), PER_ROW = 32 / LINE;
  const int lane = threadIdx.x % 32, lines = elements * Deviator::COMPONENTS * PER_ROW;
  for (int n = lane; n < lines; n += 32)
    prefetch_line(own - lane + static_cast<index_t>(n / PER_ROW) * SOIL_ROW + n % PER_ROW * LINE);
}

template <class Update> INLINE void yield_at(const Update& update, int i, int j, int k) {
  const int bound = update.bound(i, j, k), before = update.count(i, j, k);
  fetch_elements(update.soil.at(i, j, k) + element_step(), bound);
  const typename Update::Values now = start(update, i, j, k);
  // Addresses are computed anew, which saves registers.
  i = forget(i), j = forget(j), k = forget(k);
  typename Update::Values lost{};
  const real scale = update.scale(i, j, k);
  const int first = update.soil.curve(k);
  int count = before;
  for (int e = 0; e < ELEMENTS; ++e) {
    if (e >= bound && !update.begins(now, scale, first + e)) break;
    real* const own = update.soil.at(i, j, k) + (1 + e) * element_step();
    if (update.advance(own, lost, now, scale, e, first + e, cell_at(i, j, k)))
      count = larger(count, e + 1);
  }
  if (count > before) update.count(i, j, k) = count;
  update.finish(lost, i, j, k);
}

// All cells, and `more` beyond them along each axis.
template <class Update> INLINE void for_soil(const Update& update, int more) {
  const Box box{SOIL_START,    SOIL_J,       SOIL_K, SOIL_I + SOIL_X - SOIL_START + more,
                SOIL_Y + more, SOIL_Z + more};
  const Point at = point_in_band(box);
  if (contains(box, at) && at.i >= SOIL_I) yield_at(update, at.i, at.j, at.k);
}

#else

// Consecutive cells, SOIL_CELLS at most, so that loops over them are vectorised; each is a single
// call, as in sweep.h.
template <class Update> struct Chunk {
  const Update& update;
  Lanes<typename Update::Values> now, lost;
  real scale[SOIL_CELLS];
  int counts[SOIL_CELLS];

  template <int DEPTH> METHOD void start(int m, int i, int j, int k) {
    now.set(m, update.template start<DEPTH>(i + m, j, k));
    lost.set(m, typename Update::Values{});
    scale[m] = update.scale(i + m, j, k);
    counts[m] = update.count(i + m, j, k);
  }
  METHOD void advance(int m, real* own, int e, int n, index_t c) {
    typename Update::Values sum = lost.get(m);
    const bool yields = update.advance(own + m, sum, now.get(m), scale[m], e, n, c + m);
    lost.set(m, sum);
    counts[m] = yields && counts[m] < e + 1 ? e + 1 : counts[m];
  }
  METHOD void finish(int m, int i, int j, int k) const {
    update.count(i + m, j, k) = counts[m];
    update.finish(lost.get(m), i + m, j, k);
  }
};

template <int DEPTH, class Update>
__attribute__((noinline)) void yield_cells(const Update& update, int i, int j, int k, int cells) {
  Chunk<Update> chunk{update, {}, {}, {}, {}};
  int bound = 0;
  for (int m = 0; m < cells; ++m) bound = larger(bound, update.bound(i + m, j, k));
  PRAGMA(omp simd)
  for (int m = 0; m < cells; ++m) chunk.template start<DEPTH>(m, i, j, k);
  real* own = update.soil.at(i, j, k);
  const index_t c = cell_at(i, j, k);
  const int first = update.soil.curve(k);
  for (int e = 0; e < ELEMENTS; ++e) {
    int begin = e < bound;
    if (!begin) {
      PRAGMA(omp simd reduction(| : begin))
      for (int m = 0; m < cells; ++m)
        begin |= update.begins(chunk.now.get(m), chunk.scale[m], first + e);
    }
    if (!begin) break;
    own += element_step();
    PRAGMA(omp simd)
    for (int m = 0; m < cells; ++m) chunk.advance(m, own, e, first + e, c);
  }
  PRAGMA(omp simd)
  for (int m = 0; m < cells; ++m) chunk.finish(m, i, j, k);
}

template <int DEPTH, class Update>
inline void yield_row(const Update& update, int j, int k, int more) {
  const int end = SOIL_I + SOIL_X + more;
  for (int i = SOIL_I; i < end; i += SOIL_CELLS)
    yield_cells<DEPTH>(update, i, j, k, end - i < SOIL_CELLS ? end - i : SOIL_CELLS);
}

template <class Update> inline void for_soil(const Update& update, int more) {
  PRAGMA(omp parallel for collapse(2) schedule(static))
  for (int k = SOIL_K; k < SOIL_K + SOIL_Z + more; ++k)
    for (int j = SOIL_J; j < SOIL_J + SOIL_Y + more; ++j) {
      const FlushDenormals flush;
      const int depth = depth_of(k);
      if (depth == SURFACE) yield_row<SURFACE>(update, j, k, more);
      else if (depth == SECOND) yield_row<SECOND>(update, j, k, more);
      else yield_row<DEEPER>(update, j, k, more);
    }
}

#endif
