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
from groundswell.solvers.poisson.ways import PENCILS, SLICES, TENSOR, Way

EMULATED = Path(__file__).parents[1] / "support" / "emulated.h"
LAUNCHED = """
extern "C" void run(unsigned blocks, unsigned threads, const real* x, const real* scale,
                    const int* places, const real* shape, real* y, const int* elements,
                    long long count, double* energies, long long x_pitch, long long y_pitch) {
  launch(blocks, threads, [=] {
    apply_elements(x, x_pitch, scale, places, shape, y, y_pitch, elements, count, energies);
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
    text = text.replace("extern __shared__", "static").replace(
        "bytes_of_block[]", "bytes_of_block[1 << 18]"
    )
    library = folder / "twin.so"
    flags = "-std=c++20 -O1 -shared -fPIC -fno-gnu-unique -pthread -w -ffp-contract=off".split()
    command = [
        cpu._compiler(),
        *flags,
        "-x",
        "c++",
        "-",
        "-include",
        str(EMULATED),
        "-o",
        str(library),
    ]
    subprocess.run(command, input=text + LAUNCHED, text=True, check=True, timeout=120)
    return ctypes.CDLL(str(library)).run


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


# Degree, way, type, metric, and components that are scaled, or 0 for one that is not.
CASES = [
    (1, Way(SLICES, 5), "float64", "affine", 1),
    (3, Way(PENCILS, 4), "float32", "stored", 0),
    (4, Way(SLICES, 4), "float64", "straight", 3),
    (6, Way(SLICES, 2), "float32", "affine", 0),
    (7, Way(TENSOR, 4), "float64", "stored", 2),
    (7, Way(TENSOR, 2), "float64", "straight", 0),
    (15, Way(TENSOR, 1), "float64", "affine", 1),
    (1, Way(PENCILS, 3), "float64", "stored", 2),
    (4, Way(PENCILS, 4), "float32", "affine", 0),
    (7, Way(PENCILS, 2), "float64", "straight", 3),
    (10, Way(PENCILS, 1), "float64", "stored", 0),
    (15, Way(PENCILS, 1), "float64", "stored", 1),
]


@pytest.mark.parametrize(("degree", "way", "dtype", "metric", "scaled"), CASES)
def test_twins_agree(
    backend: Backend,
    tmp_path: Path,
    degree: int,
    way: Way,
    dtype: str,
    metric: str,
    scaled: int,
) -> None:
    mesh = mesh_of(metric)
    space = Space.on(Alone(), mesh, degree, np.arange(mesh.count))
    elements = Elements(backend, space, 0.3, dtype, metric=metric, way=way)
    rng = np.random.default_rng()
    components, count = max(1, scaled), len(space.sharing.ids)
    x = rng.standard_normal((components, count)).astype(dtype)
    scale = rng.standard_normal(count).astype(dtype)
    some = rng.permutation(mesh.count)[: mesh.count - 1]
    wanted, found = np.full((2, components, space.places.size), np.nan, dtype)
    energies = np.full((2, elements.blocks(some)), np.nan)
    for launch in elements.launches(some, x, wanted, energies[0], scale if scaled else None):
        launch()
    constants = {**element_constants(dtype, degree, 0.3), **way.constants(degree)}
    choice = {"SCALED": scaled > 0, "COMPONENTS": components, "GEOMETRY": METRICS[metric]}
    run = emulated(Source(KERNELS / "operator.h", {**constants, **choice}).text(), tmp_path)
    arrays = (x, scale, elements._places, elements._shape, found, some.astype("i4"))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    sizes = [ctypes.c_uint(elements.blocks(some)), ctypes.c_uint(way.threads(degree))]
    total = ctypes.c_void_p(energies[1].ctypes.data)
    counts = map(ctypes.c_longlong, (count, space.places.size))
    run(*sizes, *pointers, ctypes.c_longlong(len(some)), total, *counts)
    most = np.nanmax(np.abs(wanted))
    assert (
        np.isnan(found).sum() == components * space.places.shape[1]
    )  # of the element that was left out
    rounding = {"float64": 1e-13, "float32": 1e-5}[dtype]
    assert np.allclose(found, wanted, rtol=0, atol=rounding * most, equal_nan=True)
    assert np.allclose(energies[1], energies[0], rtol=0, atol=10 * rounding * most * most)
