"""Faults on the staggered grid that cannot be used, or only with care."""

from __future__ import annotations

from typing import Any

import pytest
from checked import warnings_of
from split_nodes import FAULT, ROCK, build

from groundswell.errors import CaseError, InputError
from groundswell.solvers.earthquake.setup import prepare


def moved(**changes: Any) -> dict[str, Any]:
    """The fault without its hypocentre and patch, with changes of its plane."""
    others = {key: value for key, value in FAULT.items() if key not in ("hypocenter", "patch")}
    return {**others, "plane": {**FAULT["plane"], **changes}}


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (moved(y=600.0), "not at the centres of cells.*move it to 575 or 625 m"),
        (moved(y=75.0), "too close to the side of the region; allowed are 125 to 1075 m"),
        (moved(x=[310.0, 900.0]), "x = 310 m is not between cells; move it to 300 or 350 m"),
        (moved(depth=[0.0, 490.0]), "depth = 490 m is not between cells; move it to 450 or 500"),
        ({**moved(), "plane": None, "surface": "main"}, "surfaces need the elements of a mesh"),
    ],
)
def test_faults_off_the_grid_are_refused(fault: dict[str, Any], text: str) -> None:
    given = {key: value for key, value in fault.items() if value is not None}
    with pytest.raises(InputError, match=text):
        prepare(build(fault=[given]))


def test_receivers_astride_a_fault_are_named() -> None:
    places = {"NEAR": (600, 660), "FAR": (600, 680), "END": (970, 575), "OFF": (1010, 575)}
    receivers = [{"name": name, "x": x, "y": y} for name, (x, y) in places.items()]
    warnings = warnings_of(prepare(build(receiver=receivers)))
    (found,) = [text for text in warnings if "two sides" in text]
    assert "less than 2 cells from fault[0] (main)" in found and "NEAR, END;" in found


def test_faults_that_meet_are_refused() -> None:
    crossing = {**moved(), "name": "other"}
    crossing["plane"] = {"x": 475.0, "y": [300.0, 900.0], "depth": [0.0, 500.0]}
    with pytest.raises(InputError, match=r"fault\[0\] \(main\) and fault\[1\] \(other\) meet"):
        prepare(build(fault=[FAULT, crossing]))


def test_a_fault_in_water_is_refused() -> None:
    sea = {"kind": "homogeneous", "vp": 1500.0, "vs": 0.0, "rho": 1000.0}
    with pytest.raises(InputError, match="has no friction"):
        prepare(build(medium=sea))


def test_a_case_needs_a_source_or_a_fault() -> None:
    with pytest.raises(CaseError, match="add a source or a fault"):
        build(fault=[])


@pytest.mark.parametrize("viscosity", [-0.1, 0.6])
def test_a_viscosity_that_is_unstable_is_refused(viscosity: float) -> None:
    with pytest.raises(CaseError, match=r"fault\[0\].viscosity"):
        build(fault=[{**FAULT, "viscosity": viscosity}])


def test_a_fault_outside_the_region_is_refused() -> None:
    with pytest.raises(CaseError, match="leaves the region"):
        build(fault=[moved(x=[300.0, 1300.0])])


def test_memory_variables_in_16_bits_are_refused() -> None:
    medium = {**ROCK, "qp": 60.0, "qs": 30.0}
    case = build(medium=medium, attenuation={"model": "constant"}, run={"memory": "half"})
    with pytest.raises(InputError, match='memory = "half" is not available with a'):
        prepare(case)
