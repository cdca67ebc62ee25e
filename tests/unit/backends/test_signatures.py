"""Which arrays a kernel reads and writes, from its signature."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sample_kernels import KERNELS, stencil_source
from source_collector import cavity_sources, dgwave_source, solver_sources

from groundswell.backends import Items, Source, describe, list_launches
from groundswell.backends.cpu import CpuBackend
from groundswell.backends.signature import KernelParameter, signature
from groundswell.backends.source import INCLUDE
from groundswell.solvers.cavity.level_kernels import KERNELS as CAVITY
from groundswell.solvers.earthquake.step_source import KERNELS as EARTHQUAKE

TRIAD = Source(INCLUDE / "triad.h", {})


@pytest.fixture(scope="module")
def cpu() -> CpuBackend:
    return CpuBackend()


F, WRITES = "KERNEL f(T a) {}", (KernelParameter("a", "writes"),)


def access(source: Source, kernel: str) -> dict[str, str | None]:
    found = signature(source.text(), kernel)
    assert found is not None
    return {each.name: each.access for each in found}


def test_signatures_of_sample_kernels() -> None:
    assert access(TRIAD, "triad") == {"a": "writes", "b": "reads", "c": "reads", "count": None}
    stencil = access(stencil_source("float32", (4, 4, 4)), "laplacian")
    assert list(stencil.values()) == ["writes", "reads"]
    assert KERNELS.is_dir()


def test_signatures_of_macros() -> None:
    """Macros with parameters that they paste, and macros of macros."""
    found = access(Source(CAVITY / "step.h", {}), "advance")
    assert {name for name, each in found.items() if each == "writes"} == {
        f"{field}2" for field in "puvwt"
    }
    assert [name for name, each in found.items() if each is None][:2] == ["first_i", "first_j"]
    found = access(Source(EARTHQUAKE / "step.h", {}), "update_velocity")
    written = [name for name, each in found.items() if each == "writes"]
    assert written == ["vx", "vy", "vz", "memory_x", "memory_y", "memory_z", "clock"]


def test_signatures_of_macros_that_depend_on_constants() -> None:
    found = access(dgwave_source("float32", 4, elastic=True, upwind=1.0, mechanisms=2), "advance")
    assert {"u", "r", "theta", "memory_register"} == {n for n, a in found.items() if a == "writes"}
    found = access(dgwave_source("float32", 4, elastic=True, upwind=1.0, curved=True), "advance")
    assert {"u", "r"} == {n for n, a in found.items() if a == "writes"}
    assert found["metrics"] == "reads"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("KERNEL f() {}", ()),
        (
            "KERNEL f(real const * a, int n) {}",
            (KernelParameter("a", "reads"), KernelParameter("n", None)),
        ),
        (
            "KERNEL f(/* in, */ real *__restrict__ a) {} // KERNEL f()",
            (KernelParameter("a", "writes"),),
        ),
        ("#define T real *\nKERNEL f(T a) {}", (KernelParameter("a", "writes"),)),
        ("#define T real *\n#define T const real *\nKERNEL f(T a) {}", None),
        ("#define T real *\n#undef T\nKERNEL f(T a) {}", None),
        ("#define T T2\n#define T2 T\nKERNEL f(T a) {}", None),
        ("#define P(a, b) real* a\nKERNEL f(P(x)) {}", None),
        ("#if 2 > 1 && !defined(A)\n#define T real *\n#else\n#define T int\n#endif\n" + F, WRITES),
        (
            "#ifdef A\n#if 1\n#define T int\n#endif\n#elif B || 1\n#define T real *\n#endif\n" + F,
            WRITES,
        ),
        ("#ifndef __CUDACC__\n#define T real *\n#else\n#define T real * \n#endif\n" + F, WRITES),
        ("#ifdef __CUDACC__\n#define T real *\n#else\n#define T int \n#endif\n" + F, None),
        ("#if f(1)\n#endif\nKERNEL f(real* a) {}", None),
        ("KERNEL f(real* a) {}\nKERNEL f(const real* a) {}", None),
        ("KERNEL f(real** a) {}", None),
        ("KERNEL f(real a[4]) {}", None),
        ("KERNEL f(Pair<int, int> a) {}", None),
        ("KERNEL f(real* a", None),
        ("KERNEL g(real* a) {}", None),
    ],
)
def test_unclear_signatures_are_not_guessed(text: str, expected: Any) -> None:
    assert signature(text, "f") == expected


def test_other_arguments_than_parameters_have_no_access(cpu: CpuBackend) -> None:
    a = cpu.zeros((1,), np.float32)
    module = cpu.compile(TRIAD)
    for arguments in ((a,), (a, a)):  # too few; an array for a number
        launch = module.launch("touch", Items(1), *arguments)
        for array in next(iter(list_launches(launch))).arrays:
            assert (array.parameter, array.access, array.label) == ("", None, "?")
    assert "gets ? ? float32[1]" in describe(launch)


def test_values_of_parameters_change_no_signature() -> None:
    """The names of a kernel's parameters are read once for all grids, also for GPUs."""
    soil = {"model": "iwan", "depth": 1e3, "reference_strain": 1e-3}
    sources = [
        *solver_sources("single", "pml", "free-surface", True, plasticity=soil),
        *solver_sources("double", "periodic", "absorbing", False),
        *cavity_sources("double", local=True, unsteady=True, heat=True),
    ]
    with_parameters = [source for source in sources if source.parameters]
    assert len({source.path for source in with_parameters}) > 2
    for source in with_parameters:
        text, same = source.text(), replace(source, parameters=dict.fromkeys(source.parameters, 1))
        for kernel in re.findall(r"KERNEL (\w+)\(", text):
            assert signature(text, kernel) == signature(same.generic_text(), kernel)
