"""Maps of intensity measures, which a solver accumulates at its surface during the run.

No time series are stored. A kernel of the solver records the acceleration of the surface. For each
point and period, there is one oscillator per horizontal component. Two kernels advance the
oscillators every few steps, and keep their peak displacements: to the east, to the north, in any
direction, and for RotD50 and RotD100 in some directions from 0 to 180 degrees. Another kernel sums
the squared and the absolute acceleration in each step. See seismology/kernels/intensity_maps.h.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import cos, prod, radians, sin
from pathlib import Path

import numpy as np

from groundswell.arrays import DeviceArray, Floats, HostArray
from groundswell.backends import Backend, Cells, Launch, Module, Source
from groundswell.backends.source import precision
from groundswell.formats.netcdf import Variable
from groundswell.seismology.case.intensity import IntensityOutput
from groundswell.seismology.intensity.measures import ARIAS
from groundswell.seismology.intensity.oscillator import squared_frequencies, step_changes
from groundswell.seismology.intensity.rotation import directions, rotd
from groundswell.seismology.intensity.seismograms import ROTATED, about

MOTION, STATE, SUMS = 6, 4, 4  # values of a point; see kernels/intensity_maps.h
PEAKS = 3  # rows of the largest displacements before those for directions
DOUBLE = 8  # bytes
KERNELS = Path(__file__).parents[1] / "kernels"
Arguments = dict[str, DeviceArray | int]  # of a kernel
Recorder = Callable[[Arguments], list[Launch]]  # the launch of the solver's kernel `record_motion`
_PEAK = "Largest over time; oscillators advance at the attribute oscillator_interval (s)"


def map_bytes(section: IntensityOutput | None, points: int, itemsize: int) -> int:
    """Device memory for maps with this number of points, bytes.

    Args:
        itemsize: bytes of a value of the solver's fields.
    """
    if section is None:
        return 0
    each = STATE + peak_rows(section)
    values = (MOTION + each * len(section.periods)) * section.has_oscillators
    values += MOTION * section.has_totals
    return points * (values * itemsize + SUMS * DOUBLE * section.has_totals)


def peak_rows(section: IntensityOutput) -> int:
    """Number of peak displacements that are kept for each point and period."""
    return PEAKS + section.map_angles


def map_file_bytes(section: IntensityOutput | None, points: int, itemsize: int) -> int:
    """Size of the file of maps, bytes."""
    if section is None:
        return 0
    fields = {"psa": PEAKS, **dict.fromkeys(ROTATED, 1)}
    values = sum(n for name, n in fields.items() if name in section.maps) * len(section.periods)
    doubles = 2 * sum(name in section.maps for name in ("arias", "cav"))
    return points * (values * itemsize + doubles * DOUBLE)


@dataclass(frozen=True, eq=False)
class MapTables:
    """The data that the kernels of maps read, on the device.

    Args:
        every: steps of the solver per step of the oscillators.
        frames: of each step, and of every so many steps; see kernels/ground_motion.h.
    """

    section: IntensityOutput
    every: int
    frames: tuple[DeviceArray, DeviceArray]
    changes: DeviceArray
    turns: DeviceArray

    @classmethod
    def of(
        cls, section: IntensityOutput, dt: float, azimuth: float, backend: Backend, dtype: str
    ) -> MapTables:
        """The tables of a run.

        Args:
            dt: time step of the solver, s.
            azimuth: direction of the y axis of the grid, degrees clockwise from north.
        """
        every, turn = steps_between(section, dt), radians(azimuth)
        changes = step_changes(np.array(section.periods), section.damping, every * dt)
        steps = [np.array([cos(turn), sin(turn), 1 / h]) for h in (dt, every * dt)]
        turns = np.zeros((peak_rows(section), 2))
        turns[0, 0] = turns[1, 1] = 1.0  # to the east, to the north; then in any direction
        turns[PEAKS:] = directions(section.map_angles)
        tables = (*steps, changes, turns)
        frame, rare, *others = (backend.to_device(table.astype(dtype)) for table in tables)
        return cls(section, every, (frame, rare), *others)

    def attributes(self, dt: float) -> dict[str, float]:
        """Attributes of the file of maps; `dt` is the time step of the solver, s."""
        return {"damping": self.section.damping, "oscillator_interval": self.every * dt}


def steps_between(section: IntensityOutput, dt: float) -> int:
    """Steps of the solver per step of the oscillators, at least 1: the interval, rounded down."""
    return max(1, int(section.map_interval / dt * (1 + 1e-9)))


class MapArrays:
    """The oscillators and sums of this rank's points, on the device.

    Args:
        shape: of the points.

    Attributes:
        state: the arrays by name, (values, *shape), which checkpoints contain.
    """

    def __init__(
        self, tables: MapTables, shape: tuple[int, ...], backend: Backend, dtype: str
    ) -> None:
        self._tables, self._backend, self._dtype = tables, backend, dtype
        self._points, section = prod(shape), tables.section
        self.state: dict[str, DeviceArray] = {}

        def allocate(name: str, values: int, kind: str = dtype) -> None:
            self.state[name] = backend.zeros((values, *shape), kind)

        if section.has_oscillators:
            count = len(section.periods)
            allocate("oscillator_motion", MOTION)
            allocate("oscillators", STATE * count)
            allocate("oscillator_peaks", peak_rows(section) * count)
        if section.has_totals:
            allocate("integral_motion", MOTION)
            allocate("integrals", SUMS, "float64")

    def launches(self, record: Recorder, clock: DeviceArray) -> list[list[Launch]]:
        """Sequences of kernels, which are independent of each other.

        Args:
            record: returns the kernel that records the acceleration, with its arguments `motion`,
                `frame` and `every`.
            clock: the number of steps made, on the device, (1,).
        """
        if not self._points:
            return []
        module = self._backend.compile(maps_source(self._dtype))
        section = self._tables.section
        found = [self._oscillators(module, record, clock)] if section.has_oscillators else []
        return [*found, *([self._integrals(module, record)] if section.has_totals else [])]

    def _oscillators(self, module: Module, record: Recorder, clock: DeviceArray) -> list[Launch]:
        tables, points, state = self._tables, self._points, self.state["oscillators"]
        count, rows = len(tables.section.periods), peak_rows(tables.section)
        motion = self.state["oscillator_motion"]
        common: Arguments = {"clock": clock, "every": tables.every, "state": state}
        common |= {"points": points, "periods": count}
        advance: Arguments = {"motion": motion, "changes": tables.changes, **common}
        keep: Arguments = {"largest": self.state["oscillator_peaks"], "turns": tables.turns}
        keep |= {"rows": rows, **common}
        return [
            *record({"motion": motion, "frame": tables.frames[1], "every": tables.every}),
            module.launch("advance_oscillators", Cells(points, 2, count), **advance),
            module.launch("keep_peaks", Cells(points, rows, count), **keep),
        ]

    def _integrals(self, module: Module, record: Recorder) -> list[Launch]:
        motion, frame = self.state["integral_motion"], self._tables.frames[0]
        own: Arguments = {"sums": self.state["integrals"], "motion": motion, "frame": frame}
        own["points"] = self._points
        return [
            *record({"motion": motion, "frame": frame, "every": 1}),
            module.launch("sum_motion", Cells(self._points, 2, 1), **own),
        ]


def maps_source(dtype: str) -> Source:
    """The kernels of maps, which do not depend on the solver."""
    return Source(KERNELS / "intensity_maps.h", precision(dtype))


def map_variables(
    section: IntensityOutput, state: Mapping[str, HostArray], attrs: Mapping[str, str]
) -> dict[str, Variable]:
    """The maps of a run, for a file.

    Args:
        state: the whole arrays of `MapArrays`, (values, ny, nx).
        attrs: attributes of each variable.
    """
    found = dict(_oscillator_maps(section, state.get("oscillator_peaks")))
    found |= dict(_integral_maps(state.get("integrals")))
    return {
        name: Variable(dims, values, attrs={**_about(name), **attrs})
        for name, (dims, values) in found.items()
        if name.removesuffix("_vector") in section.maps
    }


def _about(name: str) -> dict[str, str]:
    if name == "psa_vector":
        text = "pseudo-spectral acceleration, largest length of the horizontal vector"
        return {**about("psa"), "long_name": text, "comment": _PEAK}
    is_sum = name in ("arias", "cav")
    return {**about(name), **({} if is_sum else {"comment": _PEAK})}


def _oscillator_maps(
    section: IntensityOutput, peaks: HostArray | None
) -> Iterator[tuple[str, tuple[tuple[str, ...], HostArray]]]:
    if peaks is None:
        return
    count, dtype = len(section.periods), peaks.dtype
    by_period = peaks.reshape(count, peak_rows(section), *peaks.shape[1:])
    factors: Floats = squared_frequencies(np.array(section.periods))
    psa = (by_period * factors[:, None, None, None]).astype(dtype)
    yield "psa", (("period", "component", "y", "x"), psa[:, :2])
    yield "psa_vector", (("period", "y", "x"), psa[:, 2])
    if section.map_angles:
        turned = np.moveaxis(psa[:, PEAKS:], 1, -1)
        for name, percentile in ROTATED.items():
            yield name, (("period", "y", "x"), rotd(turned, percentile).astype(dtype))


def _integral_maps(
    sums: HostArray | None,
) -> Iterator[tuple[str, tuple[tuple[str, ...], HostArray]]]:
    if sums is not None:
        yield "arias", (("component", "y", "x"), ARIAS * sums[:2])
        yield "cav", (("component", "y", "x"), sums[2:])
