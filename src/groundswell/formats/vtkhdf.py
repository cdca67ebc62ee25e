"""Snapshots of a volume in VTKHDF, which ParaView opens as a time series of image data.

Format: "VTKHDF format specification", https://docs.vtk.org/en/latest/vtk_file_formats/vtkhdf_file_format
(ImageData with temporal data, version 2.0, read by VTK 9.3 and ParaView 5.12 or later).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from groundswell.arrays import HostArray
from groundswell.formats.appendable_hdf5 import AppendableFile, chunk_length
from groundswell.formats.netcdf import netcdf_attributes

_VERSION = (2, 0)
_CHUNK_BYTES = 1 << 22

GRID_SPACING = "grid_spacing"  # attribute of a file: spacing of its grid (x, y, z), m

# Fields whose sign changes with the direction of z.
ODD_IN_Z = frozenset({"vz", "sxz", "syz"})
_VELOCITY = ("vx", "vy", "vz")
COMPONENTS = {"velocity": _VELOCITY}  # fields that are the components of an array


@dataclass(frozen=True)
class ImageGrid:
    """The cells of a snapshot.

    Args:
        cells: number of cells (x, y, z).
        spacing: cell edges (x, y, z), m; with a stride, the stride times those of the grid.
        origin: corner (x, y, z) of the first cell, m.
        downward: whether z is a depth; otherwise arrays and axes are written unchanged.
    """

    cells: tuple[int, int, int]
    spacing: tuple[float, float, float]
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    downward: bool = True

    @property
    def lowest_corner(self) -> tuple[float, float, float]:
        """The corner with the smallest coordinates, with z up, m."""
        x, y, z = self.origin
        return (x, y, -(z + self.cells[2] * self.spacing[2]) if self.downward else z)


class VolumeWriter(AppendableFile):
    """Appends snapshots of cell values to a file with axes x, y and z (up), m.

    Depth becomes negative z, so that the surface is on top and the axes are right-handed. Vertical
    velocity in the file is positive upward. If all of vx, vy and vz are written, they form a vector
    array `velocity`; any other field is a scalar array of its own name. Vectors are in the frame of
    the grid.

    Args:
        path: final name, usually `volumes.vtkhdf`.
        grid: the cells of a snapshot.
        fields: names of the fields, as in `append`.
        attrs: attributes of the file, which VTK ignores.
        resume: number of snapshots to keep of the file of an earlier run; None starts a new file.
        dtype: data type of the values in the file.

    Raises:
        InputError: the file to resume is of another case.
        RunFailed: the disk is full.
    """

    def __init__(
        self,
        path: str | Path,
        grid: ImageGrid,
        fields: Sequence[str],
        *,
        attrs: Mapping[str, object] | None = None,
        resume: int | None = None,
        dtype: DTypeLike = "float32",
    ) -> None:
        self._grid, self._dtype = grid, np.dtype(dtype)
        self._attrs = dict(attrs or {})
        self._arrays = _arrays(fields)
        shape = (None, *grid.cells[::-1])
        growing: dict[str, tuple[int | None, ...]] = {"VTKHDF/Steps/Values": (None,)}
        for name, parts in self._arrays.items():
            growing[f"VTKHDF/CellData/{name}"] = shape if len(parts) == 1 else (*shape, len(parts))
            growing[f"VTKHDF/Steps/CellDataOffsets/{name}"] = (None,)
        super().__init__(path, growing, resume)

    def append(self, time: float, fields: Mapping[str, ArrayLike]) -> None:
        """Append the snapshot of `time` (s): each field an array (nz, ny, nx), depth downward.

        Raises:
            RunFailed: the disk is full; all earlier snapshots are still in the file.
        """
        blocks: dict[str, HostArray] = {"VTKHDF/Steps/Values": np.array([time])}
        for name, parts in self._arrays.items():
            upward = [self._upward(part, fields) for part in parts]
            values = upward[0] if len(parts) == 1 else np.stack(upward, axis=-1)
            blocks[f"VTKHDF/CellData/{name}"] = values[np.newaxis]
            blocks[f"VTKHDF/Steps/CellDataOffsets/{name}"] = np.array([self.length])
        self._extend(blocks)

    def _upward(self, name: str, fields: Mapping[str, ArrayLike]) -> HostArray:
        """The field with the lowest plane first, for z up."""
        values = np.asarray(fields[name], self._dtype)
        if not self._grid.downward:
            return values
        return -values[::-1] if name in ODD_IN_Z else values[::-1]

    def _resize(self, length: int) -> None:
        super()._resize(length)
        self._file["VTKHDF/Steps"].attrs.modify("NSteps", np.int64(length))

    def _create(self, part: Path) -> None:
        import h5py

        with h5py.File(part, "w", locking=False) as file:
            file.attrs.update(netcdf_attributes(self._attrs))
            root = file.create_group("VTKHDF")
            self._write_image_data(root)
            for name, shape in self._shapes.items():
                file.create_dataset(
                    name,
                    shape=tuple(n or 0 for n in shape),
                    maxshape=shape,
                    chunks=_chunks(shape, self._dtype.itemsize),
                    dtype=self._type_of(name),
                )
            root["Steps"].attrs["NSteps"] = np.int64(0)

    def _type_of(self, name: str) -> np.dtype:
        if name.startswith("VTKHDF/CellData/"):
            return self._dtype
        return np.dtype("float64" if name.endswith("/Values") else "int64")

    def _write_image_data(self, root: Any) -> None:
        """Write the attributes of an ImageData group, in the types of the specification."""
        nx, ny, nz = self._grid.cells
        root.attrs["Version"] = np.array(_VERSION, np.int64)
        root.attrs["Type"] = np.bytes_("ImageData")  # fixed-length ASCII
        root.attrs["WholeExtent"] = np.array([0, nx, 0, ny, 0, nz], np.int64)
        root.attrs["Origin"] = np.array(self._grid.lowest_corner, np.float64)
        root.attrs["Spacing"] = np.array(self._grid.spacing, np.float64)
        root.attrs["Direction"] = np.eye(3, dtype=np.float64).ravel()


def _arrays(fields: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Name of each array in the file -> fields that are its components; velocity first."""
    whole = set(_VELOCITY) <= set(fields)
    vector = COMPONENTS if whole else {}
    return vector | {f: (f,) for f in fields if not (whole and f in _VELOCITY)}


def _chunks(shape: tuple[int | None, ...], itemsize: int) -> tuple[int, ...]:
    """Chunk shape: whole planes of one step, a few MiB; many steps of a one-dimensional dataset."""
    if len(shape) == 1:
        return (1024,)
    planes, *plane = (n or 1 for n in shape[1:])
    return (1, chunk_length(planes, _CHUNK_BYTES // (itemsize * int(np.prod(plane)))), *plane)
