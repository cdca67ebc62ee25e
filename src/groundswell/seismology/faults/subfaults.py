"""The subfaults of a rupture, which are faces of elements on faults, as a source in SRF."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.grids.geography import Geography
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.formats.srf_content import Srf

_ROUNDING = 1e-9  # degrees
_NEGLIGIBLE = 1e-6  # slip rate, over the largest one of the rupture, that is left out


@dataclass(frozen=True, eq=False)
class Subfaults:
    """Faces of elements on faults.

    Args:
        position: their middle: x, y, depth, (n, 3), m.
        strike: degrees clockwise from the y axis of the grid, (n,).
        dip: degrees, (n,); over 90 where the hanging wall lies below.
        area: (n,), m^2.
        mu: for the moment, (n,), Pa.
        density: (n,), kg/m^3.
        weights: of the points of each face in means over its area, (n, points).
    """

    position: Floats
    strike: Floats
    dip: Floats
    area: Floats
    mu: Floats
    density: Floats
    weights: Floats

    @classmethod
    def of(cls, points: FaultPoints, mu: Floats, density: Floats, nodes: int) -> Subfaults:
        """The faces with these points.

        Args:
            mu, density: at the points, (points,).
            nodes: number of points of each face; they follow one another.
        """
        areas = points.area.reshape(-1, nodes)
        area = areas.sum(axis=1)
        weights = areas / area[:, None]

        def mean(values: Floats) -> Floats:
            return np.einsum(
                "fn,fn...->f...", weights, values.reshape(-1, nodes, *values.shape[1:])
            )

        normal, strike = mean(points.normal), mean(points.strike)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        azimuth = np.degrees(np.arctan2(strike[:, 0], strike[:, 1])) % 360
        dip = np.degrees(np.arccos(np.clip(-normal[:, 2], -1, 1)))
        return cls(mean(points.position), azimuth, dip, area, mean(mu), mean(density), weights)


def rupture_source(subfaults: Subfaults, slip: Floats, times: Floats, geography: Geography) -> Srf:
    """A rupture as a kinematic source: the mean slip rate of an interval is that at its middle.

    The integral of the slip rates is therefore the slip.

    Args:
        slip: along strike and up dip, (samples, 2, n), m.
        times: at which it is given, in equal intervals, (samples,), s.
        geography: of the grid.
    """
    step, overturned = float(times[1] - times[0]), subfaults.dip > 90 + _ROUNDING
    along_strike, updip = slip[:, 0], slip[:, 1] * np.where(overturned, -1.0, 1.0)
    rake = np.degrees(np.arctan2(updip[-1] - updip[0], along_strike[-1] - along_strike[0]))
    rates = _along_rake(np.diff([along_strike, updip], axis=1) / step, rake)
    first, counts, samples = _trimmed(rates)
    longitude, latitude = geography.to_lonlat(*subfaults.position[:, :2].T)
    return Srf(
        longitude,
        latitude,
        subfaults.position[:, 2],
        (subfaults.strike + geography.true_azimuth + 180 * overturned) % 360,
        np.where(overturned, 180 - subfaults.dip, np.minimum(subfaults.dip, 90)),
        rake,
        subfaults.area,
        times[first] + step / 2,
        np.full(len(rake), step),
        np.pad(step * rates.sum(axis=1).T * (counts > 0), ((0, 0), (0, 1))),
        np.pad(counts, ((0, 0), (0, 1))),
        samples,
        np.sqrt(subfaults.mu / subfaults.density),
        subfaults.density,
        version="2.0",
    )


def _along_rake(rates: Floats, rake: Floats) -> Floats:
    """Slip rates (2, samples, n) along strike and up dip as those along rake and rake + 90."""
    cos, sin = np.cos(np.radians(rake)), np.sin(np.radians(rake))
    strike, updip = rates
    return np.stack([cos * strike + sin * updip, cos * updip - sin * strike])


def _trimmed(rates: Floats) -> tuple[Integers, Integers, Floats]:
    """Slip rates from the first to the last of each subfault that is not negligible.

    Args:
        rates: of both components, (2, samples, n).

    Returns:
        The first sample, (n,); the number of samples of both components, (n, 2), 0 where all are
        negligible; and the samples, by subfault and component.
    """
    slips = np.abs(rates) > _NEGLIGIBLE * np.abs(rates).max()
    any_slips = slips.any(axis=0)
    first = any_slips.argmax(axis=0)
    last = any_slips.shape[0] - any_slips[::-1].argmax(axis=0)
    counts = (slips.any(axis=1) * (last - first)).T
    kept = [
        rates[component, first[n] : last[n], n]
        for n, component in np.argwhere(counts)  # in the order of the file
    ]
    return first, counts, np.concatenate([np.empty(0), *kept])
