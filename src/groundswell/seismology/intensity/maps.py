"""Maps of intensity measures, which a solver accumulates at its surface while the waves pass.

No series are stored. At each point and for each period there is an oscillator for either horizontal
component. A kernel of the solver advances them every few steps and keeps their largest
displacements: to the east, to the north, in any direction, and for RotD50 and RotD100 in some
directions from 0 to 180 degrees. Other kernels sum the squared and the absolute acceleration in
each step. See seismology/kernels/shaken_oscillators.h.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import cos, prod, radians, sin

import numpy as np

from groundswell.arrays import DeviceArray, Floats, HostArray
from groundswell.backends import Backend
from groundswell.formats.netcdf import Variable
from groundswell.seismology.case.intensity import IntensityOutput
from groundswell.seismology.intensity.measures import ARIAS
from groundswell.seismology.intensity.oscillator import squared_frequencies, step_changes
from groundswell.seismology.intensity.rotation import directions, rotd
from groundswell.seismology.intensity.seismograms import ROTATED, about

PAST, MOTION, PEAKS, SUMS = 4, 4, 3, 4  # values of a point; see kernels/shaken_oscillators.h
DOUBLE = 8  # bytes
Arguments = dict[str, DeviceArray | int]  # of a kernel
_PEAK = "Largest over time; oscillators advance at the attribute oscillator_interval (s)"


def map_bytes(section: IntensityOutput | None, points: int, itemsize: int) -> int:
    """Device memory for the maps of so many points, bytes.

    Args:
        itemsize: bytes of a value of the solver's fields.
    """
    if section is None:
        return 0
    each = MOTION + PEAKS + section.map_angles
    values = (PAST + each * len(section.periods)) * section.has_oscillators
    values += PAST * section.has_totals
    return points * (values * itemsize + SUMS * DOUBLE * section.has_totals)


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
    """What the kernels of maps read, on the device.

    Args:
        every: steps of the solver for a step of the oscillators.
        frames: of each step, and of every so many steps; see kernels/shaken_oscillators.h.
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
        tables = (*steps, changes, directions(section.map_angles or 1))
        frame, rare, *others = (backend.to_device(table.astype(dtype)) for table in tables)
        return cls(section, every, (frame, rare), *others)

    def attributes(self, dt: float) -> dict[str, float]:
        """Attributes of the file of maps; `dt` is the time step of the solver, s."""
        return {"damping": self.section.damping, "oscillator_interval": self.every * dt}


def steps_between(section: IntensityOutput, dt: float) -> int:
    """Steps of the solver for a step of the oscillators, at least 1: the interval, rounded down."""
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
        self._tables, section = tables, tables.section
        self._count = prod(shape)
        self.state: dict[str, DeviceArray] = {}

        def allocate(name: str, values: int, kind: str = dtype) -> None:
            self.state[name] = backend.zeros((values, *shape), kind)

        if section.has_oscillators:
            count = len(section.periods)
            allocate("oscillator_past", PAST)
            allocate("oscillator_motion", MOTION * count)
            allocate("oscillator_peaks", (PEAKS + section.map_angles) * count)
        if section.has_totals:
            allocate("integral_past", PAST)
            allocate("integrals", SUMS, "float64")

    def kernels(self) -> Iterator[tuple[str, Arguments]]:
        """Yield the names of the kernels, and their arguments besides those of the solver."""
        tables, state = self._tables, self.state
        if tables.section.has_oscillators:
            yield (
                "advance_oscillators",
                {
                    "every": tables.every,
                    "past": state["oscillator_past"],
                    "motion": state["oscillator_motion"],
                    "largest": state["oscillator_peaks"],
                    "frame": tables.frames[1],
                    "changes": tables.changes,
                    "turns": tables.turns,
                    "periods": len(tables.section.periods),
                    "directions": tables.section.map_angles,
                },
            )
        if tables.section.has_totals:
            own = {"past": state["integral_past"], "sums": state["integrals"]}
            yield "sum_motion", {**own, "frame": tables.frames[0]}


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
    by_period = peaks.reshape(count, PEAKS + section.map_angles, *peaks.shape[1:])
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
