"""A small grid, media on it, and model files, for the tests of ultrasound media."""

from __future__ import annotations

from math import log, pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.solvers.ultrasound.media import MediumSection, build_medium
from groundswell.solvers.ultrasound.medium import AcousticMedium

H = 1e-3
LAYERS = 2  # points of the absorbing layers
CELLS = (7, 6, 5)
REGION = ((0.0, 0.0, 0.0), tuple((n - 1) * H for n in CELLS))
AXES = tuple(np.arange(-LAYERS, n + LAYERS) * H for n in CELLS)
SHAPE = tuple(len(at) for at in reversed(AXES))
WATER: dict[str, Any] = {"speed": 1500.0, "density": 1000.0}


def build(dtype: str = "float64", **keys: Any) -> AcousticMedium:
    return build_medium(MediumSection(**{**WATER, **keys}), AXES, REGION, dtype)


def inside(array: NDArray[Any]) -> NDArray[Any]:
    return array[LAYERS:-LAYERS, LAYERS:-LAYERS, LAYERS:-LAYERS]


def refusal(**keys: Any) -> str:
    with pytest.raises(InputError) as caught:
        build(**keys)
    return str(caught.value)


def model(seed: int = 2, margin: float = 0.3 * H) -> xr.Dataset:
    """Random properties on uneven samples that cover the region, but not all of the layers."""
    rng = np.random.default_rng(seed)
    coords = {}
    for axis, n in zip("xyz", CELLS, strict=True):
        inner = np.sort(rng.uniform(0, (n - 1) * H, n + 2))
        coords[axis] = np.concatenate([[-margin], inner, [(n - 1) * H + margin]])
    shape = tuple(len(coords[axis]) for axis in "zyx")
    ranges = {"speed": (1400, 3000), "density": (900, 2100), "absorption": (0.1, 9)}
    variables = {name: (tuple("zyx"), rng.uniform(*r, shape)) for name, r in ranges.items()}
    return xr.Dataset(variables, coords)


def interpolated(data: xr.Dataset, name: str) -> NDArray[Any]:
    """Values at all points; beyond the samples, the nearest values."""
    values = data[name].transpose("z", "y", "x").values
    for axis, dim, at in zip((2, 1, 0), "xyz", AXES, strict=True):
        nodes = data[dim].values
        values = np.apply_along_axis(
            lambda row, to=at, xp=nodes: np.interp(to, xp, row), axis, values
        )
    return values


def properties_file(path: Path, **keys: Any) -> dict[str, Any]:
    return {"quantity": "properties", "file": path, **keys}


def save(tmp_path: Path, data: xr.Dataset, name: str = "model.nc", **options: Any) -> Path:
    path = tmp_path / name
    data.to_netcdf(path, engine=options.pop("engine", "h5netcdf"), **options)
    return path


def assert_matches(medium: AcousticMedium, data: xr.Dataset, rtol: float = 1e-12) -> None:
    assert_allclose(medium.speed, interpolated(data, "speed"), rtol=rtol)
    assert_allclose(medium.density, interpolated(data, "density"), rtol=rtol)
    per_metre = 100 / (20 / log(10)) / (2e6 * pi) ** medium.power
    assert_allclose(medium.absorption, per_metre * interpolated(data, "absorption"), rtol=rtol)
