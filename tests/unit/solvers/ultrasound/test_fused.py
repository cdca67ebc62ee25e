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
from groundswell.backends.cpu import CpuBackend
from groundswell.grids.cartesian import Grid, Triple
from groundswell.solvers.ultrasound.fields import Fields
from groundswell.solvers.ultrasound.fused import FusedStep
from groundswell.solvers.ultrasound.fused_coefficients import series_terms
from groundswell.solvers.ultrasound.line_transforms import FILES, Passes, plan, supports
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import AbsorbingLayers
from groundswell.solvers.ultrasound.point_source import Injection
from groundswell.solvers.ultrasound.solver import sources_of
from groundswell.solvers.ultrasound.spectral_step import SpectralStep
from groundswell.solvers.ultrasound.window import Window

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
    check(EmulatedBackend(), SMALL[name], dtype, steps=3)


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


class Torus:
    """A block that is its own neighbour, along the axes that have overlaps."""

    def __init__(
        self,
        backend: Backend,
        problem: Problem,
        overlap: Triple,
        dtype: str,
        *,
        late: bool = False,
    ) -> None:
        self.late = late
        cells = problem.shape[::-1]
        self.backend, self.window = backend, Window(cells, (0, 0, 0), cells, overlap)
        self.margins = [(width, width) for width in overlap[::-1]]
        operators = replace(operators_of(problem), window=self.window)
        layers = AbsorbingLayers(operators.grid.before, operators.grid.after)
        extended = Grid(self.window.extended, problem.spacing)
        operators = replace(operators, grid=extended, layers=layers)
        medium, shape = self.extend_medium(problem.medium()), extended.shape
        p, *others = (backend.zeros(shape, dtype) for _ in range(7))
        self.fields = Fields(p, others[:3], others[3:])
        sources = sources_of(problem.sources(), self.window)
        inject = Injection(open_backend("cpu") if backend.on_host else backend, dtype)
        kind = SpectralStep if type(backend) is CpuBackend else FusedStep
        self.step = kind(backend, operators, medium, self.fields, sources, inject)
        self.step.set_exchange(self.fill)
        self.advance, self.clock = inject.advance, inject.clock

    def extend(self, values: Any) -> Any:
        return np.pad(values, self.margins, "wrap") if np.ndim(values) else values

    def extend_medium(self, medium: AcousticMedium) -> AcousticMedium:
        names = ("speed", "density", "absorption", "nonlinearity")
        return replace(medium, **{name: self.extend(getattr(medium, name)) for name in names})

    def fill(self, arrays: Any, boundary: Any = (), interior: Any = ()) -> list[Any]:
        """The exchange comes before the interior work, or after it if it is late.

        Work before the exchange must not read overlaps, which are then not numbers.
        """

        def erase() -> None:
            for array in arrays:
                own = self.backend.to_host(array)[self.window.own]
                self.backend.assign(array, np.pad(own, self.margins, constant_values=np.nan))

        def fill() -> None:
            for array in arrays:
                own = self.backend.to_host(array)[self.window.own]
                self.backend.assign(array, self.extend(own))

        if boundary and not self.late:
            return [*boundary, erase, fill, *interior]
        return [*boundary, erase, *interior, fill]

    @property
    def arrays(self) -> list[Any]:
        """Pressure, velocities and densities."""
        return [self.fields.p, *self.fields.u, *self.fields.rho]

    def start(self, values: Any, step: int = 0) -> None:
        """Set the values of the block, as after some steps; those around it are not numbers."""
        for array, own in zip(self.arrays, values, strict=True):
            self.backend.assign(array, np.pad(own, self.margins, constant_values=np.nan))
        self.backend.assign(self.clock, np.array([step]))
        if isinstance(self.step, FusedStep):
            in_order(self.step.begin)()

    def run(self, steps: int) -> list[Any]:
        """Values of the block after some more steps."""
        for _ in range(steps):
            in_order([*self.step.launches, self.advance])()
        return [self.backend.to_host(array)[self.window.own] for array in self.arrays]


