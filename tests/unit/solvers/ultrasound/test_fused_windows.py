"""Windows of the passes for GPUs: those of the library, late exchanges, restarts."""

from __future__ import annotations

from dataclasses import replace
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
)

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.backends.cpu import CpuBackend
from groundswell.grids.cartesian import Grid, Triple
from groundswell.solvers.ultrasound.fields import Fields
from groundswell.solvers.ultrasound.fused import FusedStep
from groundswell.solvers.ultrasound.line_transforms import supports
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import AbsorbingLayers
from groundswell.solvers.ultrasound.point_source import Injection
from groundswell.solvers.ultrasound.solver import sources_of
from groundswell.solvers.ultrasound.spectral_step import SpectralStep
from groundswell.solvers.ultrasound.window import Window

pytestmark = pytest.mark.each_value


SMALL: dict[str, Problem] = {
    **{name: problem for name, problem in PROBLEMS.items() if supports(problem.shape)},
    "given densities": Problem((12, 14, 18)),
    "other radices": Problem((16, 25, 20), alpha=ALPHA, power=1.5, nonlinearity=6.0),
    "thermoviscous, sources": Problem((12, 9, 16), alpha=1e-15, modes=EVERY),
}


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
