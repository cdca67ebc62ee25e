"""The stress on a fault against that of the yielding rock around it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fault_cases import FLUID, TPV10, TPV10_TENSOR, TPV24, dipping_points, random_points, section

from groundswell.seismology.case.plasticity import DruckerPragerSection
from groundswell.seismology.faults.build import conditions_of
from groundswell.seismology.plasticity import InitialStress, Overburden
from groundswell.seismology.plasticity.fault_stress import fault_stress_warnings

TENSOR = TPV24["stress"]["tensor"]


def initial(tensor: dict[str, Any], fluid: Any = FLUID) -> InitialStress:
    """The stress of TPV27's rock, or another one."""
    rock = DruckerPragerSection(
        model="drucker-prager",
        cohesion="1.36 MPa",
        friction_angle=np.degrees(np.arctan(0.1934)),
        relaxation_time="0.03 s",
        stress={"tensor": tensor},  # type: ignore[arg-type]
        fluid_pressure=fluid,
    )
    return InitialStress(rock, Overburden(np.array([0.0, 1.0]), np.array([2670.0])))


def told(stress: InitialStress) -> list[str]:
    fault = section(TPV24)
    points = random_points(fault)
    return [*fault_stress_warnings("main", points, conditions_of(fault, points), stress)]


def test_the_same_tensor_is_accepted() -> None:
    assert told(initial(TENSOR)) == []


@pytest.mark.parametrize(
    ("changes", "fluid", "percent"),
    [
        ({"xy": 0}, FLUID, 100 * 0.169029 / 1.073206),
        ({"yz": "0.1 * 16366 * depth"}, FLUID, 100 * 0.1 / 1.073206),
        ({}, 0.0, 100 * 9800 / (1.073206 * 16366)),
    ],
)
def test_another_stress_is_told(changes: dict[str, Any], fluid: Any, percent: float) -> None:
    [text] = told(initial({**TENSOR, **changes}, fluid))
    assert f"more than {percent:.3g} %" in text and "on main differs" in text


def test_a_dipping_fault_resolves_the_tensor() -> None:
    """TPV10's stress by distance down dip is that of a tensor by depth."""
    fault, points = section(TPV10, patch=[]), dipping_points()
    by_depth = {
        key: value.replace("down_dip", f"depth / {np.sin(np.radians(60))}")
        if isinstance(value, str)
        else value
        for key, value in TPV10_TENSOR.items()
    }
    conditions = conditions_of(fault, points)
    for tensor, count in ((by_depth, 0), ({**by_depth, "yz": 0}, 1)):
        found = [*fault_stress_warnings("main", points, conditions, initial(tensor, 0.0))]
        assert len(found) == count
