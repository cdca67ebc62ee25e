"""The faults of a run: their planes, and what friction needs at their points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.faults.conditions import FaultConditions
from groundswell.seismology.faults.estimates import FaultEstimates
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.faults.subfaults import FaceQuadrature, Subfaults
from groundswell.solvers.earthquake.faults.plane import FaultPlane, Kind
from groundswell.solvers.earthquake.faults.rock import FaultRock

KINDS = (Kind.ALONG, Kind.DOWN)


@dataclass(frozen=True, eq=False)
class Fault:
    """A fault on a plane of the grid.

    Args:
        name: its name, for messages and files.
        points: the centres of its cells, row by row, at which outputs are.
        conditions: friction and stress there. Points between two cells have the mean of both.
        viscosity: by which the stress on it depends on its rate, in time steps.
    """

    name: str
    plane: FaultPlane
    rock: FaultRock
    points: FaultPoints
    conditions: FaultConditions
    viscosity: float = 0.0

    @property
    def spacing(self) -> float:
        """Mean distance between points, m."""
        _, along, depth = self.plane.spacing
        return sqrt(along * depth)

    @cached_property
    def estimates(self) -> FaultEstimates:
        """Strength and stress before the rupture."""
        rock = *self.rock.at_centres, np.sqrt(self.mu * self.density) / 2
        return FaultEstimates(self.points, self.conditions, *rock)

    @property
    def mu(self) -> Floats:
        """The shear modulus for the moment at the points, (points,), Pa."""
        return self.rock.at_centres[0]

    @property
    def density(self) -> Floats:
        """Of the rock at the points, (points,), kg/m^3."""
        return self.rock.density_at_centres

    # --- tables of kernels/fault.h, (..., rows, columns) ------------------------------------------

    def damping(self, dt: float) -> Floats:
        """Mass of the jump over the time step, Pa s/m; 0 where nothing slips."""
        across = self.plane.spacing[0]
        slips = np.stack([self.plane.slips(kind) for kind in KINDS])
        return np.asarray(self.rock.density * (across / (4 * dt)) * slips)

    @property
    def friction(self) -> Floats:
        """Parameters of the law, (KINDS, parameters, ...)."""
        return self._between(self.conditions.law.table(len(self.points)))

    @property
    def loads(self) -> Floats:
        """Normal and shear stress, added shear stress, Pa, and its duration, s, (KINDS, 4, ...)."""
        given = self.conditions
        duration = np.full(len(self.points), given.added_duration)
        strike = (given.normal_stress, given.shear_strike, given.added_strike, duration)
        updip = (given.normal_stress, given.shear_updip, given.added_updip, duration)
        along = self._between(np.stack(strike))[Kind.ALONG]
        down = self._between(np.stack(updip))[Kind.DOWN]
        along[1:3] *= self.plane.sign
        down[1:3] *= -self.plane.sign
        return np.stack([along, down])

    @property
    def normal_loads(self) -> Floats:
        """Normal stress at the centres of cells, Pa."""
        return self._at_centres(self.conditions.normal_stress)

    @property
    def state(self) -> Floats:
        """State of friction before the run, (KINDS, ...)."""
        return self._between(self.conditions.state[None])[:, 0]

    @property
    def speed(self) -> Floats:
        """Slip rate before the run, (KINDS, ...), m/s."""
        return self._between(self.conditions.initial_rate[None])[:, 0]

    @property
    def rate(self) -> Floats:
        """The component of each kind of the jump of velocity before the run, (KINDS, ...), m/s."""
        found = self._between(self._shear_share * self.conditions.initial_rate)
        return np.stack([found[kind, kind] for kind in KINDS])

    @property
    def initial(self) -> dict[str, Floats]:
        """What is recorded at the centres of cells, before the run, (rows, columns)."""
        given, (along, down), sign = self.conditions, self._shear_share, self.plane.sign
        found = {
            "shear_strike": given.shear_strike,
            "shear_updip": given.shear_updip,
            "rate_strike": sign * along * given.initial_rate,
            "rate_updip": -sign * down * given.initial_rate,
            "peak_rate": given.initial_rate,
            "normal_stress": given.normal_stress,
            "state": given.state,
        }
        return {name: self._at_centres(values) for name, values in found.items()}

    @property
    def _shear_share(self) -> Floats:
        """Cosines of the initial shear stress along the axes of the grid, (KINDS, cells)."""
        given, sign = self.conditions, self.plane.sign
        shear = np.stack([sign * given.shear_strike, -sign * given.shear_updip])
        whole = np.hypot(*shear)
        return np.divide(shear, whole, out=np.zeros_like(shear), where=whole > 0)

    def _at_centres(self, values: Floats) -> Floats:
        """Values (..., cells) in tables of all cells, 0 beyond the last ones."""
        found = np.zeros((*values.shape[:-1], *self.plane.shape))
        found[..., self.plane.slips(Kind.CENTRE)] = values
        return found

    def _between(self, values: Floats) -> Floats:
        """Means of the cells on both sides of the points that slip, (KINDS, n, rows, columns).

        Args:
            values: at the centres of cells, (n, cells).
        """
        cells, counts = self._at_centres(values), self._at_centres(np.ones(values.shape[-1]))
        found = np.zeros((len(KINDS), *cells.shape))
        for kind in KINDS:
            axis, slips = -1 if kind == Kind.ALONG else -2, self.plane.slips(kind)
            sums, number = (each + np.roll(each, 1, axis) for each in (cells, counts))
            found[kind][:, slips] = sums[:, slips] / number[slips]
        return found


def subfaults_of(faults: Sequence[Fault]) -> Subfaults:
    """The cells of all faults as subfaults."""
    points = FaultPoints.concatenate([fault.points for fault in faults])
    mu, density = (
        np.concatenate([getattr(fault, name) for fault in faults]) for name in ("mu", "density")
    )
    found = Subfaults.of(points, mu, density, FaceQuadrature.of_cells())
    starts = np.cumsum([0, *(len(fault.points) for fault in faults)])
    beside = [first + fault.plane.beside for first, fault in zip(starts, faults, strict=False)]
    return replace(found, beside=np.concatenate(beside, axis=-1))
