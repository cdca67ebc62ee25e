"""Rock that yields, on the host: strength and initial stress of the cells of a grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.backends.host_threads import in_threads
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.grids.axis import Axis
from groundswell.grids.cartesian import Grid
from groundswell.seismology.case.plasticity import DruckerPragerSection
from groundswell.seismology.case.soil import IwanSection
from groundswell.seismology.media.material import Medium, find_runs
from groundswell.seismology.media.profile import find_profile
from groundswell.seismology.plasticity import (
    DruckerPrager,
    InitialStress,
    Overburden,
    RockPoints,
    strength_at,
)
from groundswell.seismology.plasticity.drucker_prager import second_invariant, split
from groundswell.seismology.plasticity.estimates import RockState, YieldEstimates
from groundswell.seismology.plasticity.rock import varies_sideways
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.solvers.earthquake.ground import Ground
from groundswell.solvers.earthquake.plasticity.moments import MomentCells


@dataclass(frozen=True, eq=False)
class Plasticity:
    """Rock that yields.

    Args:
        initial: stress before the waves.
        moments: cells around sources, which do not yield.
        estimates: of the cells of the region.
    """

    section: DruckerPragerSection
    ground: Ground
    initial: InitialStress
    moments: MomentCells
    estimates: YieldEstimates

    @property
    def grid(self) -> Grid:
        """The grid, whose region yields."""
        return self.ground.grid

    @property
    def varies_by_depth_only(self) -> bool:
        """Whether the strength is known to vary with depth only."""
        profile = find_profile(self.ground.medium)
        return profile is not None and not varies_sideways(self.section)

    def strength(self, k: int) -> DruckerPrager:
        """Strength of the cells in row `k` of the region; arrays (1, 1) or (ny, nx)."""
        return strength_of_row(self.section, self.ground.medium, k)

    def initial_rows(self, first: int, count: int) -> Floats:
        """Table of initial stress of rows of the grid, (count, 9), Pa; see kernels/plasticity.h.

        Rows outside the region have the values of its nearest row.
        """
        h, rows = self.grid.spacing[2], np.arange(first, first + count) - self.grid.before[2]
        inside = np.clip(rows, 0, self.grid.region[2] - 1)
        centre = np.asarray(h * (inside + 0.5), np.float64)
        face = np.asarray(h * np.clip(rows, 0, self.grid.region[2]), np.float64)
        stress = self.initial.at(centre)
        mean, deviator = split(stress)
        whole = mean + self.initial.fluid_pressure(centre)
        return np.stack([*deviator, whole, *self.initial.at(face)[4:]], axis=1)

    def initial_load(self, k: int) -> tuple[float, float]:
        """Mean stress plus fluid pressure, and sqrt(J2), in row `k` of the region, Pa."""
        depth = np.array([(k + 0.5) * self.grid.spacing[2]])
        mean, deviator = split(self.initial.at(depth))
        whole = mean + self.initial.fluid_pressure(depth)
        return float(whole[0]), float(np.sqrt(second_invariant(deviator))[0])

    def spared(self, k: int) -> Mask | None:
        """Which cells in row `k` of the region are around moments, (ny, nx); None if none is."""
        return self.moments.in_row(k)


def build_plasticity(
    section: DruckerPragerSection | IwanSection | None,
    ground: Ground,
    sources: Sequence[PointSource],
    comm: Communicator | None = None,
) -> Plasticity | None:
    """The rock of a case; None if it does not yield. Ranks divide the reading of the medium.

    Raises:
        InputError: a value is not finite or out of bounds.
    """
    if not isinstance(section, DruckerPragerSection):
        return None
    job = comm or SerialCommunicator()
    overburden = _overburden(section, ground.medium, job)
    initial = InitialStress(section, overburden)
    moments = MomentCells.of(sources, ground.grid, ground.periodic)
    estimates = _estimates(section, ground.medium, initial, job)
    return Plasticity(section, ground, initial, moments, estimates)


def strength_of_row(section: DruckerPragerSection, medium: Medium, k: int) -> DruckerPrager:
    """Strength of the cells in row `k` of a medium; arrays that broadcast to (ny, nx)."""
    (nx, ny, _), material = medium.cells, medium.plane(k)
    x, y, depth = (Axis(h) for h in medium.spacing)
    place = {"x": np.zeros(1), "y": np.zeros(1), "depth": np.array([[depth.at(k + 0.5)]])}
    if varies_sideways(section):
        place["x"] = np.asarray(x.at(np.arange(nx) + 0.5))[None, :]
        place["y"] = np.asarray(y.at(np.arange(ny) + 0.5))[:, None]
    shape = np.broadcast_shapes(
        *map(np.shape, (*place.values(), material.vp, material.vs, material.rho))
    )
    found = strength_at(section, RockPoints.of(place, material))
    cohesion, angle = (np.reshape(a, shape) for a in (found.cohesion, found.friction_angle))
    return DruckerPrager(
        cohesion=cohesion, friction_angle=angle, relaxation_time=section.relaxation_time
    )


def _overburden(section: DruckerPragerSection, medium: Medium, job: Communicator) -> Overburden:
    """The weight of the mean density of each depth row."""
    _, _, h = medium.spacing
    edges = np.asarray(Axis(h).at(np.arange(medium.cells[2] + 1.0)))
    if section.stress.tensor:  # which needs no weight
        return Overburden(edges, np.zeros(medium.cells[2]))

    def own() -> list[tuple[int, int, float]]:
        runs = _own_runs(medium, job)
        return [(k, count, float(np.mean(medium.plane(k).rho))) for k, count in runs]

    rho = np.empty(medium.cells[2])
    for parts in job.allgather(job.collective_try(own)):
        for k, count, mean in parts:
            rho[k : k + count] = mean
    return Overburden(edges, rho)


def _estimates(
    section: DruckerPragerSection, medium: Medium, initial: InitialStress, job: Communicator
) -> YieldEstimates:
    """How close to yielding the cells are."""
    nx, ny, nz = medium.cells

    def own() -> YieldEstimates:
        rows = range(job.rank, nz, job.size)
        return YieldEstimates.of(section.relaxation_time, in_threads(state, rows))

    def state(k: int) -> RockState:
        rock, depth = strength_of_row(section, medium, k), np.atleast_1d(Axis(h).at(k + 0.5))
        cohesion, angle = (np.ravel(a) for a in (rock.cohesion, rock.friction_angle))
        flat = DruckerPrager(cohesion=cohesion, friction_angle=angle)
        each = nx * ny // cohesion.size
        return RockState(flat, initial.at(depth), initial.fluid_pressure(depth), depth, each)

    _, _, h = medium.spacing
    total = YieldEstimates(section.relaxation_time)
    for part in job.allgather(job.collective_try(own)):
        total.merge(part)
    return total


def _own_runs(medium: Medium, job: Communicator) -> Iterator[tuple[int, int]]:
    """Yield the runs of equal rows that this rank reads."""
    yield from find_runs(medium)[job.rank :: job.size]
