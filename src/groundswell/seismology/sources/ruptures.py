"""Point sources of rupture files: one for each subfault and component of slip or moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats, Reals
from groundswell.errors import InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.case.sources import (
    AwpRupture,
    FspRupture,
    RuptureFile,
    SrfRupture,
)
from groundswell.seismology.formats.awp import read_awp_source
from groundswell.seismology.formats.srf import read_srf
from groundswell.seismology.formats.srf_content import Srf
from groundswell.seismology.sources import moment as tensors
from groundswell.seismology.sources.entries import Fault, SourceEntry
from groundswell.seismology.sources.point_sources import PointSource, SourceContext
from groundswell.seismology.sources.rupture_checks import SRF_CURE, check_rigidity, check_slip
from groundswell.seismology.sources.slip_models import SlipModel, read_slip_model

# --- SRF -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PlacedRupture:
    """A rupture in the grid.

    Args:
        content: the content of the file.
        frame: mapping from its longitudes and latitudes to the grid.
        positions: positions (x, y, depth) of the subfaults, m, (n, 3).
        medium_rigidity: mu of the medium at the subfaults, Pa, (n,).
    """

    content: Srf
    frame: Geography
    positions: Floats
    medium_rigidity: Floats

    @property
    def rigidity(self) -> Floats:
        """mu of the subfaults, Pa, (n,): from the file or, where it has none, from the medium."""
        own = self.content.rigidity
        return np.where(np.isnan(own), self.medium_rigidity, own)


def srf_entry(section: SrfRupture, context: SourceContext) -> SourceEntry:
    """The point sources of a rupture in Standard Rupture Format.

    A subfault has the moment mu A D, where D is the integral of its slip rates. The rigidity mu
    comes from the file or, where it has none, from the medium.

    Raises:
        InputError: the file cannot be read or has no slip, or its slip or rigidity is implausible.
    """
    return _rupture_entry(section, read_rupture(section), context)


def fsp_entry(section: FspRupture, context: SourceContext) -> SourceEntry:
    """The point sources of a slip model in FSP.

    Raises:
        InputError: see `srf_entry`.
    """
    return _rupture_entry(section, read_rupture(section), context)


def read_rupture(section: SrfRupture | FspRupture) -> SlipModel:
    """The rupture of a file, and warnings about the file.

    Raises:
        InputError: the file cannot be read.
    """
    if isinstance(section, FspRupture):
        return read_slip_model(section.file, section.rise)
    return SlipModel(read_srf(section.file), ())


def _rupture_entry(
    section: SrfRupture | FspRupture, model: SlipModel, context: SourceContext
) -> SourceEntry:
    content = model.content
    if np.isnan(content.slip_times).all():
        raise InputError(f"{section.file}: no subfault slips; give a rupture with slip")
    rupture = place_rupture(section, content, context)
    name = section.file.name
    warnings = [*model.warnings, *check_slip(content, name)]
    cure = SRF_CURE if isinstance(section, SrfRupture) else "correct the wrong one"
    warnings += check_rigidity(content, rupture.medium_rigidity, name, cure)
    points = [*_srf_points(rupture, context)]
    return SourceEntry(section, points, _fault(rupture), tuple(warnings))


def place_rupture(section: RuptureFile, content: Srf, context: SourceContext) -> PlacedRupture:
    """The subfaults of a file in the grid.

    Raises:
        InputError: their longitudes and latitudes lie outside the range of the projection.
    """
    frame, shift = context.geography, 0.0
    if section.place is not None:
        first = int(np.nanargmin(content.slip_times[:, 0]))
        azimuth = context.azimuth if section.azimuth is None else section.azimuth
        lonlat = float(content.longitude[first]), float(content.latitude[first])
        frame = Geography.from_point(lonlat, section.place, azimuth)
        if section.depth is not None:
            shift = section.depth - float(content.depth[first])
    assert frame is not None  # as the case has been validated
    try:
        x, y = frame.to_grid(content.longitude, content.latitude)
    except InputError as error:
        raise InputError(f"{section.file}: {error}") from None
    depth = content.depth + shift
    mu = np.asarray(context.rigidity(x, y, depth), dtype=float)
    return PlacedRupture(content, frame, np.stack([x, y, depth], axis=1), mu)


def _srf_points(rupture: PlacedRupture, context: SourceContext) -> Iterator[PointSource]:
    content, moments = rupture.content, _moments_per_slip(rupture, context)
    for point, component in zip(*np.nonzero(content.counts), strict=True):
        yield from _from_rates(
            rupture.positions[point],
            int(point) + 1,
            moments[component][point],
            float(content.onset[point]),
            float(content.step[point]),
            content.rate(point, component),
        )


def _moments_per_slip(
    rupture: PlacedRupture, context: SourceContext
) -> tuple[Floats, Floats, Floats]:
    """Moment tensors (n, 6) per metre of each of the three components of slip, N m/m."""
    content, mu = rupture.content, rupture.rigidity
    angles, azimuth = (content.strike, content.dip), rupture.frame.true_azimuth
    along = tensors.double_couple(*angles, content.rake, mu * content.area, azimuth)
    across = tensors.double_couple(*angles, content.rake + 90, mu * content.area, azimuth)
    if not content.counts[:, 2].any():
        return along, across, np.zeros_like(along)
    lam = context.lame(*rupture.positions.T)
    return along, across, tensors.opening(*angles, content.area, lam, mu, azimuth)


def _fault(rupture: PlacedRupture) -> Fault:
    content = rupture.content
    starts, ends = content.slip_times.T
    slipping = ~np.isnan(starts)
    x, y, depth = rupture.positions[np.nanargmin(starts)].tolist()
    return Fault(
        subfaults=len(content),
        slipping=int(slipping.sum()),
        area=float(content.area[slipping].sum()),
        largest_slip=float(np.linalg.norm(content.integrated_slip, axis=1).max()),
        start=float(np.nanmin(starts)),
        end=float(np.nanmax(ends)),
        hypocentre=(x, y, depth),
        own_rigidity=int((slipping & ~np.isnan(content.rigidity)).sum()),
        frame=rupture.frame,
        planes=content.planes,
    )


# --- AWP -----------------------------------------------------------------------------------------


def awp_entry(section: AwpRupture, context: SourceContext) -> SourceEntry:
    """The point sources of an AWP file.

    Raises:
        InputError: the file cannot be read, or all its moment rates are zero.
    """
    points = [*_awp_points(section, context)]
    if not points:
        raise InputError(f"{section.file}: all moment rates are zero; at least one must not be")
    return SourceEntry(section, points)


def _awp_points(section: AwpRupture, context: SourceContext) -> Iterator[PointSource]:
    awp = read_awp_source(section.file, section.points, section.steps, section.format)
    rates, unit = awp.moment_rates(), np.eye(6)
    for point, position in enumerate(awp.positions(context.spacing)):
        for component in np.flatnonzero(rates[point].any(axis=0)):
            # AWP adds sample n in stress update n, which ends half a step after velocity n.
            yield from _from_rates(
                position,
                point + 1,
                unit[component],
                section.step,
                section.step,
                rates[point, :, component],
            )


# --- rates ---------------------------------------------------------------------------------------


def _from_rates(
    position: Floats,
    number: int,
    moment: Floats,
    start: float,
    step: float,
    rates: Reals,
) -> Iterator[PointSource]:
    """Yield a source of moment `moment` times the integral of `rates`; none if all are zero.

    Samples are normalised by the integral of their magnitude, which is the total slip if it never
    reverses. Rates that do not start or end with zero are extended to zero over one step, so that
    every sample contributes a full step to the integral.

    Args:
        position: (x, y, depth), m.
        number: number of the point in its file, from 1.
        moment: moment tensor (6,) per unit of the integral of `rates`.
        start, step: time of the first rate and between rates, s.
    """
    rates = np.asarray(rates, dtype=float)
    scale = step * float(np.abs(rates).sum())
    if scale == 0:
        return
    before, after = int(rates[0] != 0), int(rates[-1] != 0)
    samples = np.zeros(before + rates.size + after)
    samples[before : before + rates.size] = rates / scale
    x, y, z = position.tolist()
    first = start - before * step
    yield PointSource((x, y, z), moment * scale, None, first, step, samples, number)
