"""The mean intensity at the focus, from records of points and of lines through it."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from groundswell.solvers.ultrasound.focus import Focus
from groundswell.solvers.ultrasound.recorded_intensity import intensity_near

SPACING = 1e-3
AXIS = SPACING * np.arange(11)
PEAK = xr.Dataset(coords={"x": AXIS, "y": AXIS})
FOCUS = Focus(1.0, {"x": 4e-3, "y": 6e-3}, {})


def record(dim: str, x: np.ndarray, y: np.ndarray) -> xr.Dataset:
    """Amplitudes and phases of waves along a direction that is the same at all points."""
    amplitude = 1e5 * (1 + np.arange(len(x)))[None]
    fields = {"p": amplitude, "ux": 0.6 * amplitude / 1.5e6, "uy": 0.8 * amplitude / 1.5e6}
    dims = ("frequency", dim)
    names = {f"{name}_amplitude": (dims, values) for name, values in fields.items()}
    phases = {f"{name}_phase": (dims, 0 * values) for name, values in fields.items()}
    places = {"x": (dim, x), "y": (dim, y), "frequency": [1e6]}
    return xr.Dataset({**names, **phases}, places)


@pytest.mark.parametrize("dim", ["point", "distance"])
def test_the_nearest_point_counts(dim: str) -> None:
    x, y = np.array([1e-3, 4.2e-3, 9e-3]), np.full(3, 6.1e-3)
    found = intensity_near({"line.nc": record(dim, x, y)}, PEAK, FOCUS)
    assert found is not None and found.record == "line.nc"
    assert found.value == pytest.approx(2e5**2 / (2 * 1.5e6))


@pytest.mark.parametrize("dim", ["point", "distance"])
def test_points_beside_the_focus_do_not_count(dim: str) -> None:
    x, y = np.array([1e-3, 4e-3, 9e-3]), np.array([6e-3, 7e-3, 6e-3])
    assert intensity_near({"line.nc": record(dim, x, y)}, PEAK, FOCUS) is None
