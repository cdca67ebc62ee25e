"""Files of AWP-ODC: kinematic sources and velocity meshes, as little-endian 4-byte numbers.

References: the AWP-ODC-OS sources (HPGeoC/awp-odc-os, src/source.c, src/mesh.c) and Cui et al.
(2010), SC '10, doi 10.1109/SC.2010.45. The manual lists the components of a source as xx, yy, zz,
xy, xz, yz. The program reads xx, yy, zz, xz, yz, xy, and so does this reader.

The frame of AWP has x and y along the mesh and z up; indices start at 1, and k counts down from the
surface. Here z points down, so xz and yz change sign. In AWP, normal stresses of index k = 1 lie
half a cell below the free surface, which is the centre of cell k = 0 here. The tensor of (i, j, k)
therefore belongs to the centre of cell (i - 1, j - 1, k - 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Floats, Integers, Mask
from groundswell.errors import InputError
from groundswell.formats.text import parse_numbers, read_text
from groundswell.grids.axis import Axis, Spacing

VARIABLES = {  # names of the variables of a mesh point, by their number
    3: ("vp", "vs", "rho"),
    5: ("vp", "vs", "rho", "qp", "qs"),
    8: ("", "", "", "vp", "vs", "rho", "qp", "qs"),  # three coordinates come first
}
_COMPONENT_ORDER = [0, 1, 2, 5, 3, 4]  # xx yy zz xz yz xy -> xx yy zz xy xz yz
_SIGNS = np.array([1, 1, 1, 1, -1, -1], dtype=np.float32)  # z up -> z down
_MAX_INDEX = 10**7  # larger numbers are not indices
_MIN, _MAX = 1e-3, 1e6  # range of speeds (m/s), densities (kg/m^3) and Q of any solid


@dataclass(frozen=True, eq=False)
class AwpSource:
    """Moment rates at grid points, as in the file.

    Args:
        points: indices (i, j, k), (n, 3), starting at 1; k counts down from the surface.
        rates: moment rates, N m/s, (n, steps, 6), in the order (xx, yy, zz, xz, yz, xy) and with z
            up, as in AWP.
    """

    points: Integers
    rates: NDArray[np.float32]

    def positions(self, spacing: Sequence[Spacing]) -> Floats:
        """Positions (x, y, z) from the corner of the region, m, (n, 3), in cells of these edges."""
        along = zip(spacing, self.points.T - 0.5, strict=True)
        return np.stack([Axis(h).at(index) for h, index in along], axis=-1)

    def moment_rates(self) -> NDArray[np.float32]:
        """Moment rates (xx, yy, zz, xy, xz, yz) with z down, N m/s, (n, steps, 6)."""
        return self.rates[..., _COMPONENT_ORDER] * _SIGNS


def read_awp_source(path: Path | str, points: int, steps: int, format: str = "binary") -> AwpSource:
    """Read a source of `points` points and `steps` time steps.

    A binary file has 3 int32 and steps x 6 float32 for each point, a text file the same numbers.
    The size of a binary file is checked before it is read.

    Raises:
        InputError: the size or the content of the file does not match.
    """
    read = _read_binary_source if format == "binary" else _read_text_source
    source = read(path, points, steps)
    _check_source(source, path)
    return source


class AwpMesh:
    """A velocity mesh as written by UCVM.

    Points are ordered with x fastest, then y, then z down from the surface. The file is memory
    mapped; planes are read and checked on demand.

    Args:
        cells: number of points (nx, ny, nz).
        variables: number of variables per point: 3 (vp, vs, rho), 5 (and qp, qs) or 8 (three
            coordinates before those five).

    Raises:
        InputError: the size of the file does not match.
    """

    def __init__(self, path: Path | str, cells: tuple[int, int, int], variables: int = 3) -> None:
        nx, ny, nz = cells
        what = f"{nx} x {ny} x {nz} cells of {variables} float32"
        _check_size(path, 4 * nx * ny * nz * variables, what)
        self.path, self.cells = path, cells
        self._names = VARIABLES[variables]
        self._values = np.memmap(path, "<f4", "r", shape=(nz, ny, nx, variables))

    def plane(self, k: int) -> dict[str, NDArray[np.float32]]:
        """Arrays (ny, nx) of depth row `k`, 0 at the surface, by name.

        The names are vp, vs (m/s), rho (kg/m^3) and, if the mesh has them, qp and qs.

        Raises:
            InputError: a value is not plausible for a solid; names the first such cell.
        """
        values = np.array(self._values[k])
        plane = {name: values[..., n].copy() for n, name in enumerate(self._names) if name}
        for name, field in plane.items():
            self._check(name, field, k)
        return plane

    def _check(self, name: str, field: NDArray[np.float32], k: int) -> None:
        valid = _plausible(field)
        if valid.all():
            return
        if _plausible(field.byteswap()).all():
            raise InputError(f"{self.path}: {_BIG_ENDIAN}")
        j, i = np.unravel_index(int(np.argmin(valid)), valid.shape)
        raise InputError(
            f"{self.path}: {name} = {field[j, i]} in cell ({i}, {j}, {k}), counted from 0;"
            f" it must be between {_MIN:g} and {_MAX:g} (SI units)"
        )


_BIG_ENDIAN = (
    "it is in the other byte order; convert it, in Python:"
    ' numpy.fromfile(path, ">u4").astype("<u4").tofile(converted)'
)


def _source_record(steps: int) -> np.dtype[np.void]:
    return np.dtype([("point", "<i4", 3), ("rates", "<f4", (steps, 6))])


def _read_binary_source(path: Path | str, points: int, steps: int) -> AwpSource:
    what = f"{points} points x (3 int32 + {steps} steps x 6 float32)"
    _check_size(path, points * 4 * (3 + 6 * steps), what)
    records = np.fromfile(path, _source_record(steps))
    indices = records["point"]
    if not _are_indices(indices) and _are_indices(indices.byteswap()):
        raise InputError(f"{path}: {_BIG_ENDIAN}")
    return AwpSource(indices.astype(np.int64), records["rates"])


def _read_text_source(path: Path | str, points: int, steps: int) -> AwpSource:
    values = parse_numbers(read_text(path, "an AWP source"), path)
    width = 3 + 6 * steps
    if values.size != points * width:
        raise InputError(
            f"{path}: {points} points x (3 indices + {steps} steps x 6) need {points * width}"
            f" numbers; found {values.size}"
        )
    rows = values.reshape(points, width)
    indices = rows[:, :3]
    if (indices != np.floor(indices)).any():
        point = int(np.argmax((indices != np.floor(indices)).any(axis=1)))
        raise InputError(
            f"{path}: point {point + 1} has indices {indices[point].tolist()}; they must be"
            " whole numbers"
        )
    with np.errstate(over="ignore"):  # values beyond float32 are found not finite below
        rates = rows[:, 3:].astype(np.float32).reshape(points, steps, 6)
    return AwpSource(indices.clip(-1, 2.0 * _MAX_INDEX).astype(np.int64), rates)


def _check_source(source: AwpSource, path: Path | str) -> None:
    valid = (source.points >= 1) & (source.points <= _MAX_INDEX)
    if not valid.all():
        point = int(np.argmin(valid.all(axis=1)))
        raise InputError(
            f"{path}: point {point + 1} has indices {source.points[point].tolist()}; they count"
            f" from 1 and do not exceed {_MAX_INDEX}"
        )
    finite = np.isfinite(source.rates)
    if not finite.all():
        place = np.unravel_index(int(np.argmin(finite)), finite.shape)
        raise InputError(
            f"{path}: point {place[0] + 1}, step {place[1] + 1}: a moment rate is not finite"
        )


def _check_size(path: Path | str, expected: int, what: str) -> None:
    try:
        size = Path(path).stat().st_size
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read it: {error}") from None
    if size != expected:
        raise InputError(f"{path}: {what} need {expected} bytes; the file has {size}")


def _are_indices(values: NDArray[np.int32]) -> bool:
    return bool(((values >= 1) & (values <= _MAX_INDEX)).all())


def _plausible(values: NDArray[np.float32]) -> Mask:
    return (values >= _MIN) & (values <= _MAX)
