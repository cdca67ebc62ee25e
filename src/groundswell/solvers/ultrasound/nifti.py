"""Results as NIfTI images, in the frame of the image from which the medium was read."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray
from scipy.ndimage import map_coordinates

from groundswell.arrays import Floats, Reals
from groundswell.errors import InputError, did_you_mean, listed, quoted
from groundswell.formats.atomic import atomic_write
from groundswell.formats.netcdf import open_dataset
from groundswell.solvers.ultrasound import results
from groundswell.solvers.ultrasound.beam import facts_of
from groundswell.solvers.ultrasound.heat.heating import DIMS, impedance_of, mean_square
from groundswell.solvers.ultrasound.heat.treatment import HEAT_FILE
from groundswell.solvers.ultrasound.media.case import NIFTI
from groundswell.solvers.ultrasound.media.formats import open_nifti_grid

MAPS, INTENSITY = ("p_max", "p_min", "p_rms"), "intensity"
HEATED = ("temperature", "temperature_max", "dose")
ROUNDING = 1e-6  # spacings by which a voxel may lie outside the region
AXES = "xyz"


def write_nifti(
    folder: Path,
    path: str | Path,
    values: str | xarray.DataArray = "p_max",
    like: str | Path | None = None,
    outside: float = 0.0,
) -> Path:
    """Write a field as a NIfTI image with the grid and the affine transform of another one.

    Values are interpolated linearly at the centres of voxels, in single precision. The position of
    the image in the case is that of `medium.file`, its `axes` and `offset`; if the case has none,
    coordinates of the image are those of the case.

    Args:
        path: the file, ending in .nii or .nii.gz.
        values: "p_max", "p_min", "p_rms"; "intensity", that of plane waves while the sound is on;
            "temperature", "temperature_max" or "dose" after `groundswell heat`; or a DataArray
            (z, y, x) on points of the case, such as one of a record.
        like: the NIfTI image; by default that of the medium.
        outside: value of voxels outside the region.

    Raises:
        InputError: a name or file is wrong or missing, or nibabel is not installed.
    """
    target, image = Path(path), facts_of(folder).get("image") or {}
    if not target.name.lower().endswith(NIFTI):
        raise InputError(f"{target} must end in {listed(NIFTI)}")
    if like is None and not image:
        raise InputError("the case has no image; give like, the NIfTI file whose grid to use")
    array = values if isinstance(values, xarray.DataArray) else _field(folder, values)
    frame = _Frame(tuple(image.get("axes", AXES)), tuple(image.get("offset", (0.0, 0.0, 0.0))))
    grid, affine = open_nifti_grid(Path(like or image["file"]))
    found = resample(array, frame.to_case(affine), grid.shape[:3], outside)
    _write(target, found, grid, f"{array.name or 'values'} {array.attrs.get('units', '')}".strip())
    return target


def _field(folder: Path, name: str) -> xarray.DataArray:
    """A field by its name."""
    known = (*MAPS, INTENSITY, *HEATED)
    if name not in known:
        raise InputError(f"{quoted(name)} must be {listed(known)}{did_you_mean(name, known)}")
    if name not in HEATED:
        maps = results.fields(folder)
        return maps[name] if name in MAPS else _intensity(folder, maps)
    if not (folder / HEAT_FILE).exists():
        raise InputError(f"{folder / HEAT_FILE} does not exist; run groundswell heat {folder}")
    return open_dataset(folder / HEAT_FILE)[name]


def _intensity(folder: Path, maps: xarray.Dataset) -> xarray.DataArray:
    found = mean_square(maps, facts_of(folder)) / impedance_of(folder)
    like = maps["p_rms"].transpose(*DIMS)
    return like.copy(data=found).rename(INTENSITY).assign_attrs(units="W m-2")


@dataclass(frozen=True)
class _Frame:
    """The axis of the image along each axis of the case, and the offset; see `FileSection`."""

    axes: Sequence[str]
    offset: Sequence[float]

    def to_case(self, affine: Floats) -> Floats:
        """The transform from voxels to positions in the case, m, from that to positions in the
        image."""
        rows = [
            (-1.0 if axis[0] == "-" else 1.0) * affine[AXES.index(axis[-1])] for axis in self.axes
        ]
        found = np.vstack([*rows, [0.0, 0.0, 0.0, 1.0]])
        found[:3, 3] += self.offset
        return np.asarray(found)


def resample(
    values: xarray.DataArray, affine: Floats, shape: Sequence[int], outside: float
) -> Reals:
    """Interpolate a field at the voxels of an image, in single precision.

    Args:
        values: the field, on evenly spaced points (z, y, x).
        affine: transform from voxels to positions in the case (x, y, z), m.
        shape: number of voxels along each axis of the image.
        outside: value of voxels outside the field.

    Raises:
        InputError: the field has other dimensions.
    """
    if set(values.dims) != set(DIMS):
        raise InputError(
            f"values have the dimensions {', '.join(map(str, values.dims))}; give a field with z, "
            "y and x"
        )
    ordered = values.transpose(*DIMS)
    known, spacing = np.asarray(ordered.values, np.float32), _spacing(ordered)
    found = np.empty(shape, np.float32)
    across = np.indices(shape[:2]).reshape(2, -1)
    for k in range(shape[2]):  # one plane at a time, as positions take more memory than values
        voxels = np.vstack([across, np.full(across.shape[1], k), np.ones(across.shape[1])])
        at = _indices(ordered, spacing, (affine @ voxels)[:3])
        last = np.array(known.shape)[:, None] - 1.0
        margin = np.where(last == 0, 0.5, ROUNDING)
        inside = ((at >= -margin) & (at <= last + margin)).all(axis=0)
        plane = map_coordinates(known, np.clip(at, 0, last), order=1, mode="nearest")
        found[:, :, k] = np.where(inside, plane, outside).reshape(shape[:2])
    return found


def _spacing(values: xarray.DataArray) -> Mapping[str, float]:
    """Distance of points by axis, m; for an axis with one point, that along x."""
    first = {dim: values[dim].values[:2] for dim in DIMS}
    along_x = float(np.ptp(first["x"]))
    return {dim: float(np.ptp(at)) if len(at) > 1 else along_x for dim, at in first.items()}


def _indices(values: xarray.DataArray, spacing: Mapping[str, float], positions: Floats) -> Floats:
    """Indices (z, y, x) of positions (x, y, z) in the array of a field."""
    by_axis = dict(zip(AXES, positions, strict=True))
    return np.stack([(by_axis[d] - float(values[d].values[0])) / spacing[d] for d in DIMS])


def _write(path: Path, values: Reals, like: Any, description: str) -> None:
    """Write an image in the frame of another one, atomically."""
    import nibabel  # type: ignore[import-not-found]

    image = nibabel.Nifti1Image(values, like.affine, _header(like, description))
    with atomic_write(path) as part:
        opened: Any = gzip.open if path.name.lower().endswith(".gz") else open
        with opened(part, "wb") as file:
            image.to_stream(file)


def _header(like: Any, description: str) -> Any:
    """The header of an image without what it says about its values: their meaning and colours."""
    header = like.header.copy()
    header.set_data_dtype(np.float32)
    header.set_intent("none")
    header.extensions.clear()
    header["cal_min"] = header["cal_max"] = 0  # no range of colours
    header["aux_file"] = b""  # which may name a colour map
    header["descrip"] = description.encode()[:79]
    return header
