"""From the sources of a case to point sources: a place, a tensor or a force, and its history.

Rupture models are sums of point sources too: one for each point of the fault and component of its
slip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.errors import InputError
from groundswell.seismology.formats.awp import read_awp_source
from groundswell.seismology.formats.srf import Srf, read_srf
from groundswell.seismology.sources import moment as tensors
from groundswell.seismology.sources.time_functions import TimeFunction, time_function

Array = NDArray[np.float64]
Modulus = Callable[[Array, Array, Array], ArrayLike]  # Pa at positions (x, y, z) in m, arrays (n,)

# A stress update is centred on the velocities' time n dt, a velocity update on the stresses' time.
AT_VELOCITIES, AT_STRESSES = 0.0, 0.5
_UNRESOLVED = 0.01  # largest error of a sampled history's integral, as a share of the moment


class Geography(Protocol):
    """What places a source given by longitude and latitude; see `grids/geography.py`."""

    @property
    def true_azimuth(self) -> float: ...

    def to_grid(self, longitude: ArrayLike, latitude: ArrayLike) -> tuple[Array, Array]: ...


@dataclass(frozen=True, eq=False)
class PointSource:
    """A moment tensor or a force at a point.

    Args:
        position: (x, y, z), m, from the region's corner.
        moment: (6,) N m (xx, yy, zz, xy, xz, yz), times the moment rate (1/s) in `samples`; or
            None.
        force: (3,) N (x, y, z down), times the dimensionless history in `samples`; or None.
        start, step: time of the first sample and between samples, s.
        samples: the history; linear between the samples, zero outside.
    """

    position: tuple[float, float, float]
    moment: Array | None
    force: Array | None
    start: float
    step: float
    samples: Array


def build_sources(
    case_sources: Iterable[Any],
    geography: Geography | None,
    sample_step: float,
    duration: float,
    rigidity: Modulus,
    *,
    lame: Modulus | None = None,
    spacing: Sequence[float] | None = None,
    folder: Path | str = "",
) -> list[PointSource]:
    """All point sources of a case.

    Args:
        case_sources: the `[[source]]` tables, with attributes named as in the case file.
        geography: places longitudes and latitudes; None when the case has none.
        sample_step: the solver's time step (s). Analytic histories are sampled when the update
            that they enter needs them.
        duration: of the run (s), where analytic histories are cut.
        rigidity: mu at positions, for slip on points whose rupture file does not say.
        lame: lambda at positions, for rupture files whose faults open.
        spacing: cell edges (x, y, z) of the grid (m), for AWP files, which count in cells.
        folder: where relative file names of the case start.

    Raises InputError when a source cannot be built as described.
    """
    site = _Site(geography, sample_step, duration, rigidity, lame, spacing, Path(folder))
    return [point for n, source in enumerate(case_sources) for point in _build(n, source, site)]


def _build(n: int, source: Any, site: _Site) -> Iterator[PointSource]:
    """The point sources of the case's source `n`, which messages name by that number."""
    try:
        yield from _BUILDERS[source.kind](source, site)
    except InputError as error:
        raise InputError(f"source[{n}]: {error}") from None


def net_moment(sources: Iterable[PointSource]) -> Array:
    """The moment tensor that all sources together release, (6,) N m."""
    total = np.zeros(6)
    for source in sources:
        if source.moment is not None:
            total += source.moment * (source.step * source.samples.sum())
    return total


@dataclass(frozen=True)
class _Site:
    """What the sources of a case need to know of the rest of it."""

    geography: Geography | None
    sample_step: float
    duration: float
    rigidity: Modulus
    lame: Modulus | None
    spacing: Sequence[float] | None
    folder: Path

    @property
    def azimuth(self) -> float:
        return self.geography.true_azimuth if self.geography else 0.0

    def horizontal(self, longitude: ArrayLike, latitude: ArrayLike) -> tuple[Array, Array]:
        if self.geography is None:
            raise InputError(
                "is given by longitude and latitude, but the grid has no place on the map;"
                " add [grid.geography] or give x and y"
            )
        return self.geography.to_grid(longitude, latitude)


# --- sources at one point ----------------------------------------------------------------------


def _moment_source(source: Any, site: _Site) -> Iterator[PointSource]:
    moment = _TENSORS[source.kind](source, site.azimuth)
    start, samples = _sampled(_history(source, site), site, TimeFunction.__call__, AT_VELOCITIES)
    yield PointSource(_position(source, site), moment, None, start, site.sample_step, samples)


def _force_source(source: Any, site: _Site) -> Iterator[PointSource]:
    force = np.array(source.force, dtype=float)
    start, samples = _sampled(_history(source, site), site, TimeFunction.amplitude, AT_STRESSES)
    yield PointSource(_position(source, site), None, force, start, site.sample_step, samples)


def _position(source: Any, site: _Site) -> tuple[float, float, float]:
    if getattr(source, "longitude", None) is None:
        return float(source.x), float(source.y), float(source.depth)
    x, y = site.horizontal(source.longitude, source.latitude)
    return float(x), float(y), float(source.depth)


def _history(source: Any, site: _Site) -> TimeFunction:
    parameters = _given(source.time_function)
    if "file" in parameters:
        parameters["file"] = site.folder / parameters["file"]
    return time_function(parameters.pop("kind"), **parameters)


