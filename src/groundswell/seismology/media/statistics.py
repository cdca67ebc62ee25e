"""What a medium is like as a whole: extremes that decide the step, and what it must not hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from groundswell.errors import InputError
from groundswell.exchange.world import Alone, World
from groundswell.seismology.media.material import (
    Counts,
    Floor,
    Material,
    Medium,
    Values,
    count_cells,
    describe_cell,
    find_fault,
    find_runs,
)


@dataclass(frozen=True)
class MediumStatistics:
    """Extremes of a medium in SI units; S speeds, `qs_*` and Vp/Vs of its solid cells only.

    Values are `None` where nothing has them: S speeds without solids, Q of an elastic medium.
    `speed_min` is the slowest wave of any cell: S in solids, P in fluids. `vs_min_cell` (i, j, k)
    is the first cell with the slowest S waves and `vs_min_depth` the depth of its centre.
    `qp_qs_max` is the largest Qp/Qs over 3/4 (vp/vs)^2; above 1 pure compression gains energy.
    `floored` counts the cells that a `Floor` changed, by property.
    """

    vp_min: float
    vp_max: float
    rho_min: float
    rho_max: float
    speed_min: float
    vs_min: float | None
    vs_max: float | None
    vs_min_cell: Counts | None
    vs_min_depth: float | None
    vp_vs_max: float | None
    qp_min: float | None
    qp_max: float | None
    qs_min: float | None
    qs_max: float | None
    qp_qs_max: float | None
    fluid_cells: int
    floored: Mapping[str, int]


@dataclass
class _Extremes:
    """What some planes come to: least and largest values by name, and counts of cells.

    `slowest` is the slowest S wave and its cell, ordered so that the first such cell is least.
    """

    lows: dict[str, float] = field(default_factory=dict)
    highs: dict[str, float] = field(default_factory=dict)
    fluid: int = 0
    slowest: tuple[float, int, int, int] | None = None  # vs, k, j, i
    floored: dict[str, int] = field(default_factory=dict)

    def add(self, other: _Extremes) -> None:
        """Take those of other planes in."""
        for name, value in other.lows.items():
            self.lows[name] = min(value, self.lows.get(name, np.inf))
        for name, value in other.highs.items():
            self.highs[name] = max(value, self.highs.get(name, -np.inf))
        self.fluid += other.fluid
        found = [s for s in (self.slowest, other.slowest) if s is not None]
        self.slowest = min(found, default=None)
        for name, count in other.floored.items():
            self.floored[name] = self.floored.get(name, 0) + count


def medium_statistics(medium: Medium, world: World | None = None) -> MediumStatistics:
    """Stream the planes of `medium`, refuse what is unphysical, and return the extremes.

    Of a run of equal planes one is looked at. Ranks share the planes.

    Raises `InputError` naming a cell (on one rank the first) with a value that is not finite or not
    positive (vs = 0 is a fluid), or with a vp that leaves no positive bulk modulus.
    """
    job = world or Alone()
    own = find_runs(medium)[job.rank :: job.size]
    found = _Extremes()
    for extremes in job.share(job.agree(lambda: _extremes(medium, own))):
        found.add(extremes)
    lows, highs, slowest = found.lows, found.highs, found.slowest
    return MediumStatistics(
        vp_min=lows["vp"],
        vp_max=highs["vp"],
        rho_min=lows["rho"],
        rho_max=highs["rho"],
        speed_min=lows["speed"],
        vs_min=lows.get("vs"),
        vs_max=highs.get("vs"),
        vs_min_cell=None if slowest is None else (slowest[3], slowest[2], slowest[1]),
        vs_min_depth=None if slowest is None else (slowest[1] + 0.5) * medium.spacing[2],
        vp_vs_max=highs.get("vp_vs"),
        qp_min=lows.get("qp"),
        qp_max=highs.get("qp"),
        qs_min=lows.get("qs"),
        qs_max=highs.get("qs"),
        qp_qs_max=highs.get("qp_qs"),
        fluid_cells=found.fluid,
        floored=found.floored,
    )


def _extremes(medium: Medium, runs: Sequence[tuple[int, int]]) -> _Extremes:
    found = _Extremes()
    for k, rows in runs:
        found.add(_of_plane(medium, k, rows))
    if isinstance(medium, Floor):
        found.floored = medium.changed_in(dict(runs))
    return found


def _of_plane(medium: Medium, k: int, rows: int) -> _Extremes:
    material = _physical_plane(medium, k)
    values = dict(_quantities(material))
    return _Extremes(
        {name: float(v.min()) for name, v in values.items()},
        {name: float(v.max()) for name, v in values.items()},
        rows * count_cells(material.vs == 0, medium.cells),
        _slowest(material.vs, k),
    )


def _physical_plane(medium: Medium, k: int) -> Material:
    """Plane `k` with its arrays of one shape, refused if it is unphysical."""
    given = medium.plane(k).given()
    arrays = np.broadcast_arrays(*given.values())
    material = Material(**dict(zip(given, arrays, strict=True)))
    if fault := find_fault(material):
        j, i = fault.place
        raise InputError(
            f"medium: {describe_cell((i, j, k), medium.spacing)} has {fault.found}: {fault.rule}; "
            "correct the model, or give lower bounds in medium.floor"
        )
    return material


def _slowest(vs: Values, k: int) -> tuple[float, int, int, int] | None:
    """The plane's slowest S wave and the first cell (k, j, i) that has it; None in fluids."""
    solid = np.where(vs > 0, vs, np.inf)
    j, i = np.unravel_index(int(solid.argmin()), solid.shape)
    return (float(solid[j, i]), k, int(j), int(i)) if np.isfinite(solid[j, i]) else None


def _quantities(material: Material) -> Iterator[tuple[str, Values]]:
    """The values, never none of them, that each extreme is taken over."""
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
    vp_vs = material.vp[solid] / material.vs[solid]
    yield "vp_vs", vp_vs
    if material.qp is not None and material.qs is not None:
        yield "qp_qs", material.qp[solid] / material.qs[solid] / (0.75 * vp_vs**2)
