"""The passes of the k-space scheme for GPUs against NumPy, with and without a GPU."""

from __future__ import annotations

from dataclasses import replace
from math import factorial
from typing import Any

import numpy as np
import pytest
from emulated_backend import EmulatedBackend
from kspace_problems import (
    ALPHA,
    EVERY,
    PROBLEMS,
    STEPS,
    TOLERANCE,
    Problem,
    assert_close,
    operators_of,
    scheme_of,
)

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.solvers.ultrasound.fields import Fields
from groundswell.solvers.ultrasound.fused import FusedStep
from groundswell.solvers.ultrasound.fused_coefficients import series_terms
from groundswell.solvers.ultrasound.line_transforms import FILES, Passes, plan, supports
from groundswell.solvers.ultrasound.point_source import Injection

pytestmark = pytest.mark.each_value


# --- plans ----------------------------------------------------------------------------------------

LENGTHS = (
    4,
    9,
    12,
    14,
    15,
    25,
    27,
    35,
    36,
    49,
    60,
    64,
    98,
    100,
    105,
    128,
    210,
    243,
    256,
    512,
    1024,
)


@pytest.mark.parametrize("n", LENGTHS)
def test_a_plan_transforms_as_numpy_does(n: int) -> None:
    """Stage by stage, by the twiddles and in the order of the plan."""
    chosen = plan(n)
    assert chosen is not None and chosen.n == n
    rng = np.random.default_rng(n)
    values = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    line, twiddles, length = values.copy(), chosen.twiddles(), n
    assert len(twiddles) == n - 1
    for radix in chosen.radices:
        parts = np.fft.fft(line.reshape(-1, radix, length // radix), axis=1)
        factors = twiddles[n - length :][: (radix - 1) * (length // radix)]
        parts[:, 1:] *= factors.reshape(radix - 1, -1)
        line, length = parts.reshape(-1), length // radix
    np.testing.assert_allclose(line, np.fft.fft(values)[chosen.order()], atol=1e-12 * n)


def test_plans_have_few_radices() -> None:
    assert plan(512).radices == (8, 8, 8)  # type: ignore[union-attr]
    assert plan(256).radices == (4, 8, 8)  # type: ignore[union-attr]
    assert plan(7) is None and plan(22) is None and plan(1) is None


def test_which_shapes_are_supported() -> None:
    assert supports((512, 512, 512)) and supports((256, 240, 216)) and supports((12, 14, 18))
    assert not supports((12, 14, 15))  # odd
    assert not supports((1, 16, 16))  # a plane
    assert not supports((12, 11, 16))
    assert not supports((2048, 16, 16))


@pytest.mark.parametrize(("dtype", "most"), [("float32", 64), ("float64", 128)])
def test_rows_of_any_length_fit_into_shared_memory(dtype: str, most: int) -> None:
    """Three tiles of rows, KiB."""
    for nx in range(8, 2049, 2):
        if supports((4, 4, nx)):
            passes = Passes.of((4, 4, nx), dtype)
            assert passes.most_shared_bytes <= most * 1024
            assert all(passes.row_threads(file) >= 16 or nx < 512 for file in FILES.values())


def test_the_series_is_long_enough() -> None:
    for square in (0.1, 1.0, 9.0):
        for tolerance in (1e-9, 1e-17):
            count = series_terms(square, tolerance)
            found = sum((-square) ** n / factorial(2 * n) for n in range(count))
            assert abs(found - np.cos(np.sqrt(square))) < tolerance + 1e-15


@pytest.mark.parametrize("shape", [(12, 14, 18), (64, 60, 96), (512, 512, 512), (1024, 1024, 1024)])
def test_passes_cover_a_grid(shape: tuple[int, int, int]) -> None:
    for dtype in TOLERANCE:
        passes = Passes.of(shape, dtype)
        nz, ny, nx = shape
        assert nx // 2 % passes.width == 0
        for file in FILES.values():
            assert nz * ny % passes.rows(file) == 0
        assert passes.most_shared_bytes <= 112 * 1024
        blocks = passes.plane_blocks(4, 1, lines=2)
        assert blocks.threads <= 1024 and blocks.shared_bytes < 227 * 1024
        assert blocks.count * passes.width >= ny * (nx // 2 + 1)


# --- steps ----------------------------------------------------------------------------------------

SMALL: dict[str, Problem] = {
    **{name: problem for name, problem in PROBLEMS.items() if supports(problem.shape)},
    "given densities": Problem((12, 14, 18)),
    "other radices": Problem((16, 25, 20), alpha=ALPHA, power=1.5, nonlinearity=6.0),
    "thermoviscous, sources": Problem((12, 9, 16), alpha=1e-15, modes=EVERY),
}
LARGE: dict[str, Problem] = {
    "cube": Problem((64, 64, 64), alpha=ALPHA, power=1.5, nonlinearity=6.0),
    "long": Problem((24, 64, 432), modes=(("p", "additive"),)),
    "longest": Problem((1024, 6, 16)),
    "widest": Problem((6, 4, 2048)),
    "wide": Problem((4, 512, 256)),
    "sevens": Problem((49, 35, 210)),
}


def make(
    backend: Backend, problem: Problem, dtype: str, *, fill: bool = True
) -> tuple[FusedStep, Fields, Any, Any]:
    """The step, its fields, what advances the time of its sources, and the oracle."""
    medium, sources = problem.medium(), problem.sources()
    operators, wanted = operators_of(problem), scheme_of(problem, medium, sources)
    if problem is SMALL["given densities"]:
        medium = replace(medium, staggered=[medium.staggered_density(axis) for axis in range(3)])
    p, *others = (backend.zeros(problem.shape, dtype) for _ in range(7))
    fields = Fields(p, others[:3], others[3:])
    inject = Injection(open_backend("cpu") if backend.on_host else backend, dtype)
    fused = FusedStep(backend, operators, medium, fields, sources, inject)
    for spectrum in fused._spectra if fill else ():
        spectrum[...] = np.nan
    return fused, fields, inject.advance, wanted


def check(backend: Backend, problem: Problem, dtype: str, steps: int = STEPS) -> None:
    fused, fields, advance, wanted = make(backend, problem, dtype)
    wanted.start(1e6 * problem.rng.standard_normal(problem.shape))
    pairs = [(fields.p, "p", ...), *((fields.u[n], "u", n) for n in range(3))]
    pairs += [(fields.rho[n], "rho", n) for n in range(3)]
    for array, name, n in pairs:
        backend.assign(array, getattr(wanted, name)[n].astype(dtype))
    in_order(fused.begin)()
    for _ in range(steps):
        in_order([*fused.launches, advance])()
        wanted.step()
    for array, name, n in pairs:
        assert_close(backend.to_host(array), getattr(wanted, name)[n], TOLERANCE[dtype])


EMULATED_PROBLEMS = [
    "lossless",
    *(pytest.param(name, marks=pytest.mark.full) for name in SMALL if name != "lossless"),
]


@pytest.mark.parametrize("name", EMULATED_PROBLEMS)
def test_steps_on_an_emulated_gpu_are_the_schemes(name: str) -> None:
    dtype = "float32" if name == "lossless" else "float64"
    check(EmulatedBackend(), SMALL[name], dtype, steps=2)


@pytest.mark.full
def test_sources_act_on_a_fluid_at_rest() -> None:
    """Without a call of `begin`; the preparation of their terms leaves nothing behind."""
    problem = Problem((6, 8, 12), modes=(("p", "additive"), ("uy", "additive")), many=False)
    fused, fields, advance, wanted = make(EmulatedBackend(), problem, "float64", fill=False)
    for _ in range(2):
        in_order([*fused.launches, advance])()
        wanted.step()
    assert np.abs(wanted.u[0]).max() > 0
    for axis in range(3):
        assert_close(fields.u[axis], wanted.u[axis], 1e-12)


@pytest.mark.full
def test_the_derivatives_of_a_start() -> None:
    problem = SMALL["lossless"]
    fused, fields, _, wanted = make(EmulatedBackend(), problem, "float64")
    pressure = 1e6 * problem.rng.standard_normal(problem.shape)
    fields.p[...] = pressure
    in_order(fused.differentiate)()
    for axis in range(3):
        assert_close(fields.u[axis], wanted.slope(pressure, axis, 1), 1e-12)


# --- windows --------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", [*SMALL, *LARGE])
def test_steps_on_a_gpu_are_the_schemes(gpu: Any, name: str, dtype: str) -> None:
    check(gpu, (SMALL | LARGE)[name], dtype, STEPS if name in SMALL else 5)
