"""The focus of a bowl: pressure, position and widths against the integral over its surface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray
from numpy.testing import assert_allclose

import groundswell as gs
from groundswell.solvers.ultrasound import reference
from groundswell.solvers.ultrasound.focus import Focus, find_focus
from groundswell.solvers.ultrasound.transducers import Bowl

H, SPEED, FREQUENCY, PRESSURE = 0.6e-3, 1500.0, 500e3, 1e5
K = 2 * np.pi * FREQUENCY / SPEED
RADIUS = DIAMETER = 14e-3
APEX = (2e-3, 17 * H, 17 * H)
FOCUS = (APEX[0] + RADIUS, *APEX[1:])
BEYOND = APEX[0] + RADIUS / 3


@pytest.fixture(scope="module")
def amplitude() -> Any:
    """The amplitude of the steady wave of a bowl in water, on 5 points per wavelength."""
    shape = {
        "kind": "bowl", "apex": APEX, "radius": RADIUS, "diameter": DIAMETER, "focus": FOCUS,
    }  # fmt: skip
    steady = {
        "fields": ["p"], "where": {"kind": "all"}, "from": "32 us", "file": "steady.nc",
        "what": ["amplitude", "phase"], "frequencies": [FREQUENCY],
    }  # fmt: skip
    result = gs.ultrasound.simulate(
        {"speed": SPEED, "density": 1000.0},
        [
            {
                "shape": shape,
                "pressure": PRESSURE,
                "signal": {"kind": "sine", "frequency": FREQUENCY},
            }
        ],
        points=(44, 35, 35),
        spacing=H,
        duration="36 us",
        records=[steady],
    )
    return result.records["steady.nc"]["p_amplitude"][0].load().sel(x=slice(BEYOND, None))


def integrated(like: Any) -> Any:
    """Rayleigh's integral over the bowl at the same points, Pa."""
    points, areas = Bowl(APEX, RADIUS, DIAMETER, FOCUS).sample(H / 2)
    found = like.copy(data=np.zeros(like.shape))
    grid = np.stack(np.meshgrid(like["z"], like["y"], like["x"], indexing="ij"), axis=-1)
    for plane, at in zip(found.values, grid, strict=True):
        distance = np.linalg.norm(at[..., None, ::-1] - points, axis=-1)
        waves = np.exp(-1j * K * distance) / distance @ areas
        plane[...] = PRESSURE * K / (2 * np.pi) * np.abs(waves)
    return found


@pytest.mark.full
def test_the_focus_and_its_widths_are_within_one_per_cent(amplitude: Any) -> None:
    found: Focus = find_focus(amplitude)
    exact = find_focus(integrated(amplitude))
    assert found.pressure == pytest.approx(exact.pressure, rel=0.01)
    assert found.position == exact.position  # of grid points
    for axis in "xyz":
        assert found.widths[axis] == pytest.approx(exact.widths[axis], rel=0.01)


@pytest.mark.full
def test_the_pressure_on_the_axis_is_that_of_oneil(amplitude: Any) -> None:
    axis: xarray.DataArray = amplitude.sel(y=APEX[1], z=APEX[2], method="nearest")
    x = axis["x"].values - APEX[0]
    exact = PRESSURE * np.abs(reference.focused_bowl(x, RADIUS, DIAMETER, K))
    assert_allclose(axis, exact, atol=0.01 * exact.max())
