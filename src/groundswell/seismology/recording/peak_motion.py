"""The largest ground motion of a shaking map and where it is, as findings of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from groundswell.arrays import Reals
from groundswell.case.quantities import Quantity
from groundswell.plotting.style import speed_unit
from groundswell.seismology.formats.shaking_maps import SurfacePoints

GROUP = "Largest ground motion"


class _Peak(NamedTuple):
    """A quantity of a map: its key, label and SI unit, and the unit in which a value is shown."""

    key: str
    label: str
    unit: str
    shown: Callable[[float], tuple[float, str]]


_PEAKS = (
    _Peak("peak_velocity", "peak ground velocity", "m/s", speed_unit),
    _Peak("peak_acceleration", "peak ground acceleration", "m/s^2", lambda _: (1.0, "m/s²")),
)


class PeakMotion:
    """A report of the peaks of a map; there are none before `keep`.

    Attributes:
        findings: largest velocity and acceleration of the horizontal vector, each with its place.
    """

    def __init__(self) -> None:
        self.findings: list[Quantity] = []

    @property
    def warnings(self) -> Sequence[str]:
        """There are no warnings."""
        return ()

    def keep(self, pgv: Reals, pga: Reals, points: SurfacePoints) -> None:
        """Find the peaks of a map.

        Args:
            pgv, pga: peak ground velocity and acceleration, m/s and m/s^2, (ny, nx).
            points: their positions.
        """
        for values, about in zip((pgv, pga), _PEAKS, strict=True):
            self.findings += _findings(np.asarray(values), points, about)


def _findings(peaks: Reals, points: SurfacePoints, of: _Peak) -> Iterator[Quantity]:
    """Yield the largest value and its place."""
    peaks = np.nan_to_num(peaks)
    row, column = np.unravel_index(int(peaks.argmax()), peaks.shape)
    largest = float(peaks[row, column])
    if not largest > 0:
        return
    size, name = of.shown(largest)
    yield Quantity(of.key, largest, of.label, of.unit, f"{largest / size:.3g} {name}", GROUP)
    place = _place(points, row, column)
    yield Quantity(f"{of.key}_place", place, f"{of.label} at", "", _text(place), GROUP)


def _place(points: SurfacePoints, row: np.intp, column: np.intp) -> dict[str, float]:
    place = {"x": float(np.asarray(points.x)[column]), "y": float(np.asarray(points.y)[row])}
    if points.longitude is None or points.latitude is None:
        return place
    degrees = {"longitude": points.longitude, "latitude": points.latitude}
    return place | {name: float(np.asarray(each)[row, column]) for name, each in degrees.items()}


def _text(place: dict[str, float]) -> str:
    if "latitude" not in place:
        return ", ".join(f"{name} = {place[name] / 1e3:.4g} km" for name in "xy")
    named = (("latitude", "NS"), ("longitude", "EW"))
    return ", ".join(f"{abs(place[n]):.3f}° {sides[place[n] < 0]}" for n, sides in named)
