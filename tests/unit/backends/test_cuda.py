"""The parts of the CUDA backend that need no device."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundswell.backends import Blocks, Cells, Items, nvrtc
from groundswell.backends.cache import KernelCache
from groundswell.backends.cpu import CpuBackend
from groundswell.backends.cuda import CudaBackend
from groundswell.backends.cuda_module import GRID_LIMIT, geometry
from groundswell.errors import BackendError

pytestmark = pytest.mark.each_value


@pytest.fixture
def backend(tmp_path: Path) -> CpuBackend:
    return CpuBackend(KernelCache(tmp_path / "cache"))


class DeviceArray(np.ndarray):
    """Stands in for a CuPy array; `set` refuses what CuPy's does."""

    def set(self, values: Any, stream: Any) -> None:
        assert type(values) is np.ndarray and self.flags.c_contiguous
        assert self.shape == values.shape and self.dtype == values.dtype
        assert values.nbytes <= 2**16  # CUDA might read larger arrays later
        self[...] = values


@pytest.mark.parametrize(
    ("part", "values"),
    [
        (np.s_[:], np.arange(12.0).reshape(3, 4)),
        (np.s_[1:], np.arange(8.0).reshape(2, 4)),
        (np.s_[:, ::2], np.arange(6.0).reshape(3, 2)),
        (np.s_[:], np.arange(12.0).reshape(4, 3).T),
        (np.s_[:], np.arange(12).reshape(3, 4)),
        (np.s_[:], np.arange(4.0)),
    ],
    ids=["whole", "rows", "columns", "transposed", "integers", "one row"],
)
def test_arrays_are_assigned_to_views_of_any_kind(part: Any, values: Any) -> None:
    backend: Any = object.__new__(CudaBackend)
    backend._stream, backend._cupy = nullcontext(), np
    array = np.full((3, 4), -1.0).view(DeviceArray)
    expected = np.full((3, 4), -1.0)
    expected[part] = values
    backend.assign(array[part], values)
    assert (array == expected).all()


def test_only_small_arrays_are_set_in_one_call() -> None:
    backend: Any = object.__new__(CudaBackend)
    backend._stream, backend._cupy = nullcontext(), np
    for count in (2**13, 2**13 + 1):  # 64 KiB, and more
        array, values = np.zeros(count).view(DeviceArray), np.arange(float(count))
        backend.assign(array, values)
        assert (array == values).all()


def covered(extent: Cells) -> np.ndarray:
    """How often a launch visits each cell."""
    grid, block = geometry(extent)
    times = np.zeros((extent.nz, extent.ny, extent.nx), int)
    for number in product(*map(range, grid)):
        x, y, z = (slice(n * size, (n + 1) * size) for n, size in zip(number, block, strict=True))
        times[z, y, x] += 1
    return times


sizes = st.integers(1, 70)


@given(sizes, sizes, sizes)
def test_a_launch_visits_every_cell_once(nx: int, ny: int, nz: int) -> None:
    assert (covered(Cells(nx, ny, nz)) == 1).all()


@given(st.integers(0, 10**6))
def test_a_launch_has_a_thread_for_every_item(count: int) -> None:
    (blocks,), (threads,) = geometry(Items(count))
    assert blocks * threads >= count and (blocks - 1) * threads < max(count, 1)


def test_a_launch_has_a_block_for_every_element() -> None:
    assert geometry(Blocks(17, 96)) == ((17,), (96,))
    assert geometry(Blocks(0, 96)) == ((1,), (96,))  # the kernel's own bound stops it


def test_a_launch_beyond_the_devices_limit_is_refused() -> None:
    assert geometry(Cells(10, 10, 2 * GRID_LIMIT[2]))
    with pytest.raises(BackendError, match="exceeds the device's limit"):
        geometry(Cells(10, 10, 2 * GRID_LIMIT[2] + 1))


REPORT = """
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
    8 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 400 bytes cmem[0]
ptxas info    : Compiling entry function 'second_2' for 'sm_90'
ptxas info    : Function properties for second_2
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers
"""


def test_registers_and_spills_are_read_from_the_compilers_report() -> None:
    wanted = [nvrtc.Resources("first", 168, 32), nvrtc.Resources("second_2", 8, 0)]
    assert nvrtc.parse_resources(REPORT) == wanted
    assert nvrtc.parse_resources("") == []
