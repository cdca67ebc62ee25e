"""The operator's kernels for GPUs, tried without one, against those for CPUs."""

from __future__ import annotations

import ctypes
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import space_on
from hypothesis import given
from hypothesis import strategies as st
from variants import long_variants

from groundswell.backends import Backend, Source, cpu, open_backend
from groundswell.backends.cache import KernelCache, default_folder
from groundswell.backends.source import digest
from groundswell.meshes.box import Box
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.element_operator import (
    DEFAULTS,
    KERNELS,
    METRICS,
    ElementOperator,
    element_constants,
)
from groundswell.solvers.poisson.kernel_variants import OperatorVariant, choose_variant
from groundswell.solvers.poisson.roofline import stored_factors
from groundswell.spectral_elements.kernel_variants import PENCILS, SLICES, TENSOR_CORES
from groundswell.spectral_elements.metric_layout import MetricLayout

pytestmark = pytest.mark.each_value

EMULATED = Path(__file__).parents[3] / "support" / "cuda_emulation.h"
OPERATOR = """
extern "C" bool run(unsigned blocks, unsigned threads, unsigned shared, const real* x,
                    const real* scale, const int* dofs, const real* geometry, real* y,
                    const int* elements, long long count, double* energies, long long x_pitch,
                    long long y_pitch) {
  return launch(blocks, threads, shared, [=] {
    apply_elements(x, x_pitch, scale, dofs, geometry, y, y_pitch, elements, count, energies);
  });
}
"""
METRIC = """
extern "C" bool run(unsigned blocks, unsigned threads, const real* geometry, real* stored,
                    long long count) {
  return launch(blocks, threads, 0, [=] { tabulate_metric(geometry, stored, count); });
}
"""
SHEAR = np.array([[1.0, 0.2, 0.0], [0.1, 0.8, -0.3], [0.0, 0.2, 1.3]])


def mesh_of(metric: str) -> Box:
    """Parallelepipeds, or what bends them, enough for two blocks of elements and a part of one."""
    bend = {"affine": 0.0, "straight": 0.1, "stored": 0.1}[metric]
    moved = lambda p: p @ SHEAR + bend * p[..., ::-1] * p[..., [1, 2, 0]]  # noqa: E731
    return Box((3, 3, 1), deform=moved, order=1)


def emulated(text: str, launched: str) -> Any:
    """A library in which `run` is the kernel, `launched` on a GPU's threads."""
    text = re.sub(r"asm volatile\(\"mma[^;]*;[^;]*;", "emulated_mma(c, a, b);", text)
    text = re.sub(r"extern __shared__[^;]* dynamic_shared_memory\[\];", "", text)
    flags = "-std=c++20 -O1 -shared -fPIC -fno-gnu-unique -pthread -w -ffp-contract=off".split()
    command = [cpu._compiler(), *flags, "-x", "c++", "-", "-include", str(EMULATED)]

    def build(library: Path) -> None:
        whole = [*command, "-o", str(library)]
        subprocess.run(whole, input=text + launched, text=True, check=True, timeout=120)

    key = digest(text, launched, EMULATED.read_text(), *command, cpu._version(command[0]))
    library = KernelCache(default_folder()).get(f"{key}.so", build)
    run = cpu._load_copy(library).run
    run.restype = ctypes.c_bool
    return run


