"""The number of different materials in the ground."""

from __future__ import annotations

from math import prod

import numpy as np

from groundswell.arrays import Reals
from groundswell.backends.host_threads import in_threads
from groundswell.seismology.media.material import find_runs
from groundswell.simulation.material_classes import ClassCount
from groundswell.solvers.earthquake.ground import Ground
from groundswell.solvers.earthquake.moduli import PROPERTIES

MOST_CELLS = 100_000_000  # that are examined, in a few seconds


def count_materials(ground: Ground, dtype: str) -> int | None:
    """Number of different materials of the cells, rounded to the precision of the run.

    None if there are more than a table of classes has, or more than MOST_CELLS cells to examine.
    Equal depth rows are examined once.
    """
    if ground.rows:
        return _count(ground, dtype, ground.rows.properties).value
    runs = find_runs(ground.medium)
    if len(runs) * prod(ground.grid.region[:2]) > MOST_CELLS:
        return None
    found = ClassCount()
    for of_plane in in_threads(lambda run: _count_plane(ground, dtype, run[0]), runs):
        found.merge(of_plane)
        if found.value is None:
            break
    return found.value


def _count_plane(ground: Ground, dtype: str, k: int) -> ClassCount:
    return _count(ground, dtype, ground.properties(ground.medium.plane(k)))


def _count(ground: Ground, dtype: str, properties: dict[str, Reals]) -> ClassCount:
    names = PROPERTIES if ground.relaxation else PROPERTIES[:3]
    arrays = np.broadcast_arrays(*(properties[name] for name in names))
    found = ClassCount()
    found.add([values.astype(dtype) for values in arrays])
    return found
