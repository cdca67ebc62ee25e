"""Tables of many variations of a rupture: hypocentre, rupture speed, rise time and slip."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError, listed
from groundswell.seismology.green.point_files import read_columns
from groundswell.seismology.green.slip import SlipRows
from groundswell.seismology.green.synthesis import Variations

HYPOCENTRE = ("hypocentre_x", "hypocentre_y", "hypocentre_depth")
SPEED = "rupture_speed"
COLUMNS = (*HYPOCENTRE, SPEED, "onset", "rise_time", "slip_scale")


def read_variations(path: Path, rows: SlipRows, slip_rate: str = "cosine") -> Variations:
    """The variations of a rupture, one for each row of a table.

    Columns, all optional, in SI units: the hypocentre (hypocentre_x, hypocentre_y and
    hypocentre_depth, m) with rupture_speed (m/s), at which the rupture spreads from the hypocentre;
    onset (s), which is added to the onset of all subfaults; rise_time (s) of slip rates of the
    shape `slip_rate`; and slip_scale, a factor of the slip. Times and shapes without a column are
    those of the rupture.

    Raises:
        InputError: the table cannot be read, or has other columns or invalid values.
    """
    columns = read_columns(path, "a table of variations")
    _require_valid(path, columns)
    count = len(next(iter(columns.values())))
    ones = np.ones((count, 1))
    onset = _onsets(columns, rows, count) + columns.get("onset", np.zeros(count))[:, None]
    amplitude = columns.get("slip_scale", ones[:, 0])[:, None]
    if "rise_time" not in columns:
        return Variations(onset, amplitude, ones)
    return Variations(onset, amplitude, columns["rise_time"][:, None], slip_rate)


def _onsets(columns: dict[str, Floats], rows: SlipRows, count: int) -> Floats:
    """Times at which rows start to slip, s, (variations, rows)."""
    if SPEED not in columns:
        return np.tile(rows.onsets, (count, 1))
    squares = np.zeros((count, len(rows.points)))
    for name, place in zip(HYPOCENTRE, rows.positions.T, strict=True):
        squares += (columns[name][:, None] - place) ** 2
    return np.asarray(np.sqrt(squares) / columns[SPEED][:, None])


def _require_valid(path: Path, columns: dict[str, Floats]) -> None:
    """Raise an error for columns that are unknown or incomplete, or have invalid values."""
    if unknown := [name for name in columns if name not in COLUMNS]:
        raise InputError(f"{path} has the column {unknown[0]}; allowed: {listed(COLUMNS)}")
    given = [name for name in (*HYPOCENTRE, SPEED) if name in columns]
    if given and len(given) < len(HYPOCENTRE) + 1:
        raise InputError(
            f"{path} has only {listed(given)} of the columns {listed((*HYPOCENTRE, SPEED))}; give "
            "all four, or none"
        )
    for name in (SPEED, "rise_time"):
        if name in columns and (columns[name] <= 0).any():
            row = int(np.argmax(columns[name] <= 0)) + 1
            raise InputError(f"{path}: {name} of variation {row} must be positive")
