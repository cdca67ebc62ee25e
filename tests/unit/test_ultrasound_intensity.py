"""Mean intensity of plane waves from amplitudes and phases."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

from groundswell.errors import InputError
from groundswell.solvers.ultrasound.intensity import mean_intensity

H, K, RHO_C = 1e-4, 4e3, 1.5e6  # 16 points per wavelength


def plane_wave(direction: tuple[float, float]) -> xr.Dataset:
    """A wave of 1 kPa along a direction in the plane z = 0, as recorded on a staggered grid."""
    x, y = H * np.arange(20), H * np.arange(24)
    kx, ky = K * direction[0], K * direction[1]

    def recorded(
        name: str, amplitude: float, x: np.ndarray, y: np.ndarray, dims: tuple[str, str, str]
    ) -> dict[str, tuple[tuple[str, str, str], np.ndarray]]:
        angle = -(kx * x + ky * y[:, None])[None] + (np.pi if amplitude < 0 else 0)
        phase = (np.degrees(angle) + 180) % 360 - 180
        return {
            f"{name}_amplitude": (dims, np.full(phase.shape, abs(amplitude))),
            f"{name}_phase": (dims, phase),
        }

    xs, ys = x + H / 2, y + H / 2
    variables = (
        recorded("p", 1e3, x, y, ("z", "y", "x"))
        | recorded("ux", 1e3 / RHO_C * direction[0], xs, y, ("z", "y", "x_ux"))
        | recorded("uy", 1e3 / RHO_C * direction[1], x, ys, ("z", "y_uy", "x"))
    )
    return xr.Dataset(variables, {"x": x, "y": y, "z": [0.0], "x_ux": xs, "y_uy": ys})


@pytest.mark.parametrize("direction", [(1.0, 0.0), (-0.6, 0.8)])
def test_a_plane_wave_has_half_its_pressure_squared_over_the_impedance(
    direction: tuple[float, float],
) -> None:
    found = mean_intensity(plane_wave(direction))
    assert found["ix"].dims == ("z", "y", "x") and found["iy"].units == "W m-2"
    for name, share in zip(("ix", "iy"), direction, strict=True):
        values = found[name].values[:, 2:-2, 2:-2]
        assert_allclose(values, share * 1e6 / (2 * RHO_C), rtol=1e-3, atol=1e-9)
    assert np.isnan(found["ix"].values[..., :2]).all()
    assert np.isnan(found["ix"].values[..., -1]).all()


def test_missing_variables_are_named() -> None:
    with pytest.raises(InputError, match="lacks ux_phase; record p and velocities"):
        mean_intensity(plane_wave((1.0, 0.0)).drop_vars("ux_phase"))
    with pytest.raises(InputError, match="lacks velocities"):
        mean_intensity(plane_wave((1.0, 0.0))[["p_amplitude", "p_phase"]])
