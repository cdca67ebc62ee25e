"""The operator's kernels for GPUs, tried without one, against those for CPUs."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groundswell.backends import Backend, Source, cpu, open_backend
from groundswell.exchange.world import Alone
from groundswell.grids.box import Box
from groundswell.solvers.poisson.elements import KERNELS, METRICS, Elements, element_constants
from groundswell.solvers.poisson.space import Space
from groundswell.solvers.poisson.ways import NODES, SLICES, TENSOR, Way

EMULATED = Path(__file__).parents[1] / "support" / "emulated.h"
LAUNCHED = """
extern "C" void run(unsigned blocks, unsigned threads, const real* x, const real* scale,
                    const int* places, const real* shape, real* y, const int* elements,
                    long long count, double* energies) {
  launch(blocks, threads, [=] {
    apply_elements(x, scale, places, shape, y, elements, count, energies);
  });
}
"""
SHEAR = np.array([[1.0, 0.2, 0.0], [0.1, 0.8, -0.3], [0.0, 0.2, 1.3]])


def mesh_of(metric: str) -> Box:
    """Parallelepipeds, or what bends them, enough for two blocks of elements and a part of one."""
    bend = {"affine": 0.0, "straight": 0.1, "stored": 0.1}[metric]
    return Box((3, 3, 1), deform=lambda p: p @ SHEAR + bend * p[..., ::-1] * p[..., [1, 2, 0]])


def emulated(text: str, folder: Path) -> Any:
    """A library in which `run` is the kernel on a GPU's threads."""
    text = re.sub(r"asm volatile\(\"mma[^;]*;[^;]*;", "emulated_mma(c, a, b);", text)
    library = folder / "twin.so"
    flags = "-std=c++20 -O1 -shared -fPIC -fno-gnu-unique -pthread -w -ffp-contract=off -x c++ -".split()
    command = [cpu._compiler(), *flags, "-include", str(EMULATED), "-o", str(library)]
    subprocess.run(command, input=text + LAUNCHED, text=True, check=True, timeout=120)
    return ctypes.CDLL(str(library)).run


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


CASES = [
    (1, Way(NODES, 5), "float64", "affine", True),
    (3, Way(NODES, 4), "float32", "stored", False),
    (4, Way(SLICES, 4), "float64", "straight", True),
    (6, Way(SLICES, 2), "float32", "affine", False),
    (7, Way(TENSOR, 4), "float64", "stored", True),
    (7, Way(TENSOR, 2), "float64", "straight", False),
    (15, Way(TENSOR, 1), "float64", "affine", True),
]


@pytest.mark.parametrize(("degree", "way", "dtype", "metric", "scaled"), CASES)
def test_twins_agree(
    backend: Backend,
    tmp_path: Path,
    degree: int,
    way: Way,
    dtype: str,
    metric: str,
    scaled: bool,
) -> None:
    mesh = mesh_of(metric)
    space = Space.on(Alone(), mesh, degree, np.arange(mesh.count))
    elements = Elements(backend, space, 0.3, dtype, metric=metric, way=way)
    rng = np.random.default_rng()
    x, scale = rng.standard_normal((2, len(space.sharing.ids))).astype(dtype)
    some = rng.permutation(mesh.count)[: mesh.count - 1]
    wanted, found = np.full((2, space.places.size), np.nan, dtype)
    energies = np.full((2, elements.blocks(some)), np.nan)
    for launch in elements.launches(some, x, wanted, energies[0], scale if scaled else None):
        launch()
    constants = element_constants(dtype, degree, 0.3, way)
    choice = {"SCALED": scaled, "GEOMETRY": METRICS[metric]}
    run = emulated(Source(KERNELS / "operator.h", {**constants, **choice}).text(), tmp_path)
    arrays = (x, scale, elements._places, elements._shape, found, some.astype("i4"))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    sizes = [ctypes.c_uint(elements.blocks(some)), ctypes.c_uint(way.threads(degree))]
    total = ctypes.c_void_p(energies[1].ctypes.data)
    run(*sizes, *pointers, ctypes.c_longlong(len(some)), total)
    most = np.nanmax(np.abs(wanted))
    assert np.isnan(found).sum() == space.places.shape[1]  # of the element that was left out
    rounding = {"float64": 1e-13, "float32": 1e-5}[dtype]
    assert np.allclose(found, wanted, rtol=0, atol=rounding * most, equal_nan=True)
    assert np.allclose(energies[1], energies[0], rtol=0, atol=10 * rounding * most * most)
