"""Validation of a whole medium, and its extremes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from groundswell.arrays import Floats, Reals
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.grids.axis import Axis
from groundswell.seismology.media.floor import Floor
from groundswell.seismology.media.material import (
    Counts,
    Material,
    Medium,
    count_cells,
    describe_cell,
    find_linear_runs,
    find_runs,
    find_unphysical,
    outline,
)


@dataclass(frozen=True, eq=False)
class SideSpeeds:
    """Speeds of waves in the outermost cells of each depth row, m/s.

    Args:
        slowest: the slowest wave, S in solids and P in fluids, (nz,).
        vp: the slowest P wave, (nz,).
    """

    slowest: Floats
    vp: Floats

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SideSpeeds)
            and np.array_equal(self.slowest, other.slowest)
            and np.array_equal(self.vp, other.vp)
        )


@dataclass(frozen=True)
class MediumStatistics:
    """Extremes of a medium in SI units; `vs_*` and `qs_*` of its solid cells only.

    Values are None where they are undefined: S speeds without solids, Q of an elastic medium.

    Attributes:
        speed_min: speed of the slowest wave of any cell: S in solids, P in fluids.
        vs_min_cell: first cell (i, j, k) with the smallest S speed.
        vs_min_depth: depth of its centre, m.
        qp_qs_max: largest Qp/Qs over 3/4 (vp/vs)^2; above 1 pure compression gains energy.
        fluid_cells: number of fluid cells.
        floored: number of cells that a `Floor` changed, by property.
        sides: speeds in the outermost cells.
    """

    vp_max: float
    speed_min: float
    vs_min: float | None
    vs_max: float | None
    vs_min_cell: Counts | None
    vs_min_depth: float | None
    qp_min: float | None
    qs_min: float | None
    qp_qs_max: float | None
    fluid_cells: int
    floored: Mapping[str, int]
    sides: SideSpeeds


@dataclass
class _Extremes:
    """Extremes of some planes: smallest and largest values by name, and counts of cells.

    `slowest` is the smallest S speed and its cell, (vs, k, j, i), so that the first cell is least.
    Each element of `sides` describes a run of equal rows: first row, number of rows, and the speeds
    of the slowest wave and of the slowest P wave at the sides, m/s.
    """

    lows: dict[str, float] = field(default_factory=dict)
    highs: dict[str, float] = field(default_factory=dict)
    fluid: int = 0
    slowest: tuple[float, int, int, int] | None = None
    floored: dict[str, int] = field(default_factory=dict)
    sides: list[tuple[int, int, float, float]] = field(default_factory=list)

    def add(self, other: _Extremes) -> None:
        """Merge the extremes of other planes."""
        for name, value in other.lows.items():
            self.lows[name] = min(value, self.lows.get(name, np.inf))
        for name, value in other.highs.items():
            self.highs[name] = max(value, self.highs.get(name, -np.inf))
        self.fluid += other.fluid
        slowest = [s for s in (self.slowest, other.slowest) if s is not None]
        self.slowest = min(slowest, default=None)
        for name, count in other.floored.items():
            self.floored[name] = self.floored.get(name, 0) + count
        self.sides += other.sides


def medium_statistics(medium: Medium, comm: Communicator | None = None) -> MediumStatistics:
    """Validate a medium plane by plane and return its extremes; ranks divide the planes.

    Raises:
        InputError: a property is not finite or not positive (except vs = 0 in a fluid), or the bulk
            modulus is not positive; names a cell, the first one on a single rank.
    """
    job = comm or SerialCommunicator()
    total = _Extremes()
    for extremes in job.allgather(job.collective_try(lambda: _own_extremes(medium, job))):
        total.add(extremes)
    lows, highs, slowest = total.lows, total.highs, total.slowest
    _, rows, slowest_at_sides, vp_at_sides = map(np.array, zip(*sorted(total.sides), strict=True))
    return MediumStatistics(
        vp_max=highs["vp"],
        speed_min=lows["speed"],
        vs_min=lows.get("vs"),
        vs_max=highs.get("vs"),
        vs_min_cell=None if slowest is None else (slowest[3], slowest[2], slowest[1]),
        vs_min_depth=None if slowest is None else _depth(medium, slowest[1]),
        qp_min=lows.get("qp"),
        qs_min=lows.get("qs"),
        qp_qs_max=highs.get("qp_qs"),
        fluid_cells=total.fluid,
        floored=total.floored,
        sides=SideSpeeds(np.repeat(slowest_at_sides, rows), np.repeat(vp_at_sides, rows)),
    )


def physical_plane(medium: Medium, k: int) -> Material:
    """Plane `k` of a medium, its arrays broadcast to one shape.

    Raises:
        InputError: its material is unphysical, see `medium_statistics`.
    """
    given = medium.plane(k).given()
    arrays = np.broadcast_arrays(*given.values())
    material = Material(**dict(zip(given, arrays, strict=True)))
    if unphysical := find_unphysical(material):
        j, i = unphysical.entry
        raise InputError(
            f"medium: {describe_cell((i, j, k), medium.spacing)} has {unphysical.properties}: "
            f"{unphysical.rule}; correct the model, or give lower bounds in medium.floor"
        )
    return material


def _depth(medium: Medium, k: int) -> float:
    """Depth of the centres of row `k`, m."""
    return float(Axis(medium.spacing[2]).at(k + 0.5))


def _own_extremes(medium: Medium, job: Communicator) -> _Extremes:
    """Extremes of this rank's share of the runs of rows that a medium knows."""
    linear, total = find_linear_runs(medium), _Extremes()
    runs = (linear or find_runs(medium))[job.rank :: job.size]
    for k, rows in runs:
        total.add((_linear_extremes if linear else _plane_extremes)(medium, k, rows))
    if isinstance(medium, Floor):
        total.floored = medium.changed_in(dict(runs))
    return total