def _sampled(
    function: TimeFunction,
    site: _Site,
    history: Callable[[TimeFunction, ArrayLike], Array],
    offset: float,
) -> tuple[float, Array]:
    """The time of the first sample, and samples `offset` steps after the solver's steps.

    Refuses a source that the run is too short for, and one too short for the steps, whose moment
    would come out wrong.
    """
    step = site.sample_step
    first, last = int(function.onset / step), int(np.ceil(function.duration / step))
    times = step * np.arange(first + offset, last + 1)
    if times[0] >= site.duration:
        raise InputError(
            f"starts at {function.onset:g} s, when the run of {site.duration:g} s is over;"
            " lengthen the run or start the source earlier"
        )
    error = abs(step * float(np.sum(function(times))) - function.integral)
    if error > _UNRESOLVED * max(1.0, abs(function.integral)):
        raise InputError(
            f"a {type(function).__name__.lower()} source of {function.support:g} s is too short"
            f" for time steps of {step:g} s: its moment would be wrong by {100 * error:.0f} %;"
            " lengthen it or shorten the step"
        )
    times = times[times < site.duration]
    return float(times[0]), history(function, times)


def _double_couple(source: Any, azimuth: float) -> Array:
    return tensors.double_couple(
        source.strike, source.dip, source.rake, _scalar_moment(source), azimuth
    )


def _explosion(source: Any, azimuth: float) -> Array:
    return tensors.explosion(_scalar_moment(source))


def _moment_tensor(source: Any, azimuth: float) -> Array:
    components = _given(source.components)
    convert = tensors.from_rtp if "rr" in components else tensors.from_ned
    return convert(**components, azimuth=azimuth)


def _scalar_moment(source: Any) -> float:
    if getattr(source, "moment", None) is not None:
        return float(source.moment)
    return tensors.moment_from_magnitude(source.magnitude)


def _given(table: Any) -> dict[str, Any]:
    """The entries of a table of a case, a mapping or an object, that have a value."""
    entries = table if isinstance(table, Mapping) else vars(table)
    return {name: value for name, value in entries.items() if value is not None}


# --- rupture models ----------------------------------------------------------------------------


def _srf_sources(source: Any, site: _Site) -> Iterator[PointSource]:
    rupture = read_srf(site.folder / source.file)
    x, y = site.horizontal(rupture.longitude, rupture.latitude)
    moments = _moments_per_slip(rupture, x, y, site)
    for point, component in zip(*np.nonzero(rupture.counts), strict=True):
        yield from _from_rates(
            (float(x[point]), float(y[point]), float(rupture.depth[point])),
            moments[component][point],
            float(rupture.onset[point]),
            float(rupture.step[point]),
            rupture.rate(point, component),
        )


def _moments_per_slip(rupture: Srf, x: Array, y: Array, site: _Site) -> tuple[Array, Array, Array]:
    """The tensors (n, 6) of one metre of slip, N m/m, for each of the three components of slip."""
    mu = rupture.density * rupture.vs**2
    unknown = np.isnan(mu)
    if unknown.any():
        mu[unknown] = site.rigidity(x[unknown], y[unknown], rupture.depth[unknown])
    angles, azimuth = (rupture.strike, rupture.dip), site.azimuth
    along = tensors.double_couple(*angles, rupture.rake, mu * rupture.area, azimuth)
    across = tensors.double_couple(*angles, rupture.rake + 90, mu * rupture.area, azimuth)
    if not rupture.counts[:, 2].any():
        return along, across, np.zeros_like(along)
    if site.lame is None:
        raise InputError("the rupture opens (slip3), which needs lambda; this medium gives only mu")
    lam = site.lame(x, y, rupture.depth)
    return along, across, tensors.opening(*angles, rupture.area, lam, mu, azimuth)


def _awp_sources(source: Any, site: _Site) -> Iterator[PointSource]:
    if site.spacing is None:
        raise InputError("an AWP source file counts in cells; the grid's spacing is needed")
    awp = read_awp_source(site.folder / source.file, source.points, source.steps, source.format)
    rates, unit = awp.moment_rates(), np.eye(6)
    for point, position in enumerate(awp.positions(site.spacing).tolist()):
        for component in np.flatnonzero(rates[point].any(axis=0)):
            # AWP adds sample n with its stress update n, which ends half a step after velocity n.
            yield from _from_rates(
                position,
                unit[component],
                source.step,
                source.step,
                rates[point, :, component],
            )


def _from_rates(
    position: Sequence[float],
    moment: Array,
    start: float,
    step: float,
    rates: NDArray[np.floating],
) -> Iterator[PointSource]:
    """One source of moment `moment` times the integral of `rates`; none when nothing happens.

    The samples are divided by the integral of their magnitude, which is the slip where it never
    turns back. A history that does not begin or end with zero is continued to zero over one step,
    so that every sample counts one full step.
    """
    rates = np.asarray(rates, dtype=float)
    scale = step * float(np.abs(rates).sum())
    if scale == 0:
        return
    before, after = int(rates[0] != 0), int(rates[-1] != 0)
    samples = np.zeros(before + rates.size + after)
    samples[before : before + rates.size] = rates / scale
    x, y, z = position
    yield PointSource((x, y, z), moment * scale, None, start - before * step, step, samples)


_TENSORS: dict[str, Callable[[Any, float], Array]] = {
    "double-couple": _double_couple,
    "moment-tensor": _moment_tensor,
    "explosion": _explosion,
}
_BUILDERS: dict[str, Callable[[Any, _Site], Iterator[PointSource]]] = {
    **dict.fromkeys(_TENSORS, _moment_source),
    "force": _force_source,
    "srf": _srf_sources,
    "awp": _awp_sources,
}
