"""Opening of files with values on a rectilinear grid: NetCDF, HDF5 and NIfTI."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError, install
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.netcdf import open_dataset
from groundswell.solvers.ultrasound.media.points import AXES

if TYPE_CHECKING:
    import h5py
    import xarray

_NIFTI_UNITS = {"unknown": "mm", "mm": "mm", "meter": "m", "micron": "um"}


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


def open_nifti(path: Path, name: str) -> xarray.Dataset:
    """The image of a NIfTI file as the variable `name`; compressed images are read at once.

    The coordinates x, y, z are those of the header's affine transform. For images of patients, they
    point to the right, to the front and upwards.

    Raises:
        InputError: the file is damaged, the image is rotated, or nibabel is not installed.
    """
    import xarray

    try:
        import nibabel  # type: ignore[import-not-found]
    except ImportError:
        raise InputError(f"{path}: reading NIfTI needs nibabel; {install('ultrasound')}") from None
    from groundswell.solvers.ultrasound.media.stored_array import StoredImage

    with read_errors_reported(path, "NIfTI"):
        image: Any = nibabel.load(path)
        unit = _NIFTI_UNITS[image.header.get_xyzt_units()[0]]
        order = nibabel.io_orientation(image.affine)[:, 0]
        stored = StoredImage(_three_dimensional(path, image))
        values = stored.variable if path.suffix == ".nii" else stored.get_duck_array()
    along = _coordinates(path, image.affine, order, values.shape)
    coords = {axis: (axis, at, {"units": unit}) for axis, at in along.items()}
    return xarray.Dataset({name: (tuple(along), values)}, coords=coords)


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


def _coordinates(
    path: Path, affine: Floats, order: Floats, shape: tuple[int, ...]
) -> dict[str, Floats]:
    """Coordinates of the voxels' centres along each axis of an image, by the name of the axis.

    Args:
        path: the file.
        affine: the affine transform from indices to coordinates, (4, 4).
        order: number of the coordinate, 0, 1 or 2, that changes most along each axis; NaN if none.
        shape: number of voxels along each axis.

    Raises:
        InputError: the image is rotated; a rotation may move no voxel by more than 0.1 voxels.
    """
    rows = np.nan_to_num(order).astype(int)
    spacing = affine[rows, range(3)]
    skew = affine[:3, :3].copy()
    skew[rows, range(3)] = 0
    moved = np.abs(skew * (np.array(shape) - 1))
    if not np.isfinite(affine).all() or moved.max() >= 0.1 * np.abs(spacing).min():
        raise InputError(
            f"{path}: the image is rotated relative to the axes x, y, z of its affine; resample it "
            "on a grid along these axes"
        )
    return {
        AXES[row]: affine[row, 3] + step * np.arange(count)
        for row, step, count in zip(rows, spacing, shape, strict=True)
    }
