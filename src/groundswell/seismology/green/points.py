"""The points at which a run records the strain due to a force, and the force."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.errors import InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.case.green import StrainGreenTensorOutput
from groundswell.seismology.green.point_files import KEY, placed_points
from groundswell.seismology.sources import moment as tensors
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.point_sources import TAIL, PointSource, SourceContext

TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")
SHEAR = ("strike", "updip")
RAKES = (0.0, 90.0)  # of SHEAR, degrees
AXES = "xyz"
SMALLEST_IMPULSE = 1e-3  # of a force, over the integral of its magnitude


@dataclass(frozen=True, eq=False)
class StrainPoints:
    """Points, and the tensors with which the strain at these points is contracted.

    Args:
        positions: (x, y, depth), m, (points, 3).
        components: names of the contractions: TENSOR or SHEAR.
        basis: the tensors (xx, yy, zz, xy, xz, yz), (points, components, 6). The contraction of a
            unit tensor xy = yx with the strain is 2 exy.
        lam, mu: Lame parameters of the medium, Pa, (points,).
        frame: maps longitudes and latitudes to x and y; None if it is unknown.
        shift: added to the depths of a rupture file, m.
    """

    positions: Floats
    components: tuple[str, ...]
    basis: Floats
    lam: Floats
    mu: Floats
    frame: Geography | None = None
    shift: float = 0.0

    def __len__(self) -> int:
        return len(self.positions)


@dataclass(frozen=True, eq=False)
class PointForce:
    """A force along an axis of the grid at a station.

    Args:
        station, network: codes of the station.
        axis: 0 for x, 1 for y, 2 for z (down).
        size: largest force, N.
        source: as a point source.
    """

    station: str
    network: str
    axis: int
    size: float
    source: PointSource

    @property
    def impulse(self) -> float:
        """Integral of the force over time, N s."""
        return self.size * self.source.step * float(self.source.samples.sum())

    @property
    def centroid(self) -> float:
        """Time of the centroid of the force, s."""
        source = self.source
        times = source.start + source.step * np.arange(source.samples.size)
        return float(times @ source.samples / source.samples.sum())


@dataclass(frozen=True, eq=False)
class GreenSurvey:
    """The force and the points of a run that records strain."""

    force: PointForce
    points: StrainPoints


def build_green(
    section: StrainGreenTensorOutput | None,
    entries: list[SourceEntry],
    context: SourceContext,
    require_inside: Callable[[Floats], None],
    *,
    is_linear: bool,
) -> GreenSurvey | None:
    """The force and the points of a case; None if it does not record strain.

    Args:
        entries: the sources of the case.
        require_inside: raises an error for positions (points, 3) at which a run has no strain.
        is_linear: whether the case has neither faults nor rock that yields.

    Raises:
        InputError: the case has other sources than one force along an axis, is not linear, or its
            points cannot be read or lie in a fluid.
    """
    if section is None:
        return None
    if not is_linear:
        raise InputError(
            f"{KEY} needs a linear medium, without [[fault]] and [plasticity]; remove them"
        )
    force = _force(section, entries)
    return GreenSurvey(force, read_points(section, context, require_inside))


def _force(section: StrainGreenTensorOutput, entries: list[SourceEntry]) -> PointForce:
    """The only source of a case, along an axis and with an impulse."""
    sources = [point for entry in entries for point in entry.points]
    forces = [source for source in sources if source.force is not None]
    if len(sources) != 1 or len(forces) != 1:
        raise InputError(
            f'{KEY} needs exactly one [[source]], of kind = "force", at the station; the case has '
            f"{len(sources)} sources, {len(forces)} of them forces"
        )
    (source,) = forces
    assert source.force is not None  # as it is one of the forces
    along = np.flatnonzero(source.force)
    if len(along) != 1:
        raise InputError(
            f"{KEY} needs a force along one axis, but source[0] has "
            f"({', '.join(f'{value:g}' for value in source.force)}) N; run the case once for each "
            "axis"
        )
    if abs(source.samples.sum()) < SMALLEST_IMPULSE * np.abs(source.samples).sum():
        raise InputError(
            f"{KEY} needs a force with an impulse, but the time function of source[0] integrates "
            'to zero; use a "gaussian", for example'
        )
    if abs(source.samples[-1]) > TAIL * np.abs(source.samples).max():
        raise InputError(
            f"{KEY} needs the whole force, but the run ends before source[0] does; lengthen "
            "time.duration"
        )
    axis = int(along[0])
    return PointForce(section.station, section.network, axis, float(source.force[axis]), source)


# --- points ---------------------------------------------------------------------------------------


def read_points(
    section: StrainGreenTensorOutput,
    context: SourceContext,
    require_inside: Callable[[Floats], None],
) -> StrainPoints:
    """The points of a section; see `build_green`.

    Raises:
        InputError: they cannot be read, lie in a fluid, or have no planes for shear strains.
    """
    placed = placed_points(section, context)
    positions, count = placed.positions, len(placed.positions)
    require_inside(positions)
    lam, mu = (np.asarray(of(*positions.T), float) for of in (context.lame, context.rigidity))
    if (mu == 0).any():
        raise InputError(
            f"{_named(positions, mu == 0)} in a fluid, where strain is not recorded; move "
            "them to a solid"
        )
    where = lam, mu, placed.frame or context.geography, placed.shift
    if section.components == "tensor":
        return StrainPoints(positions, TENSOR, np.tile(np.eye(6), (count, 1, 1)), *where)
    if placed.strike is None or placed.dip is None:
        raise InputError(
            f'{KEY}.components = "shear" needs the columns strike and dip in {section.file}; add '
            'them, or use "tensor"'
        )
    basis = [
        tensors.double_couple(placed.strike, placed.dip, r, 1.0, placed.azimuth) for r in RAKES
    ]
    return StrainPoints(positions, SHEAR, np.stack(basis, axis=1), *where)


def require_in_box(positions: Floats, extent: tuple[float, float, float]) -> None:
    """Check that all points lie in the region, to within a millimetre.

    Args:
        extent: size of the region (x, y, z), m.

    Raises:
        InputError: some lie outside.
    """
    outside: Mask = np.any((positions < -1e-3) | (positions > np.add(extent, 1e-3)), axis=1)
    if outside.any():
        x, y, z = extent
        raise InputError(
            f"{_named(positions, outside)} outside the region, which reaches "
            f"from 0 to {x:g} m, {y:g} m and {z:g} m; move them, or enlarge grid.size"
        )


def _named(positions: Floats, wrong: Mask) -> str:
    """The number of invalid points and the position of the first, as the subject of a sentence."""
    count, first = int(np.sum(wrong)), int(np.argmax(wrong))
    x, y, depth = positions[first]
    place = f"point {first + 1} at x = {x:.6g} m, y = {y:.6g} m, depth = {depth:.6g} m"
    if count == 1:
        return f"{KEY}: {place} lies"
    return f"{KEY}: {count} of {len(positions)} points, the first of them {place}, lie"
