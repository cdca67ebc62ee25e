"""What limits the time step, and the depth of elements in messages."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from checked import quantities_of, warnings_of
from dgwave_cases import VALID, setup

from groundswell.errors import InputError

LOSSY = {
    "medium": {**VALID["medium"], "qp": 100, "qs": 50},
    "attenuation": {"model": "constant", "band": [0.5, 5000]},
}
THIN = {"grid__spacing": [200, 200, [5, 195, 400]], "boundary": {"sides": "rigid", "bottom": "pml"}}
NARROW = {"boundary": {"sides": "sponge", "bottom": "sponge", "width": 1}, "method__degree": 1}
LINEAR = {
    "medium": {
        "kind": "layered",
        "interpolation": "linear",
        "layers": [
            {"top": 0, "vp": 1800, "vs": 900, "rho": 2000},
            {"top": 600, "vp": 5000, "vs": 2900, "rho": 2700},
        ],
    },
    "method__material": "node",
}


@pytest.mark.parametrize(
    ("changes", "cause", "cure"),
    [
        ({}, r"all elements \(200 m, waves of 3,000 m/s\)", "method.degree"),
        (THIN, r"depth = 2.5 m \(200 x 200 x 5 m, waves of 3,000 m/s\)", "there"),
        (LINEAR, r"depth = 500 m \(200 m, waves of 5,000 m/s at a node\)", "there"),
        (LOSSY, r"attenuation up to 5000 Hz \(fastest", "attenuation.band"),
        (NARROW, r"the damping of absorbing layers \(up to", "widen"),
    ],
)
def test_check_and_the_error_name_the_cause(changes: dict[str, Any], cause: str, cure: str) -> None:
    found = setup(**changes)
    [quantity] = [q for q in quantities_of(found) if q.key == "step_limit"]
    assert re.search(cause, quantity.text)
    with pytest.raises(InputError, match=f"{cause}.* or .*{cure}"):
        setup(time__step=0.1, **changes)


def test_a_warning_suggests_an_interval_that_needs_fewer_steps() -> None:
    interval = 2.01 * setup().step_limit.seconds
    found = setup(output={"seismograms": {"interval": interval}})
    [warning] = [text for text in warnings_of(found) if "shortens" in text]
    better = [
        float(text) for text in re.findall(r"interval of ([0-9.]+) s or ([0-9.]+)", warning)[0]
    ]
    for each in better:
        finer = setup(output={"seismograms": {"interval": each}})
        assert finer.dt > 0.98 * finer.step_limit.seconds


def test_without_receivers_the_interval_has_no_effect() -> None:
    found = setup(receiver=[], output={"seismograms": {"interval": 0.01}, "final_fields": True})
    assert found.dt == found.step_limit.seconds
    assert not any("step" in text for text in warnings_of(found))


@pytest.mark.parametrize("elevation", ["100", "-50"])
def test_depths_in_messages_are_below_the_surface(elevation: str) -> None:
    found = setup(topography={"kind": "formula", "elevation": elevation})
    x, y, depth = 300.0, 300.0, 150.0
    element = int(found.geometry.locate(np.array([[x, y, depth]]))[0][0])
    middle = found.geometry.hexahedra.geometry_nodes(np.array([element]))[0].mean(axis=0)
    assert f"depth = {middle[2] + float(elevation):.6g} m" in found.geometry.describe(element)
    assert np.allclose(
        found.geometry.below_surface(found.geometry.place(np.array([[x, y, depth]]))), [x, y, depth]
    )