def random_values(dtype: str) -> list[Any]:
    rng, scales = np.random.default_rng(3), [1e6, 1, 1, 1, 1e-1, 1e-1, 1e-1]
    return [(scale * rng.standard_normal(BLOCK)).astype(dtype) for scale in scales]


def torus(backend: Backend, name: str, cut: str, dtype: str, *, late: bool = False) -> Torus:
    problem = replace(SMALL[name], shape=BLOCK, rng=np.random.default_rng(7))
    return Torus(backend, problem, CUTS[cut], dtype, late=late)


BLOCK = (6, 8, 12)
CUTS: dict[str, Triple] = {"z": (0, 0, 2), "y and z": (0, 2, 2), "all axes": (3, 2, 2)}
OF_WINDOWS = (
    "lossless",
    "power law, nonlinear",
    "sources",
    "few signals",
    "one signal, absorbing",
    "thermoviscous, sources",
)
WINDOWS = [(name, cut) for name in OF_WINDOWS for cut in CUTS]
QUICK = [("one signal, absorbing", "z")]
EMULATED_WINDOWS = [
    pytest.param(*window, marks=[] if window in QUICK else pytest.mark.full) for window in WINDOWS
]


def check_window(backend: Backend, name: str, cut: str, dtype: str, steps: int) -> None:
    results = []
    for device, kind in ((open_backend("cpu"), "float64"), (backend, dtype)):
        waves = torus(device, name, cut, kind)
        waves.start(random_values(kind))
        results.append(waves.run(steps))
    for expected, found in zip(*results, strict=True):
        assert np.isfinite(expected).all()
        assert_close(found, expected, TOLERANCE[dtype])


@pytest.mark.parametrize(("name", "cut"), EMULATED_WINDOWS)
def test_windows_on_an_emulated_gpu_are_those_of_the_library(name: str, cut: str) -> None:
    check_window(EmulatedBackend(), name, cut, "float64", steps=3)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("name", "cut"), WINDOWS)
def test_windows_on_a_gpu_are_those_of_the_library(
    gpu: Any, name: str, cut: str, dtype: str
) -> None:
    check_window(gpu, name, cut, dtype, STEPS)


def check_late(backend: Backend, name: str, cut: str, dtype: str, steps: int) -> None:
    """Interior work before or after the exchange makes no difference."""
    found = []
    for late in (False, True):
        waves = torus(backend, name, cut, dtype, late=late)
        waves.start(random_values(dtype))
        found.append(waves.run(steps))
    for early, late_values in zip(*found, strict=True):
        assert np.array_equal(early, late_values)


@pytest.mark.full
@pytest.mark.parametrize(("name", "cut"), WINDOWS)
def test_emulated_exchanges_may_be_late(name: str, cut: str) -> None:
    check_late(EmulatedBackend(), name, cut, "float64", steps=2)


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "cut"), WINDOWS)
def test_exchanges_on_a_gpu_may_be_late(gpu: Any, name: str, cut: str) -> None:
    check_late(gpu, name, cut, "float32", STEPS)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("name", "cut"), WINDOWS)
def test_windows_continue_to_the_same_bits(gpu: Any, name: str, cut: str, dtype: str) -> None:
    """From the values of the block alone, as checkpoints contain them."""
    whole, first, second = (torus(gpu, name, cut, dtype) for _ in range(3))
    for waves in (whole, first):
        waves.start(random_values(dtype))
    second.start(first.run(5), step=5)
    for expected, found in zip(whole.run(9), second.run(4), strict=True):
        assert np.array_equal(expected, found)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", [*SMALL, *LARGE])
def test_steps_on_a_gpu_are_the_schemes(gpu: Any, name: str, dtype: str) -> None:
    check(gpu, (SMALL | LARGE)[name], dtype, STEPS if name in SMALL else 5)
