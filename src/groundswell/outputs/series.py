"""Files of recorded series: NetCDF for any selection, or VTKHDF images of boxes for ParaView."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from groundswell.arrays import HostArray
from groundswell.case.recording import AllWhere, BoxWhere, RecordSection
from groundswell.formats.vtkhdf import GRID_SPACING, ImageGrid, VolumeWriter
from groundswell.outputs.cartesian import CartesianDomain
from groundswell.outputs.files import SeriesWriter
from groundswell.outputs.recording import Recording, Selection

Writer = SeriesWriter | VolumeWriter
Write = Callable[[HostArray, range], None]


def open_series(
    section: RecordSection,
    recording: Recording,
    selection: Selection,
    path: Path,
    length: int | None,
) -> Writer:
    """Open the file of a section's samples; its suffix determines the format.

    Args:
        length: number of samples to keep of an earlier run's file; None starts a new file.

    Raises:
        InputError: the file to resume does not belong to this case.
        RunFailed: the disk is full.
    """
    if path.suffix == ".vtkhdf":
        return _open_images(section, recording, path, length)
    frame, axis = selection.frame, recording.schedule(section).axis
    fields = {
        of.name: frame.variable(of, axis[0], dtype=recording.dtype)
        for of in recording.fields_of(section)
    }
    return SeriesWriter(path, axis, frame.coordinates, fields, recording.attrs, length)


def _open_images(
    section: RecordSection, recording: Recording, path: Path, length: int | None
) -> VolumeWriter:
    domain, where = recording.domain, section.where
    assert isinstance(domain, CartesianDomain)
    assert isinstance(where, AllWhere | BoxWhere)  # the case has been validated
    runs, edges = domain.runs(where), domain.part.grid.spacing
    x, y, z = (r.step * h for r, h in zip(runs, edges, strict=True))
    # A block of strided cells has the value of its first cell, so we centre it on that cell.
    corner = [
        float(domain.coordinate(axis, run.start)) - edge / 2
        for axis, (run, edge) in enumerate(zip(runs, (x, y, z), strict=True))
    ]
    nx, ny, nz = map(len, runs)
    origin = corner[0], corner[1], corner[2]
    return VolumeWriter(
        path,
        ImageGrid((nx, ny, nz), (x, y, z), origin, domain.downward),
        section.fields,
        attrs={**recording.attrs, GRID_SPACING: edges},
        resume=length,
        dtype=recording.dtype,
    )


def append_to(
    section: RecordSection, recording: Recording, selection: Selection, writer: Writer | None
) -> Write:
    """A function that appends blocks of whole samples, (samples, fields, ...), to the file."""
    names, frame = section.fields, selection.frame
    times = recording.schedule(section).times

    def append_images(block: HostArray, numbers: range) -> None:
        assert isinstance(writer, VolumeWriter)
        for time, sample in zip(times(numbers), block, strict=True):
            writer.append(float(time), dict(zip(names, sample, strict=True)))

    def append(block: HostArray, numbers: range) -> None:
        assert isinstance(writer, SeriesWriter)
        samples = np.moveaxis(selection.complete(block), 1, 0)
        shapes = ((len(numbers), *frame.shape(name)) for name in names)
        fields = zip(names, samples, shapes, strict=True)
        writer.append(times(numbers), {name: of.reshape(shape) for name, of, shape in fields})

    return append_images if isinstance(writer, VolumeWriter) else append
