"""Opening of files with values on a rectilinear grid: NetCDF, HDF5 and NIfTI."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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

    from groundswell.solvers.ultrasound.media.stored_array import stored_array

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
        data[name] = dims, stored_array(path, file[name]), units[name]
    return data


def _units(dataset: h5py.Dataset) -> dict[str, str]:
    """The attribute `units` of an HDF5 dataset, if it has one."""
    units = dataset.attrs.get("units", "")
    return {"units": units.decode() if isinstance(units, bytes) else str(units)}


# --- NIfTI ----------------------------------------------------------------------------------------


def open_nifti(path: Path, name: str) -> xarray.Dataset:
    """Read the image of a NIfTI file as the variable `name`.

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
    with read_errors_reported(path, "NIfTI"):
        image: Any = nibabel.as_closest_canonical(nibabel.load(path))
        values = image.get_fdata(dtype=np.float32, caching="unchanged")
        unit = _NIFTI_UNITS[image.header.get_xyzt_units()[0]]
    values = _three_dimensional(path, values)
    coordinates = _coordinates(path, image.affine, values.shape)
    coords = {axis: (axis, at, {"units": unit}) for axis, at in coordinates.items()}
    return xarray.Dataset({name: (tuple(AXES), values)}, coords=coords)


def _three_dimensional(path: Path, values: NDArray[np.float32]) -> NDArray[np.float32]:
    shape = values.shape + (1,) * (3 - values.ndim)
    if np.prod(shape[3:]) != 1:
        raise InputError(
            f"{path} has an image of shape {shape}; give a file with one three-dimensional image"
        )
    return values.reshape(shape[:3])


def _coordinates(path: Path, affine: Floats, shape: tuple[int, ...]) -> dict[str, Floats]:
    """Coordinates of the voxels' centres; a rotation may move no voxel by more than 0.1 voxels."""
    spacing = np.diag(affine)[:3]
    skew = (affine[:3, :3] - np.diag(spacing)) * (np.array(shape) - 1)
    if not np.isfinite(affine).all() or np.abs(skew).max() > 0.1 * np.abs(spacing).min():
        raise InputError(
            f"{path}: the image is rotated relative to the axes x, y, z of its affine; resample it "
            "on a grid along these axes"
        )
    return {axis: affine[n, 3] + spacing[n] * np.arange(shape[n]) for n, axis in enumerate(AXES)}