def for_gpus(metric: Any, degree: int, screening: float) -> Any:
    """A CPU's stored metric by planes, in an array that begins with a piece of 16 bytes."""
    given = (degree, metric.itemsize, 6 + bool(screening))
    here, there = (MetricLayout.of(*given, on_host=on_host) for on_host in (True, False))
    nodes, factors = (degree + 1) ** 3, given[2]
    runs = metric.reshape(-1, nodes // here.nodes, factors, here.nodes)
    planes = there.arrange(runs.swapaxes(1, 2).reshape(-1, factors, nodes))
    assert planes.dtype == metric.dtype
    assert planes.ctypes.data % 16 == 0
    return planes


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


# Degree, variant, type, metric, components that are scaled, or 0 for one that is not, and lambda.
CASES = [
    (1, OperatorVariant(SLICES, 5), "float64", "affine", 1, 0.3),
    (3, OperatorVariant(PENCILS, 4), "float32", "stored", 0, 0.3),
    (6, OperatorVariant(SLICES, 2), "float32", "stored", 0, 0.3),
    (7, OperatorVariant(TENSOR_CORES, 4, ring=3), "float64", "stored", 2, 0.3),
    (7, OperatorVariant(TENSOR_CORES, 2), "float64", "straight", 0, 0.3),
    (15, OperatorVariant(PENCILS, 1), "float64", "stored", 1, 0.3),
    (9, OperatorVariant(PENCILS, 1, ring=3), "float64", "stored", 1, 0.0),
]
LONG = [
    (2, OperatorVariant(PENCILS, 6, ring=2), "float64", "stored", 0, 0.3),
    (7, OperatorVariant(TENSOR_CORES, 2, ring=3), "float64", "stored", 0, 0.0),
    (15, OperatorVariant(TENSOR_CORES, 1), "float64", "affine", 1, 0.3),
    (13, OperatorVariant(TENSOR_CORES, 1), "float64", "straight", 1, 0.3),
    (8, OperatorVariant(PENCILS, 1, ring=4), "float64", "stored", 3, 0.3),
    (10, OperatorVariant(PENCILS, 1, ring=3), "float64", "stored", 0, 0.3),
    (14, OperatorVariant(PENCILS, 1), "float64", "affine", 0, 0.3),
    (11, OperatorVariant(PENCILS, 1), "float32", "straight", 2, 0.3),
    (4, OperatorVariant(SLICES, 4), "float64", "straight", 3, 0.3),
    (1, OperatorVariant(PENCILS, 3), "float64", "stored", 2, 0.3),
    (4, OperatorVariant(PENCILS, 4), "float32", "affine", 0, 0.3),
    (7, OperatorVariant(PENCILS, 2), "float64", "straight", 3, 0.3),
    (3, OperatorVariant(PENCILS, 3, ring=9), "float64", "stored", 3, 0.3),
    (4, OperatorVariant(PENCILS, 5, ring=2), "float32", "stored", 2, 0.3),
    (6, OperatorVariant(PENCILS, 3, ring=7), "float32", "stored", 0, 0.3),
    (15, OperatorVariant(TENSOR_CORES, 1, ring=7), "float64", "stored", 1, 0.3),
    (5, OperatorVariant(TENSOR_CORES, 3, ring=2), "float64", "stored", 2, 0.3),
    (12, OperatorVariant(TENSOR_CORES, 1, ring=4), "float64", "stored", 0, 0.3),
    (13, OperatorVariant(PENCILS, 1, ring=4), "float64", "stored", 1, 0.3),
    (5, OperatorVariant(SLICES, 3), "float64", "affine", 0, 0.0),
    (9, OperatorVariant(PENCILS, 1, ring=3), "float32", "stored", 0, 0.3),
]


@pytest.mark.parametrize(
    ("degree", "variant", "dtype", "metric", "scaled", "screening"), [*CASES, *long_variants(LONG)]
)
def test_twins_agree(
    backend: Backend,
    degree: int,
    variant: OperatorVariant,
    dtype: str,
    metric: str,
    scaled: int,
    screening: float,
) -> None:
    space = space_on(mesh_of(metric), degree)
    coefficients = Coefficients.screened(screening)
    elements = ElementOperator(backend, space, coefficients, dtype, metric=metric, variant=variant)
    require_twins(elements, scaled)


# Degree, variant, metric, and the numbers of values of k and of c for each element: 0, 1, or -1 for
# all of its nodes.
COEFFICIENTS = [
    (2, OperatorVariant(SLICES, 3), "affine", -1, 0),
    (3, OperatorVariant(PENCILS, 4), "straight", -1, -1),
    (7, OperatorVariant(TENSOR_CORES, 2), "straight", 1, -1),
]
LONG_COEFFICIENTS = [
    (7, OperatorVariant(TENSOR_CORES, 2), "affine", -1, -1),
    (7, OperatorVariant(PENCILS, 1), "affine", 0, -1),
    (4, OperatorVariant(SLICES, 2), "straight", 0, 1),
    (9, OperatorVariant(PENCILS, 1), "straight", -1, 1),
    (10, OperatorVariant(TENSOR_CORES, 1), "straight", -1, 0),
]


@pytest.mark.parametrize(
    ("degree", "variant", "metric", "k", "c"),
    [*COEFFICIENTS, *long_variants(LONG_COEFFICIENTS)],
)
def test_twins_agree_with_coefficients(
    backend: Backend, degree: int, variant: OperatorVariant, metric: str, k: int, c: int
) -> None:
    space = space_on(mesh_of(metric), degree)
    count, nodes = space.dofs.shape
    sizes = {0: (1, 1), 1: (count, 1), -1: (count, nodes)}
    values = [np.random.default_rng(n + 1).uniform(0.5, 2, sizes[n]) for n in (k, c)]
    coefficients = Coefficients(values[0][:, None], values[1])
    elements = ElementOperator(
        backend, space, coefficients, "float64", metric=metric, variant=variant
    )
    is_affine = metric == "affine"
    wanted = [0 if is_affine and n == 1 else n % (nodes + 1) for n in (k, c)]
    assert [*elements._values.counts.values()] == wanted
    require_twins(elements, 1)


def require_twins(elements: ElementOperator, scaled: int) -> None:
    """The kernels of a GPU and of a CPU find the same for all elements but one.

    Args:
        scaled: components that are scaled, or 0 for one that is not.
    """
    space, dtype, metric = elements.space, elements.dtype, elements.metric
    degree, mesh, variant = space.degree, space.mesh, elements.variant
    screening = elements.screening
    rng = np.random.default_rng(8)
    components, count = max(1, scaled), len(space.sharing.ids)
    x = rng.standard_normal((components, count)).astype(dtype)
    scale = rng.standard_normal(count).astype(dtype)
    some = rng.permutation(mesh.count)[: mesh.count - 1]
    wanted, found = np.full((2, components, space.dofs.size), np.nan, dtype)
    energies = np.full((2, elements.blocks(some)), np.nan)
    for launch in elements.launches(some, x, wanted, energies[0], scale if scaled else None):
        launch()
    constants = {
        **element_constants(
            *(dtype, degree, screening),
            conductivity=elements._values.conductivity,
            on_host=False,
        ),
        **variant.constants(degree),
        **elements._values.counts,
    }
    choice = {"SCALED": scaled > 0, "COMPONENTS": components, "GEOMETRY": METRICS[metric]}
    text = Source(KERNELS / "apply_elements.h", {**constants, **choice}).text()
    run = emulated(text, OPERATOR)
    geometry = elements._geometry
    if metric == "stored":
        geometry = for_gpus(geometry, degree, screening)
    arrays = (x, scale, elements._dofs, geometry, found, some.astype("i4"))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    shared = variant.shared_bytes(degree, x.itemsize, stored_factors(metric, screening))
    sizes = map(ctypes.c_uint, (elements.blocks(some), variant.threads(degree), shared))
    total = ctypes.c_void_p(energies[1].ctypes.data)
    counts = map(ctypes.c_longlong, (count, space.dofs.size))
    assert run(*sizes, *pointers, ctypes.c_longlong(len(some)), total, *counts), "beyond its memory"
    most = np.nanmax(np.abs(wanted))
    assert (
        np.isnan(found).sum() == components * space.dofs.shape[1]
    )  # of the element that was left out
    rounding = {"float64": 1e-13, "float32": 1e-5}[dtype]
    assert np.allclose(found, wanted, rtol=0, atol=rounding * most, equal_nan=True)
    assert np.allclose(energies[1], energies[0], rtol=0, atol=10 * rounding * most * most)


@pytest.mark.parametrize(("degree", "dtype"), [(2, "float64"), (4, "float32"), (5, "float64")])
@pytest.mark.parametrize("screening", [0.0, 0.3])
def test_metrics_have_the_same_planes_wherever_they_are_worked_out(
    backend: Backend, degree: int, dtype: str, screening: float
) -> None:
    mesh = mesh_of("straight")
    space = space_on(mesh, degree)
    stored, straight = (
        ElementOperator(
            backend, space, Coefficients.screened(screening), dtype, metric=metric
        )._geometry
        for metric in ("stored", "straight")
    )
    wanted = for_gpus(stored, degree, screening)
    constants = {
        **DEFAULTS,
        **element_constants(dtype, degree, screening, on_host=False),
        "GEOMETRY": 2,
    }
    run = emulated(Source(KERNELS / "tabulate_metric.h", constants).text(), METRIC)
    found, count = np.zeros_like(wanted), space.dofs.size
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (straight, found)]
    run(ctypes.c_uint(-(-count // 64)), ctypes.c_uint(64), *pointers, ctypes.c_longlong(count))
    rounding = {"float64": 1e-13, "float32": 1e-5}[dtype]
    assert np.allclose(found, wanted, rtol=0, atol=rounding * np.abs(wanted).max())


@given(
    st.sampled_from(("float64", "float32")),
    st.integers(1, 15),
    st.sampled_from((1, 3)),
    st.integers(64, 256),
)
def test_blocks_keep_to_the_room_of_a_device(
    dtype: str, degree: int, components: int, kilobytes: int
) -> None:
    """Also of one with less than an H200; only pencils themselves, two cubes, are never fewer."""
    size = np.dtype(dtype).itemsize
    usual = choose_variant(dtype, degree, "stored", 0.1, components=components)
    found = usual.within(1024 * kilobytes, degree, size, 7)
    assert replace(found, ring=usual.ring) == usual and found.ring <= usual.ring
    assert found.shared_bytes(degree, size, 7) <= 1024 * kilobytes or not found.ring
    assert usual.within(227 * 1024, degree, size, 7) == usual
