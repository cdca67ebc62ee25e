"""The order in which the blocks of a GPU take the points of a box in bands; see bands.h."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from groundswell.backends import Cells, Items, Source
from groundswell.backends.cpu import CpuBackend
from groundswell.backends.cuda_module import GRID_LIMIT, geometry

# One thread at a time, in the order of the blocks. A GPU's quotients are wrong by two units in the
# last place.
KERNELS = """
#include "portable.h"
struct Index {
  int x, y, z;
};
static Index blockIdx, blockDim, gridDim, threadIdx;
static float wrong;
#define __CUDACC__
#define __fdividef(a, b) (wrong * (static_cast<float>(a) / static_cast<float>(b)))
#include "bands.h"
#define EACH(index, size) for (index = 0; index < size; ++index)
KERNEL visit(long long* points, const long long* shape, index_t error, BOX_ARGUMENTS) {
  gridDim = {int(shape[0]), int(shape[1]), int(shape[2])};
  blockDim = {int(shape[3]), int(shape[4]), int(shape[5])};
  wrong = 1 + error * 2.4e-7f;
  FOR_ITEMS(n, 1) {
    EACH(blockIdx.z, gridDim.z) EACH(blockIdx.y, gridDim.y) EACH(blockIdx.x, gridDim.x)
    EACH(threadIdx.z, blockDim.z) EACH(threadIdx.y, blockDim.y) EACH(threadIdx.x, blockDim.x) {
      const Point at = point_in_band(BOX);
      if (!contains(BOX, at)) continue;
      *points++ = at.i;
      *points++ = at.j;
      *points++ = at.k;
    }
  }
}
"""


@cache
def module():
    path = Path(mkdtemp()) / "visit.h"
    path.write_text(KERNELS)
    return CpuBackend().compile(Source(path, {}))


@given(
    st.tuples(*[st.integers(1, 70), st.integers(1, 40), st.integers(2, 40)]),
    st.integers(1, 50),
    st.tuples(*[st.integers(0, 3)] * 3),
    st.sampled_from([-1, 0, 1]),
)
def test_blocks_take_each_point_once_band_by_band(cells, band, first, error) -> None:
    grid, block = geometry(Cells(*cells, band))
    points = np.full((*cells[::-1], 3), -1).reshape(-1, 3)
    names = ("first_i", "first_j", "first_k", "count_i", "count_j", "count_k")
    box = dict(zip(names, (*first, *cells), strict=True))
    shape = np.array([*grid, *block])
    module().launch("visit", Items(1), points=points, shape=shape, error=error, **box)()
    i, j, k = (points - first).T
    numbers = np.ravel_multi_index((k, j, i), cells[::-1])
    assert (np.sort(numbers) == np.arange(len(numbers))).all()
    rows = -(-band // block[1]) * block[1]
    order = np.stack([j // rows, k // block[2], j // block[1], i // block[0]])
    assert (np.diff(np.ravel_multi_index(order, order.max(axis=1) + 1)) >= 0).all()


def test_bands_keep_within_the_limits_of_a_grid() -> None:
    (_, y, z), (_, by, bz) = geometry(Cells(64, 4000, 2000, 8))
    bands = z // (2000 // bz)
    assert z <= GRID_LIMIT[2] and bands * y * by >= 4000
