"""What `[[output.record]]` on grids must record, from NumPy in float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray
from numpy.typing import NDArray

from groundswell.grids.cartesian import Grid

SPACING = (10.0, 20.0, 5.0)
GRID = Grid((7, 6, 5), SPACING, (1, 0, 2), (2, 1, 0))


STEPS = 11


def middles(axis: int) -> NDArray[Any]:
    return (np.arange(GRID.region[axis]) + 0.5) * SPACING[axis]


def chosen(where: Any, values: NDArray[Any]) -> NDArray[Any]:
    """What belongs to a sample of a field (..., nz, ny, nx)."""
    z, y, x = (middles(axis) for axis in (2, 1, 0))
    if where.kind == "all":
        return values[..., :: where.stride, :: where.stride, :: where.stride]
    if where.kind == "box":
        inside = [
            np.flatnonzero((at >= where.low[a]) & (at <= where.high[a]))[:: where.stride]
            for a, at in ((2, z), (1, y), (0, x))
        ]
        return values[..., *np.ix_(*inside)]
    if where.kind == "plane":
        axis, step = "xyz".index(where.normal), where.stride or 1
        layer = int(np.abs(middles(axis) - where.at).argmin())
        taken = [
            slice(layer, layer + 1) if a == axis else slice(None, None, step) for a in (2, 1, 0)
        ]
        return values[..., *taken].squeeze(axis=axis - 2 * axis - 1)
    if where.kind == "mask":
        return values.reshape(*values.shape[:-3], -1)[..., where.indices]
    positions = np.array(where.positions)
    i, j, k = (np.abs(middles(a) - positions[:, a, None]).argmin(axis=1) for a in range(3))
    return values[..., k, j, i]


def read(folder: Path, name: str) -> dict[str, Any]:
    with xarray.open_dataset(folder / name, engine="h5netcdf") as found:
        return dict(found.load().variables)
