"""The subfaults of a rupture, in faces of elements or in cells on faults, as a source in SRF."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats, Indices, Integers
from groundswell.grids.geography import Geography
from groundswell.meshes.gll import gll
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.formats.srf_content import Srf

_ROUNDING = 1e-9  # degrees
_NEGLIGIBLE = 1e-6  # slip rate, over the largest one of the rupture, that is left out


@dataclass(frozen=True, eq=False)
class FaceQuadrature:
    """The subfaults of a face, or of a cell.

    Args:
        values: interpolates from the points of the face, (subfaults, points).
        weights: of integrals over the face from values at subfaults, (subfaults,).
        point_weights: of the same from values at the points, (points,).
    """

    values: Floats
    weights: Floats
    point_weights: Floats

    @classmethod
    def of_cells(cls) -> FaceQuadrature:
        """A subfault at the only point."""
        return cls(np.ones((1, 1)), np.ones(1), np.ones(1))

    @classmethod
    def of_elements(cls, degree: int) -> FaceQuadrature:
        """Subfaults at the Gauss points of faces whose points are GLL nodes.

        There are just as many as integrate slip of this degree exactly.
        """
        rule, (places, weights) = gll(degree), np.polynomial.legendre.leggauss(degree // 2 + 1)
        pairs = (rule.interpolation(places), weights, rule.weights)
        return cls(*(np.kron(each, each).astype(float) for each in pairs))

    @property
    def points(self) -> int:
        """Number of points of a face."""
        return self.values.shape[1]

    @property
    def subfaults(self) -> int:
        """Number of subfaults of a face."""
        return self.values.shape[0]

    def at_subfaults(self, values: Floats) -> Floats:
        """Values (points of all faces, ...) at the subfaults, (subfaults of all faces, ...)."""
        faces = values.reshape(-1, self.points, *values.shape[1:])
        found = np.einsum("sp,fp...->fs...", self.values, faces)
        return np.asarray(found.reshape(-1, *values.shape[1:]))


@dataclass(frozen=True, eq=False)
class Subfaults:
    """Places on faults that stand for an area.

    Args:
        position: x, y, depth, (n, 3), m.
        strike: degrees clockwise from the y axis of the grid, (n,).
        dip: degrees, (n,); over 90 where the hanging wall lies below.
        area: (n,), m^2.
        mu: for the moment, (n,), Pa.
        density: (n,), kg/m^3.
        along_strike, down_dip: coordinates on the fault, (n,), m.
        quadrature: the subfaults of each face, which follow one another.
        beside: of slip that is the mean of two points along strike, or up dip, half a spacing from
            its subfault: the subfaults before and behind it along this axis, (2, 2, n).
    """

    position: Floats
    strike: Floats
    dip: Floats
    area: Floats
    mu: Floats
    density: Floats
    along_strike: Floats
    down_dip: Floats
    quadrature: FaceQuadrature
    beside: Indices | None = None

    @classmethod
    def of(
        cls, points: FaultPoints, mu: Floats, density: Floats, quadrature: FaceQuadrature
    ) -> Subfaults:
        """The subfaults of faces with these points.

        Args:
            mu, density: at the points, (points,).
            quadrature: of each face; its points follow one another.
        """
        at = quadrature.at_subfaults
        faces = len(points) // quadrature.points
        size = at(points.area / np.tile(quadrature.point_weights, faces))
        normal, strike = at(points.normal), at(points.strike)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        azimuth = np.degrees(np.arctan2(strike[:, 0], strike[:, 1])) % 360
        dip = np.degrees(np.arccos(np.clip(-normal[:, 2], -1, 1)))
        area = size * np.tile(quadrature.weights, faces)
        coordinates = at(points.along_strike), at(points.down_dip)
        return cls(
            at(points.position), azimuth, dip, area, at(mu), at(density), *coordinates, quadrature
        )

    def at_points(self, slip: Floats) -> Floats:
        """Slip (..., 2, n) at the subfaults instead of means of points on either side."""
        return slip if self.beside is None else slip_at_points(slip, self.beside)


def slip_at_points(slip: Floats, beside: Indices) -> Floats:
    """Slip at subfaults for which means of points on either side are given.

    The means take (k h)^2 / 8 of long waves, as much as an eighth of the second difference.

    Args:
        slip: the means along strike and up dip, (..., 2, n), m.
        beside: see `Subfaults`.
    """
    parts = [
        slip[..., n, :] - (slip[..., n, low] - 2 * slip[..., n, :] + slip[..., n, high]) / 8
        for n, (low, high) in enumerate(beside)
    ]
    return np.stack(parts, axis=-2)


def rupture_source(subfaults: Subfaults, slip: Floats, times: Floats, geography: Geography) -> Srf:
    """A rupture as a kinematic source, whose slip rates are at the middle of intervals.

    The integral of the slip rates is the slip.

    Args:
        slip: along strike and up dip, (samples, 2, n), m.
        times: at which it is given, in equal intervals, (samples,), s.
        geography: of the grid.
    """
    step, overturned = float(times[1] - times[0]), subfaults.dip > 90 + _ROUNDING
    slip = subfaults.at_points(slip)
    along_strike, updip = slip[:, 0], slip[:, 1] * np.where(overturned, -1.0, 1.0)
    rake = np.degrees(np.arctan2(updip[-1] - updip[0], along_strike[-1] - along_strike[0]))
    rates = _along_rake(slip_rates(np.stack([along_strike, updip]), step), rake)
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


def slip_rates(slip: Floats, step: float) -> Floats:
    """Slip rates in the middle of intervals, whose linear interpolation has the slip.

    The mean over an interval and the interpolation take (pi f step)^2 / 2 of the amplitude at low
    frequencies f. An eighth of the second difference is as much; the integral remains.

    Args:
        slip: (2, samples + 1, n), m.
        step: the interval, s.

    Returns:
        (2, samples, n), m/s.
    """
    means = np.diff(slip, axis=1) / step
    padded = np.pad(means, ((0, 0), (1, 1), (0, 0)), mode="edge")
    return np.asarray(means - np.diff(padded, 2, axis=1) / 8)


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
