"""Fields on Lagrange hexahedra at several times, in a VTKHDF file that grows.

Format: "VTKHDF format specification",
https://docs.vtk.org/en/latest/vtk_file_formats/vtkhdf_file_format (UnstructuredGrid with temporal
data, version 2.0, read by VTK 9.3 and ParaView 5.12 or later). All times share the points and
elements, which the file has once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import HostArray
from groundswell.formats.appendable_hdf5 import METADATA_BYTES, AppendableFile
from groundswell.formats.atomic import reserve
from groundswell.formats.netcdf import netcdf_attributes
from groundswell.meshes.hexahedra import AXES
from groundswell.spectral_elements.vtkhdf import LagrangeElements, to_equidistant

_VERSION = (2, 0)
_CHUNK = 1 << 16  # values
_ROOT, _STEPS = "VTKHDF", "VTKHDF/Steps"
# Where the points and elements of each time begin: at the first ones of the file.
_SHARED = ("PartOffsets", "PointOffsets", "CellOffsets", "ConnectivityIdOffsets")


class LagrangeSeries(AppendableFile):
    """Appends fields at the points of elements, time by time.

    Args:
        path: final name, usually `volumes.vtkhdf`.
        elements: the points and elements; its fields are not used, its attributes are.
        fields: names of the fields.
        resume: number of times to keep of the file of an earlier run; None starts a new file.
        dtype: data type of the values in the file.

    Raises:
        InputError: the file to resume is of another case.
        RunFailed: the disk is full.
    """

    def __init__(
        self,
        path: str | Path,
        elements: LagrangeElements,
        fields: Sequence[str],
        resume: int | None = None,
        dtype: DTypeLike = "float32",
    ) -> None:
        self._elements, self._fields, self._dtype = elements, tuple(fields), np.dtype(dtype)
        flat: dict[str, tuple[int | None, ...]] = {f"{_STEPS}/Values": (None,)}
        flat |= {f"{_STEPS}/{name}": (None,) for name in ("NumberOfParts", *_SHARED[:2])}
        flat |= {f"{_STEPS}/{name}": (None, 1) for name in _SHARED[2:]}  # one kind of cells
        for name in fields:
            flat |= {f"{_ROOT}/PointData/{name}": (None,)}
            flat |= {f"{_STEPS}/PointDataOffsets/{name}": (None,)}
        rows = {f"{_ROOT}/PointData/{name}": len(elements.points) for name in fields}
        # The first element that has each point.
        self._first = np.unique(elements.connectivity, return_index=True)[1]
        super().__init__(path, flat, resume, rows)

    def append(self, time: float, fields: Mapping[str, HostArray]) -> None:
        """Append fields at a time (s).

        Args:
            fields: values at GLL nodes by name, (elements, (N + 1)^3).

        Raises:
            RunFailed: the disk is full; all earlier times are still in the file.
        """
        blocks: dict[str, HostArray] = {
            f"{_STEPS}/Values": np.array([time]),
            f"{_STEPS}/NumberOfParts": np.ones(1, np.int64),
        }
        blocks |= {f"{_STEPS}/{name}": np.zeros(1, np.int64) for name in _SHARED[:2]}
        blocks |= {f"{_STEPS}/{name}": np.zeros((1, 1), np.int64) for name in _SHARED[2:]}
        begin = np.array([self.length * len(self._first)])
        for name in self._fields:
            blocks[f"{_ROOT}/PointData/{name}"] = self._at_points(fields[name])
            blocks[f"{_STEPS}/PointDataOffsets/{name}"] = begin
        self._extend(blocks)

    def _at_points(self, values: HostArray) -> HostArray:
        degree = round(values.shape[1] ** (1 / AXES)) - 1
        nodes = to_equidistant(values[..., None], degree, self._elements.degree)
        return nodes.ravel()[self._first].astype(self._dtype)

    def _resize(self, length: int) -> None:
        super()._resize(length)
        self._file[_STEPS].attrs.modify("NSteps", np.int64(length))

    def _create(self, part: Path) -> None:
        import h5py

        reserve(part, 0, self._elements.grid_bytes + METADATA_BYTES)
        with h5py.File(part, "w", locking=False) as file:
            file.attrs.update(netcdf_attributes(self._elements.attrs))
            self._elements.write_grid(file, _VERSION)
            for name, (_, *others) in self._shapes.items():
                file.create_dataset(
                    name,
                    shape=(0, *others),
                    maxshape=(None, *others),
                    chunks=(min(_CHUNK, max(self._rows[name], 64)), *others),
                    dtype=self._type_of(name),
                )
            file[_STEPS].attrs["NSteps"] = np.int64(0)

    def _type_of(self, name: str) -> np.dtype[Any]:
        if name.startswith(f"{_ROOT}/PointData/"):
            return self._dtype
        return np.dtype("float64" if name.endswith("/Values") else "int64")
