"""Acoustic properties of a medium at the points of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from groundswell.arrays import Floats, Reals
from groundswell.solvers.ultrasound import absorption
from groundswell.solvers.ultrasound.absorption import STOKES
from groundswell.solvers.ultrasound.window import Window

Values = float | Reals  # of the whole medium, or of each point, (nz, ny, nx)
EVERYWHERE = slice(None)


@dataclass(frozen=True)
class AcousticMedium:
    """Properties of a fluid or of tissue.

    Args:
        speed: sound speed c, m/s.
        density: density rho_0 at pressure points, kg/m^3.
        absorption: coefficient alpha_0 of the absorption, Np (rad/s)^-power / m.
        power: exponent y of the absorption; 2 is a thermoviscous fluid.
        nonlinearity: parameter B/A; 0 in a linear medium.
        absorbs, disperses: whether to include absorption and dispersion.
        staggered: density at the velocity points of each axis, kg/m^3; by default means of two
            pressure points.
        nonlinear: whether to use the nonlinear equations even if B/A is zero (convection remains).
        lossy: whether to include losses even if the absorption is zero, as in a part of a medium.
        in_classes: whether devices store a table of the materials, and the class of each point.
    """

    speed: Values
    density: Values
    absorption: Values = 0.0
    power: float = STOKES
    nonlinearity: Values = 0.0
    absorbs: bool = True
    disperses: bool = True
    staggered: Sequence[Values] | None = None
    nonlinear: bool = False
    lossy: bool = False
    in_classes: bool = False

    @property
    def is_absorbing(self) -> bool:
        """Whether waves lose energy."""
        return self.absorbs and self.has_losses

    @property
    def is_dispersive(self) -> bool:
        """Whether absorption comes with dispersion."""
        return self.disperses and self.power != STOKES and self.has_losses

    @property
    def has_losses(self) -> bool:
        """Whether there is absorption anywhere, or the medium is `lossy`."""
        return self.lossy or bool(np.any(self.absorption))

    @property
    def fractional_laplacians(self) -> int:
        """Number of fractional Laplacians in a step: 0, 1 or 2."""
        return int(self.is_absorbing and self.power != STOKES) + int(self.is_dispersive)

    @property
    def is_nonlinear(self) -> bool:
        """Whether the equations are nonlinear."""
        return self.nonlinear or bool(np.any(self.nonlinearity))

    @property
    def stiffness(self) -> Reals:
        """c^2 rho_0, Pa."""
        return np.asarray(np.square(self.speed) * self.density)

    @property
    def tau(self) -> Floats:
        """Coefficient of the absorption; see absorption.py."""
        return absorption.tau(self.absorption, self.speed, self.power)

    @property
    def eta(self) -> Floats:
        """Coefficient of the dispersion; see absorption.py."""
        return absorption.eta(self.absorption, self.speed, self.power)

    @property
    def state_coefficients(self) -> tuple[Values, Values, Values, Values]:
        """Coefficients of the equation of state: c^2, B/(2A rho_0), tau and eta, 0 if inactive."""
        return (
            np.square(self.speed),
            self._nonlinear_coefficient if self.is_nonlinear else 0.0,
            self.tau if self.is_absorbing else 0.0,
            self.eta if self.is_dispersive else 0.0,
        )

    @property
    def _nonlinear_coefficient(self) -> Reals:
        return np.asarray(self.nonlinearity) / (2 * np.asarray(self.density))

    def state_coefficients_in(self, planes: slice) -> tuple[Values, Values, Values, Values]:
        """`state_coefficients` in some planes z."""
        part = replace(
            self,
            speed=_planes_of(self.speed, planes),
            density=_planes_of(self.density, planes),
            absorption=_planes_of(self.absorption, planes),
            nonlinearity=_planes_of(self.nonlinearity, planes),
            lossy=self.has_losses,
            nonlinear=self.is_nonlinear,
        )
        return part.state_coefficients

    def staggered_density(self, axis: int, planes: slice = EVERYWHERE) -> Values:
        """Density at the velocity points of an axis: means of two points, kg/m^3.

        Velocity points lie half a cell after pressure points. The grid is periodic, so the last
        one lies between the last and the first pressure point.

        Args:
            planes: the planes z to return; all by default.
        """
        if self.staggered is not None:
            return _planes_of(self.staggered[axis], planes)
        if np.ndim(self.density) == 0:
            return self.density
        density = np.asarray(self.density)
        here, along = np.asarray(density[planes], float), density.ndim - 1 - axis
        if along:
            return (here + np.roll(here, -1, along)) / 2
        following = np.arange(len(density))[planes] + 1
        return (here + density.take(following, 0, mode="wrap")) / 2


def _planes_of(values: Values, planes: slice) -> Values:
    return values if np.ndim(values) == 0 else np.asarray(values)[planes]


def take(values: Any, window: Window) -> Any:
    """Values of a window from those of all points, (nz, ny, nx); a number is returned unchanged.

    The result is a view unless the window wraps around the grid.
    """
    if np.ndim(values) == 0 or window.cells == window.whole == window.extended:
        return values
    return select(np.asarray(values), [window.runs(axis) for axis in (2, 1, 0)])


def select(values: Reals, runs: Sequence[Sequence[slice]]) -> Reals:
    """Values at the slices along each axis, joined; a view if there is one slice along each."""
    # Single slices first: they need no copies, and later copies are then smaller.
    for axis in sorted(range(values.ndim), key=lambda n: len(runs[n])):
        before = (slice(None),) * axis
        parts = [values[(*before, part)] for part in runs[axis]]
        values = parts[0] if len(parts) == 1 else np.concatenate(parts, axis)
    return values


def medium_of(medium: AcousticMedium, window: Window) -> AcousticMedium:
    """The medium at the points of a window, with the equations of the whole medium."""
    staggered = medium.staggered
    return replace(
        medium,
        nonlinear=medium.is_nonlinear,
        lossy=medium.lossy or bool(np.any(medium.absorption)),
        speed=take(medium.speed, window),
        density=take(medium.density, window),
        absorption=take(medium.absorption, window),
        nonlinearity=take(medium.nonlinearity, window),
        staggered=staggered and [take(values, window) for values in staggered],
    )