def _linear_extremes(medium: Any, first: int, rows: int) -> _Extremes:
    """Extremes of a run of `find_linear_runs`, whose rows have the same fluid cells."""
    last = first + rows - 1
    total = _plane_extremes(medium, first, 1)
    fluid = rows * total.fluid
    if rows > 1:
        total.add(_plane_extremes(medium, last, 1))
    total.fluid = fluid
    total.sides += [(k, 1, *_side_speeds(medium.sides(k))) for k in range(first + 1, last)]
    return total


def _plane_extremes(medium: Medium, k: int, rows: int) -> _Extremes:
    material = physical_plane(medium, k)
    values = dict(_quantities(material))
    return _Extremes(
        {name: float(v.min()) for name, v in values.items()},
        {name: float(v.max()) for name, v in values.items()},
        rows * count_cells(material.vs == 0, medium.cells),
        _slowest(material.vs, k),
        sides=[(k, rows, *_side_speeds(outline(material)))],
    )


def _slowest(vs: Reals, k: int) -> tuple[float, int, int, int] | None:
    """Smallest S speed of the plane and its first cell, (vs, k, j, i); None in fluids."""
    solid = np.where(vs > 0, vs, np.inf)
    j, i = np.unravel_index(int(solid.argmin()), solid.shape)
    return (float(solid[j, i]), k, int(j), int(i)) if np.isfinite(solid[j, i]) else None


def _side_speeds(sides: Material) -> tuple[float, float]:
    """Speeds of the slowest wave and of the slowest P wave, m/s, in the outermost cells."""
    slowest = np.where(sides.vs > 0, sides.vs, sides.vp)
    return float(slowest.min()), float(sides.vp.min())


def _quantities(material: Material) -> Iterator[tuple[str, Reals]]:
    """Yield each quantity whose extremes are needed, in the cells where it is defined."""
    solid = material.vs > 0
    shear = {"vs", "qs"}
    yield "speed", np.where(solid, material.vs, material.vp)
    for name, values in material.given().items():
        if name not in shear:
            yield name, values
        elif solid.any():
            yield name, values[solid]
    if not solid.any():
        return
    if material.qp is not None and material.qs is not None:
        vp_vs = material.vp[solid] / material.vs[solid]
        yield "qp_qs", material.qp[solid] / material.qs[solid] / (0.75 * vp_vs**2)
