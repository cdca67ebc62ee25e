"""The largest ground motion of a map, and where it is."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.seismology.formats.shaking_maps import SurfacePoints
from groundswell.seismology.recording.peak_motion import PeakMotion

pytestmark = pytest.mark.each_value
X, Y = np.array([50.0, 150.0, 1250.0]), np.array([25.0, 75.0])


def found(pgv: np.ndarray, pga: np.ndarray, **degrees: np.ndarray) -> dict[str, tuple[object, str]]:
    motion = PeakMotion()
    motion.keep(pgv, pga, SurfacePoints(X, Y, **degrees))
    assert not motion.warnings
    return {each.key: (each.value, str(each)) for each in motion.findings}


def test_each_peak_has_its_place() -> None:
    pgv, pga = np.full((2, 3), 0.01), np.full((2, 3), 0.5)
    pgv[1, 2], pga[0, 1], pga[1, 0] = 0.12345, 2.0, np.nan
    assert found(pgv, pga) == {
        "peak_velocity": (0.12345, "12.3 cm/s"),
        "peak_velocity_place": ({"x": 1250.0, "y": 75.0}, "x = 1.25 km, y = 0.075 km"),
        "peak_acceleration": (2.0, "2 m/s²"),
        "peak_acceleration_place": ({"x": 150.0, "y": 25.0}, "x = 0.15 km, y = 0.025 km"),
    }


@pytest.mark.parametrize(("speed", "text"), [(4.2e-4, "420 µm/s"), (14.6, "14.6 m/s")])
def test_velocities_have_the_unit_of_the_map(speed: float, text: str) -> None:
    assert found(np.full((2, 3), speed), np.zeros((2, 3)))["peak_velocity"] == (speed, text)


def test_places_are_in_degrees_where_they_are_known() -> None:
    pgv = np.zeros((2, 3))
    pgv[0, 1] = 1.0
    longitude, latitude = np.full((2, 3), 10.0), np.full((2, 3), 5.0)
    longitude[0, 1], latitude[0, 1] = -118.25, 34.5
    values = found(pgv, pgv, longitude=longitude, latitude=latitude)
    value, text = values["peak_velocity_place"]
    assert value == {"x": 150.0, "y": 25.0, "longitude": -118.25, "latitude": 34.5}
    assert text == "34.500° N, 118.250° W"


def test_ground_that_has_not_moved_has_no_peak() -> None:
    assert found(np.zeros((2, 3)), np.full((2, 3), np.nan)) == {}
