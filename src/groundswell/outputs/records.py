"""Recorded fields of a results folder, as datasets whose values are read when they are used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import xarray

from groundswell.arrays import Floats
from groundswell.case.recording import SUFFIXES
from groundswell.formats.netcdf import open_dataset
from groundswell.formats.vtkhdf import GRID_SPACING
from groundswell.formats.vtkhdf_reader import open_images
from groundswell.outputs.recording import RecordableField


def open_records(
    folder: Path, files: Sequence[str], fields: Mapping[str, RecordableField], *, downward: bool
) -> dict[str, xarray.Dataset]:
    """Open the files with recorded fields, by name.

    Args:
        files: names of the files that may be records; those of other formats are left out.
        fields: the recordable fields, for the units and positions of images.
        downward: whether z is depth.

    Raises:
        InputError: a file is missing or damaged.
    """
    names = [name for name in files if Path(name).suffix in SUFFIXES]
    return {name: _open(folder / name, fields, downward) for name in names}


def _open(path: Path, fields: Mapping[str, RecordableField], downward: bool) -> xarray.Dataset:
    if path.suffix != ".vtkhdf":
        return open_dataset(path)
    images = open_images(path, downward=downward)
    return _located(images, [fields[name] for name in map(str, images.data_vars)])


def _located(images: xarray.Dataset, fields: Sequence[RecordableField]) -> xarray.Dataset:
    """Images with units, and coordinates of their own for staggered fields, such as `x_vx`."""
    known = {axis: images[axis].values for axis in "zyx"}
    found = {}
    for field in fields:
        array = images[field.name].assign_attrs(field.attrs)
        for axis, h, offset in zip("xyz", images.attrs[GRID_SPACING], field.offset, strict=True):
            positions, attrs = images[axis].values + offset * h, images[axis].attrs
            name = _name_of(axis, field.name, positions, known)
            known[name] = positions
            if name != axis:
                array = array.rename({axis: name}).assign_coords({name: (name, positions, attrs)})
        found[field.name] = array
    dataset = xarray.Dataset(found, attrs=images.attrs)
    dataset.set_close(images.close)
    return dataset


def _name_of(axis: str, field: str, positions: Floats, known: Mapping[str, Floats]) -> str:
    """The name of the coordinate with these positions: one that is there, or a new one."""
    for name, others in known.items():
        if name.partition("_")[0] == axis and np.array_equal(others, positions):
            return name
    return f"{axis}_{field}"
