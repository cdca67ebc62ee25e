"""Finite faults of the USGS with times of rise and fall: `basic_inversion.param`.

The same models as in FSP, from the same code (the USGS's open software for finite faults). Rows are
in degrees, km, cm, s and dyn cm:

    #Total number of fault_segments=     1
    #Fault_segment =   1 nx(Along-strike)=  2 Dx= 20.00km ny(downdip)=  2 Dy= 15.00km
    #Boundary of Fault_segment     1. EQ in cell 1,1. Lon: 84.72   Lat: 28.16
    #Lon.  Lat.  Depth
       ...five corners, the first one also at the end...
    #Lat. Lon. depth slip rake strike dip t_rup t_ris t_fal mo
       ...nx ny rows...

Every subfault consists of several points. Rows are the first or the middle points of subfaults, and
the corners are the first and the last points of the segment. So the middle of the corners is that
of the segment, and rows are shifted there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.formats.text import parse_numbers, read_text
from groundswell.seismology.formats.fsp import Fsp, FspSegment

_START = "#Total number of fault_segments"
_SIZE = re.compile(
    r"#Fault_segment\s*=\s*(\d+)\D+?=\s*(\d+)\s*Dx\s*=\s*([\d.]+)\s*km\D+?=\s*(\d+)\s*"
    r"Dy\s*=\s*([\d.]+)\s*km"
)
_COLUMNS = ("LAT", "LON", "Z", "SLIP", "RAKE", "STRIKE", "DIP", "TRUP")
_TIMES = ("T_RIS", "T_FAL", "SF_MOMENT")
_CORNERS = 5
_MOST_SUBFAULTS = 10**7
_SCALES = {"SLIP": 1e-2, "SF_MOMENT": 1e-7}  # from cm and dyn cm
_FARTHEST = 0.51  # shift of a row, in subfaults
_DEGREE = 111.2  # km


def is_usgs_param(path: Path) -> bool:
    """Whether a file begins as one of these; False if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(200).lstrip().startswith(_START.encode())
    except OSError:
        return False


def read_usgs_param(path: Path) -> Fsp:
    """Read a finite fault of the USGS, as a slip model with the columns T_RIS and T_FAL, s.

    Raises:
        InputError: the file is missing, truncated or malformed.
    """
    lines = read_text(path, "a finite fault of the USGS").splitlines()
    starts = [n for n, line in enumerate(lines) if line.lstrip().startswith("#Fault_segment")]
    if not starts:
        raise InputError(f"{path}: the file has no line #Fault_segment; copy it again")
    ends = [*starts[1:], len(lines)]
    segments = [_segment(lines, *ends, path) for ends in zip(starts, ends, strict=True)]
    _require_all(segments, lines, path)
    return Fsp(tuple(segments), np.empty((0, 4)), "asymmetric cosine")


def _require_all(segments: Sequence[FspSegment], lines: Sequence[str], path: Path) -> None:
    stated = re.search(r"=\s*(\d+)", next(line for line in lines if line.strip()))
    if stated is None or int(stated[1]) != len(segments):
        raise InputError(
            f"{path}: the first line states another number of segments than the {len(segments)} "
            "that follow; copy the file again, or correct the number"
        )


def _segment(lines: Sequence[str], start: int, end: int, path: Path) -> FspSegment:
    size = _SIZE.match(lines[start].strip())
    where = f"{path}, line {start + 1}"
    if size is None:
        raise InputError(
            f"{where}: expected #Fault_segment = 1 nx(Along-strike)= 2 Dx= 20.00km ny(downdip)= 2 "
            "Dy= 15.00km"
        )
    counts, (dx, dy) = (int(size[2]), int(size[4])), (_side(size[n], where) for n in (3, 5))
    names = (*_COLUMNS, *_TIMES)
    numbers = [*_numbers(lines, start + 1, end, path)]
    corners = [row for row in numbers if len(row) == 3]
    rows = [row for row in numbers if len(row) == len(names)]
    if len(rows) + len(corners) < len(numbers):
        raise InputError(f"{where}: the rows of the segment need columns {' '.join(names)}")
    if len(corners) != _CORNERS or len(rows) != counts[0] * counts[1] > 0:
        raise InputError(
            f"{where}: {counts[0]} x {counts[1]} subfaults and {_CORNERS} corners are stated, but "
            f"there are {len(rows)} and {len(corners)}; the file is truncated: copy it again"
        )
    values = np.array(rows)
    for name, scale in _SCALES.items():
        values[:, names.index(name)] *= scale
    shift = _shift(values[:, :3], np.array(corners)[:4], (dx, dy), where)
    values[:, :3] += shift
    header = {"DX": dx, "DZ": dy, "LEN": dx * counts[0], "WID": dy * counts[1]}
    return FspSegment(header, names, values)


def _side(text: str, where: str) -> float:
    try:
        side = float(text)
    except ValueError:
        side = 0.0
    if not side > 0:
        raise InputError(f"{where}: the size of subfaults, {text} km, must be positive")
    return side


def _numbers(lines: Sequence[str], start: int, end: int, path: Path) -> Iterator[Floats]:
    for n in range(start, end):
        text = lines[n].strip()
        if text and not text.startswith("#"):
            yield parse_numbers(text, path, n + 1)


def _shift(rows: Floats, corners: Floats, sides: tuple[float, float], where: str) -> Floats:
    """From the rows (latitude, longitude, depth) to the centres of subfaults.

    Raises:
        InputError: it is farther than half a subfault.
    """
    middle = corners.mean(axis=0)[[1, 0, 2]]
    shift = np.asarray(middle - rows.mean(axis=0))
    shift[1] = (shift[1] + 180) % 360 - 180
    scale = np.array([_DEGREE, _DEGREE * np.cos(np.radians(middle[0])), 1.0])
    far = float(np.linalg.norm(scale * shift))
    if not far <= _FARTHEST * np.hypot(*sides):
        raise InputError(
            f"{where}: the middle of the corners of the segment is {far:.4g} km from that of its "
            "subfaults; correct the corners or the rows"
        )
    return shift
