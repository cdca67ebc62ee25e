"""What the faults of a run cost: memory, traffic and the size of their files."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from groundswell.grids.cartesian import Part
from groundswell.outputs.ring_buffer import ring_bytes
from groundswell.seismology.formats.fault_maps import COORDINATES, FIELDS
from groundswell.seismology.recording.fault_series import WORD, series_sizes
from groundswell.solvers.earthquake.fault_slip import AT_POINTS, CENTRE, JUMPS, RECORDED
from groundswell.solvers.earthquake.faults.model import KINDS, Fault
from groundswell.solvers.earthquake.faults.rock import ROWS
from groundswell.solvers.earthquake.faults.window import FaultWindow
from groundswell.solvers.earthquake.setup import Setup

LOADS, STIFFNESSES = 4, 4
# Values at a point of arrays that change in each step, and of tables but those of friction.
CHANGING = len(KINDS) * (len(AT_POINTS) + 1) + CENTRE + JUMPS + len(RECORDED)
FIXED = len(KINDS) * (1 + LOADS + 2 * ROWS) + CENTRE + STIFFNESSES


def fault_memory(setup: Setup, part: Part) -> int:
    """Device memory of the rank that has `part` of the grid for its faults, bytes."""
    found = 0
    for fault in setup.faults:
        if window := FaultWindow.of(fault.plane, part):
            found += WORD * window.points * (CHANGING + _tables(fault))
    share = found / max(_whole(setup), 1)
    return found + round(share * sum(ring_bytes(size, every) for every, size in _series(setup)))


def fault_traffic(setup: Setup) -> int:
    """Compulsory memory traffic of a step at all points of faults, bytes."""
    return sum(WORD * _points(f) * (2 * CHANGING + _tables(f)) for f in setup.faults)


def fault_files(setup: Setup) -> int:
    """Size of the map of faults and of their series, bytes."""
    points = sum(len(fault.points) for fault in setup.faults)
    series = sum(ceil(setup.steps / every) * size for every, size in _series(setup))
    return WORD * points * (len(COORDINATES) + len(FIELDS)) + series


def _whole(setup: Setup) -> int:
    """Memory of all points of faults on one rank, bytes."""
    return sum(WORD * _points(f) * (CHANGING + _tables(f)) for f in setup.faults)


def _tables(fault: Fault) -> int:
    """Values of the tables at a point."""
    return FIXED + len(KINDS) * len(fault.conditions.law.names)


def _points(fault: Fault) -> int:
    rows, columns = fault.plane.shape
    return rows * columns


def _series(setup: Setup) -> Iterator[tuple[int, int]]:
    output, subfaults = setup.case.output, sum(len(fault.points) for fault in setup.faults)
    return series_sizes(output.fault_points, output.rupture, subfaults, setup.dt)
