"""Maps of the accumulated plastic strain at the surface, in NetCDF-4."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from groundswell.formats.netcdf import Variable, read_netcdf
from groundswell.outputs.files import write_fields
from groundswell.seismology.case.plasticity import STRAIN
from groundswell.seismology.formats.seismograms import Attributes
from groundswell.seismology.formats.shaking_maps import SurfacePoints

if TYPE_CHECKING:
    import xarray

NAME = "plastic_strain.nc"
_COMMENT = "Time integral of the square root of half the squared plastic strain rate"


def write_plastic_strain(
    path: Path, strain: ArrayLike, points: SurfacePoints, attrs: Attributes | None = None
) -> Path:
    """Write a map of the plastic strain at the end of a run.

    Args:
        path: final name, usually `plastic_strain.nc`.
        strain: of the uppermost cells, (ny, nx).
        points: centres of the cells.
        attrs: as in `write_shaking_map`.

    Raises:
        InputError: there is no permission to write.
        RunFailed: the disk is full.
    """
    about = {"units": "1", "long_name": "accumulated plastic strain", "comment": _COMMENT}
    field = Variable(("y", "x"), np.asarray(strain), attrs={**about, **points.attrs})
    return write_fields(path, points.coordinates, {STRAIN: field}, attrs or {})


def read_plastic_strain(path: str | Path) -> xarray.Dataset:
    """Read a map of the plastic strain: `plastic_strain` on (y, x), with the file's attributes.

    Raises:
        InputError: the file is missing, damaged or not such a map.
    """
    return read_netcdf(path, required=(STRAIN, "x", "y"))
