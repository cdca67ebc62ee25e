"""The macros of portable.h, on two sample kernels compiled for the CPU."""

from __future__ import annotations

from pathlib import Path
from platform import machine

import numpy as np
import pytest
from sample_kernels import check_contraction, check_stencil

from groundswell.backends import Items, Source
from groundswell.backends.cpu import CpuBackend

PRECISIONS = pytest.mark.parametrize("dtype", ["float32", "float64"])

WORDS = """
#include "portable.h"
KERNEL sizes(long long* out) {
  FOR_ITEMS(n, 1) { out[0] = sizeof(real); out[1] = sizeof(index_t); }
}
KERNEL literal(real* out) { FOR_ITEMS(n, 1) { out[0] = REAL(1) / REAL(3); } }
KERNEL reciprocal(real* out, const real* in, index_t count) {
  FOR_ITEMS(n, count) { out[n] = RECIPROCAL(in[n]); }
}
KERNEL tiny_in_cells(real* out, const real* in) {
  FOR_CELLS(i, 8, j, 2, k, 2) { out[(k * 2 + j) * 8 + i] = in[(k * 2 + j) * 8 + i] * REAL(0.25); }
}
"""


@pytest.fixture(scope="module")
def cpu() -> CpuBackend:
    return CpuBackend()


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("words") / "words.h"
    path.write_text(WORDS)
    return path


def constants(dtype: str) -> dict[str, int]:
    return {"DOUBLE_PRECISION": 1} if dtype == "float64" else {}


@PRECISIONS
@pytest.mark.parametrize("cells", [(1, 1, 1), (7, 5, 3), (33, 9, 6)])
def test_for_cells_visits_every_point_once(cpu, dtype: str, cells) -> None:
    check_stencil(cpu, dtype, cells, seed=sum(cells))


@PRECISIONS
@pytest.mark.parametrize(("points", "elements"), [(2, 1), (5, 7), (8, 13)])
def test_for_blocks_shares_memory(cpu, dtype: str, points: int, elements: int) -> None:
    check_contraction(cpu, dtype, points, elements, threads=64, seed=points)


@PRECISIONS
def test_real_and_index_sizes(cpu, words, dtype: str) -> None:
    out = cpu.zeros((2,), np.int64)
    cpu.compile(Source(words, constants(dtype))).launch("sizes", Items(1), out)()
    assert out.tolist() == [np.dtype(dtype).itemsize, 8]


@PRECISIONS
def test_literals_are_rounded_once(cpu, words, dtype: str) -> None:
    out = cpu.zeros((1,), dtype)
    cpu.compile(Source(words, constants(dtype))).launch("literal", Items(1), out)()
    assert out[0] == np.dtype(dtype).type(1) / np.dtype(dtype).type(3)


@PRECISIONS
def test_reciprocal_is_good_to_two_units(cpu, words, dtype: str) -> None:
    values = np.random.default_rng(5).lognormal(sigma=20, size=1001).astype(dtype)
    out = cpu.zeros(values.shape, dtype)
    module = cpu.compile(Source(words, constants(dtype)))
    module.launch("reciprocal", Items(values.size), out, cpu.to_device(values), values.size)()
    wanted = 1 / values.astype(np.longdouble)
    units = np.abs(out - wanted) / np.spacing(np.abs(wanted).astype(dtype))
    assert units.max() <= 2


@pytest.mark.skipif(machine() != "x86_64", reason="only this processor's setting is changed")
@PRECISIONS
def test_denormal_numbers_count_as_zero_in_cells_only(cpu, words, dtype: str) -> None:
    """Waves die out quickly on a CPU, yet the caller's arithmetic keeps its gradual underflow."""
    tiny = np.full((2, 2, 8), np.finfo(dtype).tiny, dtype)
    out = cpu.to_device(np.ones_like(tiny))
    module = cpu.compile(Source(words, constants(dtype)))
    module.launch("tiny_in_cells", Items(1), out, cpu.to_device(tiny))()
    assert not out.any()
    assert (tiny * np.dtype(dtype).type(0.25)).all()
