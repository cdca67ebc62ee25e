"""The macros of portable.h on a GPU: the sample kernels of the CPU's test, and the same answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sample_kernels import check_branches, check_contraction, check_stencil

from groundswell.backends import Cells, Items, Source
from groundswell.backends.source import INCLUDE
from groundswell.errors import BackendError

pytestmark = pytest.mark.gpu
precisions = pytest.mark.parametrize("dtype", ["float32", "float64"])


@precisions
@pytest.mark.parametrize("cells", [(1, 1, 1), (7, 5, 3), (33, 9, 6), (130, 1, 17)])
def test_for_cells_visits_every_point_once(gpu: Any, dtype: str, cells: Any) -> None:
    check_stencil(gpu, dtype, cells, seed=sum(cells))


@precisions
@pytest.mark.parametrize("threads", [32, 96, 256])
@pytest.mark.parametrize(("points", "elements"), [(2, 1), (5, 7), (8, 1300)])
def test_for_blocks_shares_memory(
    gpu: Any, dtype: str, points: int, elements: int, threads: int
) -> None:
    check_contraction(gpu, dtype, points, elements, threads, seed=points)


def test_launches_keep_their_order_and_graphs_repeat_them(gpu: Any) -> None:
    """a = b + 3 c, then b = a + 3 c: after n rounds b has grown by 6 n c."""
    count = 1000
    a, b = (gpu.zeros((count,), np.float32) for _ in range(2))
    c = gpu.to_device(np.arange(count, dtype=np.float32))
    module = gpu.compile(Source(INCLUDE / "triad.h", {}))
    steps = [module.launch("triad", Items(count), *arrays, c, count) for arrays in ((a, b), (b, a))]
    graph = gpu.capture(lambda: [step() for step in steps])
    for times in (0, 1, 7, 8, 21):
        graph.replay(times)
    assert (gpu.to_host(b) == 6 * 37 * np.arange(count)).all()


def test_branches_join_before_what_follows(gpu: Any) -> None:
    check_branches(gpu, 1_000_000, rounds=10)


def test_a_copy_after_a_mark_sees_what_was_done_before_it(gpu: Any) -> None:
    values = gpu.to_device(np.zeros(4, np.float32))
    gpu.assign(values, np.ones(4, np.float32))
    mark = gpu.record_event()
    assert (gpu.to_host(values, mark) == 1).all()
    gpu.synchronize()


def test_launches_beyond_the_limit_never_reach_the_device(gpu: Any) -> None:
    module = gpu.compile(Source(INCLUDE / "triad.h", {}))
    with pytest.raises(BackendError, match="exceeds"):
        module.launch("triad", Cells(1, 1, 2**20))
