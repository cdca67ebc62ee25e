"""Stores of strain Green tensors: one file for a station, for fast reading of single points.

With 16 bits, each series is stored as integers times a scale of its own. The error is at most half
of 1/32,767 = 1.5e-5 of the largest strain of the series; half-precision floats, which have the same
size, would have 2.4e-4.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import HostArray
from groundswell.formats.atomic import atomic_write
from groundswell.formats.netcdf import Variable, create_netcdf
from groundswell.seismology.green.files import STRAIN
from groundswell.seismology.green.tensor import SCALE

if TYPE_CHECKING:
    import xarray

LARGEST = 32_767  # of an integer of 16 bits
HALF_ERROR = 0.5 / LARGEST  # largest error of a series in 16 bits, over its largest strain
_CHUNK_BYTES = 1 << 22


def write_store(tensor: xarray.Dataset, path: str | Path, *, half: bool = False) -> Path:
    """Write the tensor of a station to a NetCDF-4 file, with whole series in each chunk.

    Args:
        half: whether to store 16 bits per value, see HALF_ERROR.

    Raises:
        InputError: there is no permission to write.
        RunFailed: the disk is full.
    """
    strain = tensor[STRAIN].values
    variables = {
        str(name): Variable(tuple(map(str, of.dims)), of.values, attrs=of.attrs)
        for name, of in tensor.variables.items()
        if name != STRAIN
    }
    stored, scale = packed(strain) if half else (strain, None)
    dims = tuple(map(str, tensor[STRAIN].dims))
    chunks = _chunks(stored)
    attrs = {"units": "N-1 s-1", "long_name": "strain per impulse of the force"}
    variables[STRAIN] = Variable(dims, stored, chunks=chunks, attrs=attrs)
    if scale is not None:
        meaning = {"long_name": "strain of an integer", "units": "N-1 s-1"}
        variables[SCALE] = Variable(dims[:-1], scale, attrs=meaning)
    sizes = {str(name): size for name, size in tensor.sizes.items()}
    with atomic_write(path, stored.nbytes + (1 << 20)) as part:
        create_netcdf(part, sizes, variables, {str(k): of for k, of in tensor.attrs.items()})
    return Path(path)


def packed(strain: HostArray) -> tuple[HostArray, HostArray]:
    """Series (..., time) as integers of 16 bits, and the scale of each series."""
    peak = np.abs(strain).max(axis=-1, initial=0.0)
    scale = np.where(peak > 0, peak / LARGEST, 1.0)
    return np.rint(strain / scale[..., None]).astype(np.int16), scale


def _chunks(strain: HostArray) -> tuple[int, ...]:
    """Chunks (1, points, components, all times) of about _CHUNK_BYTES."""
    _, points, components, times = strain.shape
    series = max(1, times * components * strain.itemsize)
    return 1, max(1, min(points, _CHUNK_BYTES // series)), components, max(1, times)
