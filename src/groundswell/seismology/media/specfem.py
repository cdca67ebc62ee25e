"""Tomographic models in the format of SPECFEM3D: `tomography_model.xyz`.

Four lines have the corners x, y, z of the grid, its spacings, its numbers of points, and limits of
vp, vs and rho. The other lines are points: x, y, z, vp, vs, rho and, if anelastic, Qp and Qs, in SI
units; z is upwards.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.formats.damage import read_errors_reported
from groundswell.seismology.case.model_files import SpecfemSection
from groundswell.seismology.media.material import UNITS
from groundswell.seismology.media.model_grid import ModelGrid
from groundswell.seismology.media.point_files import PointTable
from groundswell.seismology.media.scattered import AXES, grid_of_points
from groundswell.seismology.media.text_columns import TextColumns

_HEADER = (6, 3, 3, 6)  # numbers in its lines
_PROPERTIES = ("vp", "vs", "rho", "qp", "qs")


def open_specfem_model(section: SpecfemSection, comm: Communicator | None = None) -> ModelGrid:
    """Read a tomographic model of SPECFEM3D; all ranks must call this.

    Raises:
        InputError: the file is unreadable, or its points are not those that its header names.
    """
    path = section.file
    skip, counts, columns = _read_header(path)
    names = (*AXES, *_PROPERTIES[: columns - len(AXES)])
    table = PointTable(TextColumns(path, skip, range(columns)), names, _with_depth)
    grid = grid_of_points(table, UNITS, section.projection, comm)
    _require_counts(grid, counts)
    return grid


def _with_depth(columns: Floats) -> list[Floats]:
    """Depths instead of heights."""
    x, y, z, *values = columns
    return [x, y, 0.0 - z, *values]


def _require_counts(grid: ModelGrid, counts: tuple[int, ...]) -> None:
    found = tuple(len(nodes) for nodes in grid.nodes[::-1])
    if found != counts:
        named, lines = (" x ".join(f"{n:,}" for n in of) for of in (counts, found))
        raise InputError(
            f"{grid.path}: the header names {named} points along x, y and z, and the lines have "
            f"{lines}; correct the header, or write the file again"
        )


def _read_header(path: Path) -> tuple[int, tuple[int, ...], int]:
    """Number of lines before the points, numbers of points, and columns of the first point."""
    with read_errors_reported(path, "a SPECFEM model", "correct it"):
        with path.open(encoding="utf-8-sig") as file:
            lines = ((n, line.partition("#")[0].split()) for n, line in enumerate(file, 1))
            found = list(islice(((n, words) for n, words in lines if words), 5))
        for (line, words), count in zip(found, _HEADER, strict=False):
            if len(words) != count:
                raise InputError(
                    f"{path}, line {line}: {len(words)} numbers in line {_HEADER.index(count) + 1} "
                    f"of the header instead of {count}"
                )
        if len(found) < 5 or len(found[4][1]) not in (6, 8):
            raise InputError(
                f"{path}: after four lines of the header, give lines with x, y, z, vp, vs, rho "
                "and, if the model is anelastic, Qp and Qs"
            )
        counts = tuple(int(word) for word in found[2][1])
    return found[3][0], counts, len(found[4][1])
