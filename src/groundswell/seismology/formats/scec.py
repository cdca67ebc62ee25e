"""Text files of the SCEC/USGS Spontaneous Rupture Code Verification Project.

Horizontal slip is positive if right-lateral, vertical slip if the hanging wall moves down dip,
shear stresses where they drive such slip, and the normal stress in tension. Stresses are in MPa.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.formats.atomic import atomic_write

if TYPE_CHECKING:
    import xarray

FOLDER = "scec"
NEVER = 1e9  # the rupture time of a point that has not broken, s
_MEGA = 1e6
# Name in the file, meaning, field and factor of each column.
_COLUMNS = (
    ("h-slip", "horizontal slip (m), right-lateral is positive", "slip_strike", -1.0),
    ("h-slip-rate", "horizontal slip rate (m/s)", "rate_strike", -1.0),
    ("h-shear-stress", "horizontal shear stress (MPa)", "shear_strike", -1 / _MEGA),
    ("v-slip", "slip down dip (m), of the hanging wall", "slip_updip", -1.0),
    ("v-slip-rate", "slip rate down dip (m/s)", "rate_updip", -1.0),
    ("v-shear-stress", "shear stress down dip (MPa)", "shear_updip", -1 / _MEGA),
    ("n-stress", "effective normal stress (MPa), tension is positive", "normal_stress", -1 / _MEGA),
)


def write_series(folder: Path, series: xarray.Dataset, header: Mapping[str, object]) -> list[Path]:
    """Write a file for each point: time, slip, slip rate and shear stress of both directions.

    Args:
        series: from `read_points`.
        header: lines at the top: names and values.

    Raises:
        InputError: there is no permission to write.
        RunFailed: the disk is full.
    """
    return [
        _write_point(folder, series.isel(point=n), header) for n in range(series.sizes["point"])
    ]


def write_times(
    folder: Path, fault: str, at: tuple[Floats, Floats], times: Floats, header: Mapping[str, object]
) -> Path:
    """Write the rupture times of a fault, for contours: `cplot_<fault>.txt`.

    Args:
        at: distances along strike and down dip, m, each (n,).
        times: s, (n,); not finite where the fault has not broken.

    Raises:
        InputError: there is no permission to write.
        RunFailed: the disk is full.
    """
    meanings = ("distance along strike (m)", "distance down dip (m)", "rupture time (s)")
    known = np.where(np.isfinite(times), times, NEVER)
    lines = [*_described(meanings), "j k t"]
    return _write(folder / f"cplot_{fault}.txt", header, lines, np.column_stack([*at, known]))


def _write_point(folder: Path, point: xarray.Dataset, header: Mapping[str, object]) -> Path:
    along, down = (float(point[name]) / 1e3 for name in ("along_strike", "down_dip"))
    own = {
        **header,
        "num_time_steps": point.sizes["time"],
        "location": f"on fault, {along:g} km along strike, {down:g} km down-dip",
    }
    values = [point[field].values * factor + 0.0 for _, _, field, factor in _COLUMNS]
    lines = [*_described(["time (s)", *(meaning for _, meaning, _, _ in _COLUMNS)])]
    lines.append(" ".join(["t", *(name for name, *_ in _COLUMNS)]))
    table = np.column_stack([point["time"].values, *values])
    return _write(folder / f"{point['point'].item()}.txt", own, lines, table)


def _described(meanings: Sequence[str]) -> Iterator[str]:
    yield from (f"# Column #{n} = {meaning}" for n, meaning in enumerate(meanings, 1))


def _write(path: Path, header: Mapping[str, object], lines: Sequence[str], table: Floats) -> Path:
    """Write a header, the meanings and names of the columns, and the numbers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    top = [f"# {name} = {value}" for name, value in header.items()]
    with atomic_write(path) as part, part.open("w", encoding="utf-8") as file:
        file.write("\n".join([*top, *lines]) + "\n")
        np.savetxt(file, table, fmt="%.10e")
    return path
