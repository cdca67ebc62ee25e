"""The same model in every format gives the same medium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from segy_files import write_segy

from groundswell.seismology.case.model_files import (
    ColumnsSection,
    NetcdfSection,
    SegySection,
    SpecfemSection,
)
from groundswell.seismology.media.build import build_medium

CELLS, SPACING = (5, 3, 4), (100.0, 100.0, 50.0)
X, Y, DEPTH = 120.0 * np.arange(6), 150.0 * np.arange(4), 60.0 * np.arange(5)
NAMES = ("vp", "vs", "rho")


def model() -> xr.Dataset:
    """Whole numbers, which single precision represents; water in one corner."""
    rng = np.random.default_rng(21)
    shape = len(DEPTH), len(Y), len(X)
    limits = {"vp": (3000, 6000), "vs": (500, 1700), "rho": (2000, 3000)}
    values = {n: rng.integers(*of, shape).astype(float) for n, of in limits.items()}
    for name, of_water in zip(NAMES, (1500, 0, 1000), strict=True):
        values[name][:2, :2, :3] = of_water
    axes = {"depth": DEPTH, "y": Y, "x": X}
    return xr.Dataset({n: (tuple(axes), v) for n, v in values.items()}, axes)


def as_netcdf(folder: Path, data: xr.Dataset) -> Any:
    data.to_netcdf(folder / "model.nc", engine="h5netcdf")
    return NetcdfSection(kind="netcdf", file=folder / "model.nc")


def as_segy(folder: Path, data: xr.Dataset) -> Any:
    """Inlines along x, so that inline numbers grow with y."""
    paths = {
        name: write_segy(
            folder / f"{name}.sgy",
            data[name].transpose("y", "x", "depth").values,
            range(1, 5),
            range(7, 13),
            lambda inline, crossline: {181: round(X[crossline - 7]), 185: round(Y[inline - 1])},
            {3217: 60},
        )
        for name in NAMES
    }
    return SegySection(kind="segy", file=paths.pop("vp"), files=paths)


def rows(data: xr.Dataset, vertical: Any) -> str:
    z, y, x = (at.ravel() for at in np.meshgrid(vertical, Y, X, indexing="ij"))
    columns = [x, y, z, *(data[name].values.ravel() for name in NAMES)]
    return "".join(" ".join(map(str, row)) + "\n" for row in zip(*columns, strict=True))


def as_columns(folder: Path, data: xr.Dataset) -> Any:
    (folder / "model.txt").write_text("x y depth vp vs rho\n" + rows(data, DEPTH))
    return ColumnsSection(kind="columns", file=folder / "model.txt")


def as_specfem(folder: Path, data: xr.Dataset) -> Any:
    header = "0 0 -240 600 450 0\n120 150 60\n6 4 5\n1500 6000 0 1700 1000 3000\n"
    (folder / "model.xyz").write_text(header + rows(data, -DEPTH))
    return SpecfemSection(kind="specfem", file=folder / "model.xyz")


@pytest.mark.parametrize("write", [as_segy, as_columns, as_specfem])
def test_the_medium_is_that_of_netcdf(tmp_path: Path, write: Any) -> None:
    data = model()
    medium = build_medium(write(tmp_path, data), CELLS, SPACING)
    expected = build_medium(as_netcdf(tmp_path, data), CELLS, SPACING)
    fluid = 0
    for k in range(CELLS[2]):
        found, wanted = medium.plane(k).given(), expected.plane(k).given()
        fluid += np.count_nonzero(wanted["vs"] == 0)
        for name in NAMES:
            assert np.allclose(found[name], wanted[name], rtol=1e-12)
    assert 0 < fluid < np.prod(CELLS) / 2
