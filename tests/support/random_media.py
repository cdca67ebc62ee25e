"""Rock properties, layered media and random velocity models for the tests of media."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from awp_files import write_awp_mesh
from hypothesis import strategies as st
from numpy.typing import ArrayLike, DTypeLike, NDArray

from groundswell.seismology.media.layered import Layer, Layered

CELLS, SPACING = (4, 3, 5), (100.0, 100.0, 100.0)
ROCK = {"vp": 6000.0, "vs": 3464.0, "rho": 2700.0}
SOIL = {"vp": 4000.0, "vs": 2000.0, "rho": 2600.0}
SEA = {"vp": 1500.0, "vs": 0.0, "rho": 1025.0}


def layered(
    *layers: Layer,
    spacing: tuple[float, float, float] = SPACING,
    cells: tuple[int, int, int] = CELLS,
    **options: Any,
) -> Layered:
    return Layered(cells, spacing, layers, **options)


def uniform_value(array: NDArray[Any]) -> float:
    """The value of a plane that is the same everywhere."""
    assert array.shape == (1, 1)
    return float(array[0, 0])


@st.composite
def layer_tables(
    draw: st.DrawFn, contrast: float = 20, step: float = 0.25, ratio: float = 1.5
) -> list[Layer]:
    """Layers from the surface down, lambda > 0, with tops on multiples of `step` metres."""
    tops = draw(st.lists(st.integers(1, int(499 / step)), max_size=5, unique=True))
    layers = []
    for top in [0, *sorted(tops)]:
        vs = draw(st.floats(200, 200 * contrast))
        vp = vs * draw(st.floats(ratio, 4))
        rho, qp, qs = (draw(st.floats(low, contrast * low)) for low in (500, 20, 10))
        layers.append(Layer(top * step, vp, vs, rho, qp, qs))
    return layers


def random_arrays(
    seed: int, shape: tuple[int, int, int] = (5, 3, 4), dtype: DTypeLike = np.float64
) -> dict[str, NDArray[Any]]:
    """Solids with Q, each property an array (nz, ny, nx)."""
    rng = np.random.default_rng(seed)
    vs = rng.uniform(300, 3500, shape)
    vp = vs * rng.uniform(1.3, 3, shape)
    found = {"vp": vp, "vs": vs, "rho": rng.uniform(1500, 3000, shape)}
    found |= {"qp": rng.uniform(20, 900, shape), "qs": rng.uniform(10, 500, shape)}
    return {name: values.astype(dtype) for name, values in found.items()}


def write_mesh(path: Path, arrays: dict[str, NDArray[Any]], variables: int) -> None:
    planes = [
        {name: values[k] for name, values in arrays.items()} for k in range(len(arrays["vp"]))
    ]
    write_awp_mesh(path, planes, variables)


def random_model(
    seed: int,
    x: ArrayLike,
    y: ArrayLike,
    depth: ArrayLike,
    names: Sequence[str] = ("x", "y", "depth"),
) -> xr.Dataset:
    """A random model with dims (x, y, depth) and its axes as given."""
    rng = np.random.default_rng(seed)
    shape = (np.size(x), np.size(y), np.size(depth))
    vs = rng.uniform(500, 3000, shape)
    values = {"vp": vs * rng.uniform(1.6, 2.5, shape), "vs": vs}
    values["rho"] = rng.uniform(2000, 3000, shape)
    axes = dict(zip(names, (x, y, depth), strict=True))
    return xr.Dataset({n: (names, v) for n, v in values.items()}, coords=axes)
