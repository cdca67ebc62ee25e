"""Maps of faults with values that are made up, for pictures and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.formats.fault_maps import FIELDS, NAME, write_fault_map


def scattered(rng: np.random.Generator, count: int, length: float, width: float) -> FaultPoints:
    """Points on an upright fault in no order, some of them twice."""
    along, down = rng.uniform(0, length, count), rng.uniform(0, width, count)
    twice = rng.integers(count, size=count // 4)
    along, down = (np.concatenate([at, at[twice]]) for at in (along, down))
    axes = np.eye(3)
    normal, strike, updip = (np.tile(row, (len(along), 1)) for row in (-axes[1], axes[0], -axes[2]))
    position = np.column_stack([along, np.zeros(len(along)), down])
    area = np.full(len(along), length * width / len(along))
    return FaultPoints(position, normal, strike, updip, along - length / 2, down, area)


def write_ruptures(folder: Path, faults: dict[str, FaultPoints], **values: Any) -> Path:
    """A file of faults whose other fields are 0."""
    count = sum(map(len, faults.values()))
    fields = {name: np.zeros(count) for name in FIELDS} | values
    return write_fault_map(folder / NAME, faults, fields, {"title": "A rupture"})
