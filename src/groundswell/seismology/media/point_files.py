"""Grids of the points of text files, sorted in scratch files that the ranks of a host share.

A text is read once, by one rank of each host, in parts: no rank holds all points in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile, gettempdir
from typing import BinaryIO, NamedTuple

import numpy as np

from groundswell.arrays import Floats, HostArray, Indices
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.formats.atomic import disk_errors, reserve
from groundswell.seismology.media.text_columns import LINES, TextColumns

Nodes = tuple[Floats, Floats, Floats]

_SAME = 1e-6  # of the extent: coordinates that differ by less are equal
_AXES = 3


@dataclass(frozen=True)
class PointTable:
    """Points with values in a text file.

    Args:
        text: the columns of the file.
        names: of the horizontal coordinates, of depth, and of the values.
        arrange: from columns of the file, (columns, rows), to those of `names`, (names, rows).
    """

    text: TextColumns
    names: Sequence[str]
    arrange: Callable[[Floats], Sequence[Floats]]

    @property
    def path(self) -> Path:
        """The file."""
        return self.text.path

    def parts(self) -> Iterator[Floats]:
        """Yield the columns of some points at a time, (names, rows).

        Raises:
            InputError: the file is unreadable, or a coordinate is not finite.
        """
        count = 0
        for numbers in self.text.parts():
            part = np.stack(self.arrange(numbers))
            self._require_finite(part[:_AXES], count)
            count += part.shape[1]
            yield part

    def _require_finite(self, points: Floats, before: int) -> None:
        for name, at in zip(self.names, points, strict=False):
            if not np.isfinite(at).all():
                row = int(np.flatnonzero(~np.isfinite(at))[0])
                raise InputError(
                    f"{self.path}: point {before + row + 1} has {name} = {at[row]}; correct it"
                )


class PointGrid(NamedTuple):
    """The grid of a table's points, with its values in a file.

    Args:
        file: values (names, depth, y, x), float64.
        nodes: coordinates of the nodes (depth, y, x), ascending.
    """

    file: Path
    nodes: Nodes


def read_points(
    table: PointTable, comm: Communicator | None = None
) -> tuple[Nodes, list[HostArray]]:
    """The nodes (depth, y, x) of the grid of points, and their values (depth, y, x) by name.

    The values are in a scratch file of which parts are read when needed. It has no name any more,
    so that the disk is free when they go. The ranks of a host share it; all ranks must call this.

    Raises:
        InputError: the file is unreadable, or its points do not form a full grid.
        DiskFull: the folder of scratch files is full.
    """
    job = comm or SerialCommunicator()
    reader = min(job.same_host)
    made = job.collective_try(lambda: _sort_points(table) if job.rank == reader else None)
    try:
        grid = job.allgather(made)[reader]
        assert grid is not None
        return grid.nodes, job.collective_try(lambda: _open(grid))
    finally:
        if made is not None:
            made.file.unlink()


def _open(grid: PointGrid) -> list[HostArray]:
    shape = tuple(len(nodes) for nodes in grid.nodes)
    return [*np.memmap(grid.file, np.float64, "r").reshape(-1, *shape)]


def _sort_points(table: PointTable) -> PointGrid:
    """Write the values of a table to a scratch file, which the caller deletes."""
    with disk_errors(Path(gettempdir()) / "scratch file"), TemporaryFile() as rows:
        coordinates = _copy(table, rows)
        count = rows.tell() // (8 * len(table.names))
        x, y, depth = nodes = [_nodes(of) for of in coordinates]
        if count and len(x) * len(y) * len(depth) == count:
            rows.seek(0)
            if file := _place(table, rows, nodes, count):
                return PointGrid(file, (depth, y, x))
    if not count:
        raise InputError(f"{table.path} has no points: give one line for each point")
    counts = ", ".join(f"{len(of):,} of {n}" for n, of in zip(table.names, nodes, strict=False))
    raise InputError(
        f"{table.path}: {count:,} points do not form a full grid: they have {counts}, which make "
        f"{len(x) * len(y) * len(depth):,} points; give each point of a grid along these axes once"
    )


def _copy(table: PointTable, rows: BinaryIO) -> list[Floats]:
    """Write coordinates and values row by row; the different coordinates along each axis."""
    found = [np.empty(0)] * _AXES
    for part in table.parts():
        rows.write(np.ascontiguousarray(part.T).data)
        found = [np.union1d(*each) for each in zip(found, part, strict=False)]
    return found


def _nodes(coordinates: Floats) -> Floats:
    """Ascending coordinates, of which those that differ by rounding are the same node."""
    extent = np.ptp(coordinates) if coordinates.size else 0.0
    return coordinates[np.diff(coordinates, prepend=-np.inf) > _SAME * extent]


def _place(table: PointTable, rows: BinaryIO, nodes: Sequence[Floats], count: int) -> Path | None:
    """Write values to their places in the grid; the file, or None if a point is missing."""
    width = len(table.names)
    filled = np.zeros(count, bool)
    with _scratch_file(8 * count * (width - _AXES)) as file:
        values = np.memmap(file, np.float64, "r+").reshape(-1, count)
        for _ in range(0, count, LINES):
            part = np.frombuffer(rows.read(8 * width * LINES), np.float64).reshape(-1, width).T
            places = _places(part[:_AXES], nodes)
            filled[places] = True
            values[:, places] = part[_AXES:]
        if not filled.all():
            file.unlink()
            return None
    return file


def _places(points: Floats, nodes: Sequence[Floats]) -> Indices:
    """The number of each point in the grid (depth, y, x)."""
    x, y, depth = (
        np.searchsorted(of, at, side="right") - 1 for of, at in zip(nodes, points, strict=True)
    )
    return np.asarray((depth * len(nodes[1]) + y) * len(nodes[0]) + x)


@contextmanager
def _scratch_file(size: int) -> Iterator[Path]:
    """A new file of some bytes, deleted if the block fails."""
    with NamedTemporaryFile(prefix="groundswell-", delete=False) as file:
        path = Path(file.name)
        try:
            reserve(path, 0, size)
            yield path
        except BaseException:
            path.unlink()
            raise
