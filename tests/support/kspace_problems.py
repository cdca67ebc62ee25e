"""Random problems for the k-space scheme, and what their fields have to agree to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from kspace_scheme import KSpaceScheme
from numpy.typing import NDArray

from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.point_source import PointSource

TOLERANCE = {"float32": 1e-5, "float64": 1e-12}  # of the largest value
STEPS = 12
ALPHA = 4e-9  # Np (rad/s)^-1.5 / m: strong absorption


@dataclass
class Problem:
    """A medium with some kinds of losses, and sources; properties vary unless `uniform`."""

    shape: tuple[int, int, int]
    power: float = 2.0
    alpha: float = 0.0
    nonlinearity: float = 0.0
    uniform: bool = False
    absorbs: bool = True
    disperses: bool = True
    modes: tuple[tuple[str, str], ...] = ()  # (field, mode) of sources
    many: bool = True  # signals, one per point
    independent: int = 5  # number of these that are linearly independent
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    spacing = (1e-3, 0.8e-3, 1.1e-3)
    dt, reference_speed = 1e-7, 1700.0
    layers = (3, 2, 2)

    def varying(self, value: float, share: float = 0.1) -> Any:
        if self.uniform:
            return value
        return value * (1 + share * self.rng.uniform(-1, 1, self.shape))

    def medium(self) -> AcousticMedium:
        return AcousticMedium(
            speed=self.varying(1500.0),
            density=self.varying(1000.0),
            absorption=self.varying(self.alpha) if self.alpha else 0.0,
            power=self.power,
            nonlinearity=self.varying(self.nonlinearity) if self.nonlinearity else 0.0,
            absorbs=self.absorbs,
            disperses=self.disperses,
        )

    def sources(self) -> list[PointSource]:
        return [self.source(*mode) for mode in self.modes]

    def source(self, name: str, mode: str) -> PointSource:
        """Signals that end before the last step, at random points."""
        points = self.rng.choice(int(np.prod(self.shape)), 5, replace=False)
        size = 2.0 if name == "p" else 1e-3
        signals = size * self.rng.standard_normal((STEPS - 4, 5) if self.many else STEPS - 4)
        if self.independent < 5:
            mixed = self.rng.standard_normal((self.independent, 5))
            signals = signals[:, : self.independent] @ mixed
        return PointSource(name, points, signals, mode)  # type: ignore[arg-type]


def layers_of(problem: Problem) -> tuple[int, int, int]:
    x, y, z = problem.layers
    return x, y, z if problem.shape[0] > 1 else 0


def operators_of(problem: Problem) -> SpectralOperators:
    """The operators of a problem's grid, which contains its absorbing layers."""
    widths = layers_of(problem)
    nx, ny, nz = (n - 2 * w for n, w in zip(problem.shape[::-1], widths, strict=True))
    grid = Grid((nx, ny, nz), problem.spacing, widths, widths)
    return SpectralOperators(grid, problem.dt, problem.reference_speed)


def scheme_of(problem: Problem, medium: AcousticMedium, sources: list[PointSource]) -> KSpaceScheme:
    """The NumPy scheme for a problem with this medium and these sources."""
    return KSpaceScheme(
        problem.shape,
        problem.spacing,
        problem.dt,
        problem.reference_speed,
        medium.speed,
        medium.density,
        layers_of(problem),
        tau=medium.tau if medium.is_absorbing else 0.0,
        eta=medium.eta if medium.is_dispersive else 0.0,
        power=problem.power,
        nonlinearity=medium.nonlinearity,
        sources=[(s.field, s.points, s.signals, s.mode) for s in sources],
    )


def assert_close(found: NDArray[Any], wanted: NDArray[Any], tolerance: float) -> None:
    assert np.abs(found - wanted).max() < tolerance * np.abs(wanted).max()


SPACE, PLANE = (12, 14, 18), (1, 16, 15)
EVERY = tuple(
    (name, mode) for name in ("p", "ux", "uy") for mode in ("additive", "uncorrected", "dirichlet")
)
PROBLEMS = {
    "lossless": Problem(SPACE),
    "uniform": Problem(SPACE, uniform=True, alpha=ALPHA, power=1.5, nonlinearity=6.0),
    "power law": Problem(SPACE, alpha=ALPHA, power=1.5),
    "power law, nonlinear": Problem(SPACE, alpha=ALPHA, power=1.5, nonlinearity=6.0),
    "absorption alone": Problem(SPACE, alpha=ALPHA, power=1.5, disperses=False),
    "dispersion alone": Problem(SPACE, alpha=ALPHA, power=1.5, absorbs=False),
    "thermoviscous": Problem(SPACE, alpha=1e-15, nonlinearity=5.0),
    "sources": Problem(SPACE, modes=(*EVERY, ("uz", "additive"))),
    "few signals": Problem(
        SPACE, alpha=ALPHA, power=1.5, modes=(*EVERY, ("p", "additive")), independent=2
    ),
    "one signal, absorbing": Problem(SPACE, alpha=ALPHA, power=1.2, modes=EVERY, many=False),
    "plane": Problem(PLANE, alpha=ALPHA, power=1.5, nonlinearity=6.0, modes=EVERY),
    "odd": Problem((9, 11, 13), uniform=True),
}
