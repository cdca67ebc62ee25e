"""The file of a flow, `flow.nc`: all fields, walls included. Each rank writes its own points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

from groundswell.arrays import HostArray
from groundswell.backends.host_threads import in_threads
from groundswell.exchange.communicator import Communicator
from groundswell.formats.netcdf import Variable
from groundswell.formats.streams import Stream
from groundswell.grids.cartesian import Part
from groundswell.outputs.files import FieldsFile, write_together
from groundswell.solvers.cavity.boxes import Box
from groundswell.solvers.cavity.case import AXES, FIELDS
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.middle_plane import plane_attributes
from groundswell.solvers.cavity.recording import recordable_of, unit_of
from groundswell.solvers.cavity.sides import WithSides

Span = tuple[slice, int]  # values of a rank along an axis, and the place of the first in the whole


def write_flow(
    comm: Communicator, grid: LevelGrid, part: Part, inside: Mapping[str, HostArray], path: Path
) -> list[Path]:
    """Write all fields as NetCDF, which ParaView and xarray open. All ranks of a host call it.

    Args:
        part: the rank's part of the grid.
        inside: its stored values by field, (nz, ny, nx); temperature in K.

    Returns:
        The file on rank 0, nothing on others.
    """
    box = Box.of_part(grid, part)
    fields = in_threads(lambda name: WithSides(grid, box, name, inside[name]).values, FIELDS)
    streams = [
        stream
        for name, values in zip(FIELDS, fields, strict=True)
        for stream in _streams(grid, box, name, values)
    ]
    with ThreadPoolExecutor(1) as disk:
        written = write_together(comm, disk, _file(grid, inside["T"].dtype.name, path), streams)
    return [each.result() for each in written]


def _file(grid: LevelGrid, dtype: str, path: Path) -> FieldsFile:
    dims = AXES[::-1]
    coordinates = {
        name: Variable(
            (name,),
            grid.positions(AXES.index(name)),
            attrs={"units": unit_of(grid.case.fluid.kind, "m"), "axis": name.upper()},
        )
        for name in dims
    }
    about = recordable_of(grid.case.fluid.kind)
    fields = {name: Variable(dims, dtype=dtype, attrs=about[name].attrs) for name in FIELDS}
    return FieldsFile(path, coordinates, fields, plane_attributes(grid))


def _streams(grid: LevelGrid, box: Box, name: str, values: HostArray) -> Iterator[Stream]:
    """The values of a rank, and those at its first points again at the end of periodic axes."""
    shape = [len(grid.positions(axis)) for axis in (2, 1, 0)]
    for spans in product(*(_spans(grid, box, axis) for axis in (2, 1, 0))):
        piece = values[tuple(here for here, _ in spans)]
        place = [slice(at, at + n) for (_, at), n in zip(spans, piece.shape, strict=True)]
        yield Stream.of_box(name, piece, shape, place)


def _spans(grid: LevelGrid, box: Box, axis: int) -> Sequence[Span]:
    whole = [(slice(None), box.first(grid, axis))]
    repeats = grid.periodic[axis] and box.start[axis] == 0
    return [*whole, (slice(0, 1), grid.points[axis])] if repeats else whole
