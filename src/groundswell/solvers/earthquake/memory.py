"""Estimates of memory, of its traffic, and of the size of outputs."""

from __future__ import annotations

from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from groundswell.grids.cartesian import Grid, Layout, Part
from groundswell.solvers.earthquake.sampling import recorded, recording

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.setup import Setup

# Compulsory memory traffic of an update, in words per point: each input read once, each output
# written once. Velocity: reads 6 stresses, 3 velocities and the density, writes 3 velocities.
# Stress: reads 3 velocities, 6 stresses and 2 moduli, writes 6 stresses; with Q it also reads and
# writes 6 memory variables and reads 2 quality factors. In an absorbing layer each update also
# reads and writes three memory variables per axis.
VELOCITY_WORDS = 13
STRESS_WORDS = {False: 17, True: 31}
LAYER_WORDS = 6
FIELDS = {False: 12, True: 20}  # arrays of all cells, without and with Q


def bytes_moved(setup: Setup) -> dict[str, float]:
    """Compulsory memory traffic per point of each update, averaged over the grid, bytes."""
    stress = STRESS_WORDS[setup.relaxation is not None]
    layers = LAYER_WORDS * _layers_per_point(setup, setup.grid)
    size = np.dtype(setup.dtype).itemsize
    return {"velocity": (VELOCITY_WORDS + layers) * size, "stress": (stress + layers) * size}


def device_bytes(setup: Setup, part: Part) -> int:
    """Device memory of the rank that has `part` of the grid, bytes, to within a few per cent."""
    layout = Layout(part.cells, np.dtype(setup.dtype).itemsize)
    layers = LAYER_WORDS * _layers_per_point(setup, part) * prod(part.cells)
    words = round(layout.size * FIELDS[setup.relaxation is not None] + layers)
    own = recorded(setup, part)
    rings = sum(samples.slots * own[name].size for name, samples in setup.samples.items())
    records = recording(setup, part).device_bytes(setup.case.output.record)
    return words * layout.itemsize + rings + records


def output_bytes(setup: Setup) -> int:
    """Size of all samples that the run writes, bytes."""
    records = recording(setup, Part.whole(setup.grid))
    samples = sum(ceil(setup.steps / s.every) * s.size for s in setup.samples.values())
    return samples + records.file_bytes(setup.case.output.record, setup.steps)


def _layers_per_point(setup: Setup, of: Grid | Part) -> float:
    """Average number of matched layers that contain a point."""
    sides = zip(of.before, of.after, of.cells, strict=True)
    return sum((before + after) / n for before, after, n in sides) if setup.has_pml else 0.0
