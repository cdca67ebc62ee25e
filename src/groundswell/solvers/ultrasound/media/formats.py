"""Opening of files with values on a rectilinear grid: NetCDF, HDF5 and NIfTI."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.arrays import Floats, Indices
from groundswell.errors import InputError, install
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.netcdf import open_dataset
from groundswell.solvers.ultrasound.media.points import AXES

if TYPE_CHECKING:
    import h5py
    import xarray

_NIFTI_UNITS = {"unknown": "mm", "mm": "mm", "meter": "m", "micron": "um"}
_METRES = {"mm": 1e-3, "m": 1.0, "um": 1e-6}


def open_grid_file(path: Path, names: Iterable[str]) -> xarray.Dataset:
    """Open a NetCDF or HDF5 file as a dataset with the coordinates x, y, z.

    HDF5 files need no dimension scales. Without them, x, y and z must be lists of coordinates, and
    other arrays must have the axes (z, y, x) or (y, x).

    Args:
        path: the file.
        names: variables to read from HDF5 files without dimension scales.

    Raises:
        InputError: the file is missing or damaged.
    """
    import h5py

    with read_errors_reported(path, "HDF5"):
        if not h5py.is_hdf5(path):
            return open_dataset(path)
        with h5py.File(path) as file:
            if any(axis in file and not file[axis].is_scale for axis in AXES):
                return _plain_dataset(path, file, names)
    return open_dataset(path)


def _plain_dataset(path: Path, file: h5py.File, names: Iterable[str]) -> xarray.Dataset:
    import xarray

    from groundswell.solvers.ultrasound.media.stored_array import StoredDataset

    axes = {axis: file[axis][:] for axis in AXES if axis in file}
    units = {name: _units(file[name]) for name in file}
    data = xarray.Dataset(coords={axis: (axis, at, units[axis]) for axis, at in axes.items()})
    for name in (name for name in names if name in file):
        dims = tuple("zyx")[-file[name].ndim :]
        expected = tuple(len(axes[dim]) for dim in dims if dim in axes)
        if file[name].shape != expected:
            raise InputError(
                f"{path}: variable {name} has the shape {file[name].shape}, but its coordinates "
                f"{', '.join(dims)} have {expected} values; store arrays with the axes (z, y, x)"
            )
        data[name] = dims, StoredDataset(path, file[name]).variable, units[name]
    return data


def _units(dataset: h5py.Dataset) -> dict[str, str]:
    """The attribute `units` of an HDF5 dataset, if it has one."""
    units = dataset.attrs.get("units", "")
    return {"units": units.decode() if isinstance(units, bytes) else str(units)}


# --- NIfTI ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NiftiImage:
    """The image of a NIfTI file.

    Args:
        path: the file.
        values: real numbers on three axes; compressed images are in memory.
        affine: transform from indices to coordinates x, y, z, (4, 4). For images of patients, they
            point to the right, to the front and upwards.
        unit: unit of the coordinates.
        axes: number of the coordinate that changes most along each axis.
    """

    path: Path
    values: Any
    affine: Floats
    unit: str
    axes: tuple[int, ...]

    @property
    def affine_in_metres(self) -> Floats:
        """Transform from indices to coordinates in m."""
        factor = _METRES[self.unit]
        return np.diag([factor, factor, factor, 1.0]) @ self.affine

    @property
    def is_oblique(self) -> bool:
        """Whether the axes are oblique: the ends of one lie 0.1 voxels or more beside it."""
        moved = np.abs(self._skew() * (np.array(self.values.shape) - 1))
        return bool(moved.max() >= 0.1 * np.abs(self._spacing()).min())

    @property
    def obliquity(self) -> float:
        """The largest angle between an axis and the coordinate that changes most, degrees."""
        cosines = np.abs(self._spacing()) / np.linalg.norm(self.affine[:3, :3], axis=0)
        return float(np.degrees(np.arccos(cosines.clip(0, 1))).max())

    def dataset(self, name: str) -> xarray.Dataset:
        """The image as a variable on the coordinates of its axes, which are not oblique."""
        import xarray

        steps = zip(self.axes, self._spacing(), self.values.shape, strict=True)
        along = {
            AXES[row]: self.affine[row, 3] + step * np.arange(count) for row, step, count in steps
        }
        coords = {axis: (axis, at, {"units": self.unit}) for axis, at in along.items()}
        return xarray.Dataset({name: (tuple(along), self.values)}, coords=coords)

    def _spacing(self) -> Floats:
        return np.asarray(self.affine[list(self.axes), range(3)])

    def _skew(self) -> Floats:
        """What is added to other coordinates along each axis."""
        skew = self.affine[:3, :3].copy()
        skew[list(self.axes), range(3)] = 0
        return skew


def open_nifti(path: Path) -> NiftiImage:
    """Open the image of a NIfTI file; compressed images are read at once.

    Raises:
        InputError: the file is damaged, or nibabel is not installed.
    """
    nibabel = _nibabel(path)
    from groundswell.solvers.ultrasound.media.stored_array import StoredImage

    with read_errors_reported(path, "NIfTI"):
        image: Any = nibabel.load(path)
        unit = _NIFTI_UNITS[image.header.get_xyzt_units()[0]]
        affine = np.array(image.affine, float)
        order = np.nan_to_num(nibabel.io_orientation(image.affine)[:, 0]).astype(int)
        stored = StoredImage(_three_dimensional(path, image))
        values = stored.variable if path.suffix == ".nii" else stored.get_duck_array()
    _require_invertible(path, affine, order)
    return NiftiImage(path, values, affine, unit, tuple(order.tolist()))


def open_nifti_grid(path: Path) -> tuple[Any, Floats]:
    """The image of a NIfTI file, whose values are not read, and its `affine_in_metres`.

    Raises:
        InputError: the file is damaged, or nibabel is not installed.
    """
    nibabel = _nibabel(path)
    with read_errors_reported(path, "NIfTI"):
        image: Any = nibabel.load(path)
        factor = _METRES[_NIFTI_UNITS[image.header.get_xyzt_units()[0]]]
        affine = np.diag([factor, factor, factor, 1.0]) @ np.array(image.affine, float)
    _require_invertible(path, affine, np.arange(3))
    return image, np.asarray(affine)


def _nibabel(path: Path) -> Any:
    try:
        import nibabel  # type: ignore[import-not-found]
    except ImportError:
        raise InputError(f"{path}: NIfTI files need nibabel; {install('ultrasound')}") from None
    return nibabel


def _require_invertible(path: Path, affine: Floats, order: Indices) -> None:
    lengths = np.linalg.norm(affine[:3, :3], axis=0)
    volume = abs(np.linalg.det(affine[:3, :3])) if np.isfinite(affine).all() else 0.0
    if not volume > 1e-3 * np.prod(lengths) or sorted(order) != [0, 1, 2]:
        raise InputError(
            f"{path}: the affine of the image gives its voxels no volume; correct it, for example "
            "with nibabel"
        )


def _three_dimensional(path: Path, image: Any) -> Any:
    """The values of an image, which must be real and have at most three axes."""
    shape, dtype = image.shape, image.get_data_dtype()
    if dtype.kind not in "iuf":
        raise InputError(f"{path} has an image of type {dtype}; give an image of real numbers")
    if np.prod(shape[3:]) != 1:
        raise InputError(
            f"{path} has an image of shape {shape}; give a file with one three-dimensional image"
        )
    _ = image.dataobj[(-1,) * len(shape)]  # fails if the file ends early
    return image.dataobj
