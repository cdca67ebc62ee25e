"""Conditions of SCEC problems at random points, against their formulas."""

from __future__ import annotations

from typing import Any

import fault_cases
import numpy as np
import pytest
from fault_cases import (
    TPV3,
    TPV5,
    TPV10,
    TPV10_TENSOR,
    TPV24,
    TPV104,
    dipping_points,
    random_points,
    section,
    upright_points,
)

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.faults.build import conditions_of
from groundswell.seismology.faults.conditions import FaultConditions

ROUNDING = 1e-13  # relative, of a few operations in double precision


def parameters(conditions: FaultConditions) -> dict[str, Floats]:
    """The parameters of a law at each point, by name."""
    law, count = conditions.law, len(conditions.normal_stress)
    return dict(zip(law.names, law.table(count), strict=True))


def assert_close(found: Floats, expected: Floats | float) -> None:
    scale = np.abs(expected).max()
    np.testing.assert_allclose(
        found, np.broadcast_to(expected, found.shape), ROUNDING, 1e-13 * scale
    )


def in_square(x: Floats, y: Floats) -> Floats:
    return (np.abs(x) <= 1.5e3) & (np.abs(y) <= 1.5e3)


@pytest.mark.parametrize(("content", "middle"), [(TPV3, 17.5e3), (TPV5, 7.5e3)])
def test_tpv3_and_tpv5(content: dict[str, object], middle: float) -> None:
    fault = section(content)
    points = random_points(fault, 4000)
    found = conditions_of(fault, points)
    x, depth = points.position[:, 0], points.position[:, 2] - middle
    shear = np.where(in_square(x, depth), 81.6e6, 70e6)
    if content is TPV5:
        shear = np.where(in_square(x - 7.5e3, depth), 62e6, shear)
        shear = np.where(in_square(x + 7.5e3, depth), 78e6, shear)
    assert len(np.unique(shear)) == (4 if content is TPV5 else 2)
    # The hanging wall, at smaller y, moves towards smaller x: right-lateral.
    assert (found.shear_strike == -shear).all() and (found.shear_updip == 0).all()
    assert (found.normal_stress == 120e6).all()
    assert (found.state == 0).all() and (found.initial_rate == 0).all()
    assert (found.added_strike == 0).all() and found.added_duration == 0
    friction = parameters(found)
    for name, value in (("static", 0.677), ("dynamic", 0.525), ("distance", 0.4), ("cohesion", 0)):
        assert (friction[name] == value).all()
    assert (friction["forced_onset"] == np.inf).all() and found.law.number == 1


def test_edges_belong_to_patches_and_later_patches_win() -> None:
    fault = section(
        TPV5,
        patch=[
            fault_cases.square("0 m", "81.6 MPa"),
            {
                "shape": "circle",
                "center": [0, 50, "7.5 km"],
                "radius": "1 km",
                "friction": {"static": 0.5, "cohesion": "1 MPa"},
                "stress": {"normal": "110 MPa", "rake": 90},
            },
        ],
    )
    points = random_points(fault, 8)
    at = [
        (0, 0),
        (1500, -1500),
        (1501, 0),
        (0, 1000),
        (600, -800),
        (1000.1, 0),
        (0, 1500),
        (0, -1501),
    ]
    points.position[:, 0], points.position[:, 2] = np.array(at, float).T + np.array([[0], [7500]])
    points.along_strike[:], points.down_dip[:] = points.position[:, 0], points.position[:, 2]
    found = conditions_of(fault, points)
    in_circle = np.array([1, 0, 0, 1, 1, 0, 0, 0], bool)
    in_rectangle = np.array([1, 1, 0, 1, 1, 1, 1, 0], bool)
    shear = np.where(in_rectangle, 81.6e6, 70e6)
    assert (found.normal_stress == np.where(in_circle, 110e6, 120e6)).all()
    assert (found.shear_updip == np.where(in_circle, shear, 0)).all()
    assert (found.shear_strike == np.where(in_circle, 0, -shear)).all()
    friction = parameters(found)
    assert (friction["static"] == np.where(in_circle, 0.5, 0.677)).all()
    assert (friction["cohesion"] == np.where(in_circle, 1e6, 0)).all()
    assert (friction["dynamic"] == 0.525).all()


def test_tpv10() -> None:
    points = dipping_points(2000)
    found = conditions_of(section(TPV10), points)
    w = points.position[:, 2] / np.sin(np.radians(60))
    np.testing.assert_allclose(points.down_dip, w, 1e-12, 1e-9)
    inside = in_square(points.position[:, 0], w - 12e3)
    assert 0 < inside.sum() < len(points)
    assert_close(found.normal_stress, 7378 * w)
    shear = np.where(inside, 2e5 + 0.7657 * 7378 * w, 0.55 * 7378 * w)
    assert_close(found.shear_updip, -shear)  # the hanging wall moves down: normal faulting
    assert (found.shear_strike == 0).all()
    assert (parameters(found)["cohesion"] == 2e5).all()


def test_tpv10_from_a_tensor() -> None:
    """The tensor of the description has six digits; the patch replaces the resolved shear."""
    points = dipping_points(2000)
    fault = section(TPV10, stress={"tensor": TPV10_TENSOR})
    found, expected = conditions_of(fault, points), conditions_of(section(TPV10), points)
    for name in ("normal_stress", "shear_updip"):
        difference = getattr(found, name) - getattr(expected, name)
        assert np.abs(difference).max() < 3e-6 * expected.normal_stress.max()
    assert np.abs(found.shear_strike).max() < 1e-12 * expected.normal_stress.max()


def effective_stresses(depth: Floats) -> tuple[Floats, Floats, Floats]:
    """Effective stresses xx, yy, xy of TPV24, Pa."""
    vertical = -(2670 - 1000) * 9.8 * depth
    shallow = depth < 15.6e3
    xx = np.where(shallow, 0.926793, 1) * vertical
    yy = np.where(shallow, 1.073206, 1) * vertical
    return xx, yy, np.where(shallow, -0.169029, 0) * vertical


def test_tpv24() -> None:
    fault = section(TPV24)
    points = random_points(fault)
    found = conditions_of(fault, points)
    x, depth = points.position[:, 0], points.position[:, 2]
    _, yy, xy = effective_stresses(depth)
    assert_close(found.normal_stress, -yy)
    assert_close(found.shear_strike, -xy)
    assert (found.shear_strike < 0).all()  # right-lateral
    assert np.abs(found.shear_updip).max() == 0
    friction = parameters(found)
    assert_close(friction["cohesion"], 3e5 + 675 * np.maximum(0, 4000 - depth))
    r, speed = np.hypot(x + 8e3, depth - 10e3), 0.7 * 3464
    with np.errstate(divide="ignore"):
        onset = r / speed + 0.081 * 4e3 / speed * (1 / (1 - (r / 4e3) ** 2) - 1)
    inside = r < 4e3
    assert 3 < inside.sum() < len(r)
    np.testing.assert_allclose(friction["forced_onset"][inside], onset[inside], 1e-11)
    assert (friction["forced_onset"][~inside] == np.inf).all()
    assert (friction["forced_duration"] == 0.5).all()


@pytest.mark.parametrize("azimuth", [60.0, 120.0, 95.0])
def test_the_branch_of_tpv24(azimuth: float) -> None:
    """Resolved by Mohr's formulas for a plane that is turned by theta from x towards y."""
    points = upright_points(azimuth)
    keys = {"surface": "branch", "plane": None, "hypocenter": None, "nucleation": None}
    found = conditions_of(section(TPV24, **keys), points)
    xx, yy, xy = effective_stresses(points.position[:, 2])
    double = 2 * np.radians(90 - azimuth)
    normal = (xx + yy) / 2 - (xx - yy) / 2 * np.cos(double) - xy * np.sin(double)
    left_lateral = (xx - yy) / 2 * np.sin(double) - xy * np.cos(double)
    assert_close(found.normal_stress, -normal)
    assert_close(found.shear_strike, left_lateral)
    assert np.abs(found.shear_updip).max() < 1e-12 * np.abs(normal).max()


def boxcar(x: Floats, width: float) -> Floats:
    """B of TPV104."""
    x, w = np.abs(x), 3e3
    found = np.where(x <= width, 1.0, 0.0)
    between = (x > width) & (x < width + w)
    s = x[between]
    found[between] = 0.5 * (1 + np.tanh(w / (s - width - w) + w / (s - width)))
    return found


def test_tpv104() -> None:
    fault = section(TPV104)
    points = random_points(fault, 500)
    found = conditions_of(fault, points)
    x, depth = points.position[:, 0], points.position[:, 2]
    barrier = 1 - boxcar(x, 15e3) * boxcar(depth - 7.5e3, 7.5e3)
    assert (barrier == 0).any() and ((barrier > 0) & (barrier < 1)).any()
    friction, a = parameters(found), 0.01 + 0.01 * barrier
    assert_close(friction["direct"], a)
    assert_close(friction["weakening_speed"], 0.1 + 0.9 * barrier)
    fixed = {"evolution": 0.014, "length": 0.4, "reference_friction": 0.6, "cohesion": 0}
    for name, value in {**fixed, "reference_speed": 1e-6, "weakened_friction": 0.2}.items():
        assert (friction[name] == value).all()
    assert found.law.number == 4
    assert (found.initial_rate == 1e-16).all()
    psi = a * np.log(2e-6 / 1e-16 * np.sinh(40e6 / (a * 120e6)))
    np.testing.assert_allclose(found.state, psi, 1e-13)
    np.testing.assert_allclose(found.state[barrier == 0], 0.563591842632738, 1e-14)
    r = np.hypot(x, depth - 7.5e3)
    inside = r < 3e3
    added = np.zeros(len(r))
    added[inside] = 45e6 * np.exp(r[inside] ** 2 / (r[inside] ** 2 - 9e6))
    np.testing.assert_allclose(found.added_strike, -added, 1e-11)
    assert (found.added_updip == 0).all() and found.added_duration == 1.0


@pytest.mark.parametrize(("law", "number"), [("ageing", 2), ("slip", 3)])
def test_the_other_laws_of_rate_and_state(law: str, number: int) -> None:
    """TPV101, whose state is given as theta = 1.606238999213454e9 s."""
    friction = {"direct": 0.008, "evolution": 0.012, "length": "2 cm", "reference_friction": 0.6}
    friction |= {"reference_speed": "1e-6 m/s"}
    stress = {"normal": "120 MPa", "shear": "75 MPa", "rake": 180}
    changes = {"law": law, "friction": friction, "stress": stress, "initial_rate": 1e-12}
    fault = section(TPV104, **changes)
    found = conditions_of(fault, random_points(fault, 20))
    assert found.law.number == number
    theta = 0.02 / 1e-6 * np.exp((found.state - 0.6) / 0.012)
    # An error of the state is multiplied by psi / b = 75 in theta.
    np.testing.assert_allclose(theta, 1.606238999213454e9, 1e-12)


@pytest.mark.parametrize("content", [TPV24, TPV104])
def test_conditions_of_some_points(content: dict[str, Any]) -> None:
    """As of a rank: those points of all."""
    fault = section(content)
    points = random_points(fault, 300)
    chosen = np.random.default_rng(2).permutation(300)[:40]
    whole = conditions_of(fault, points)
    part = whole.take(chosen)
    names = ("normal_stress", "shear_strike", "shear_updip", "state", "initial_rate")
    for name in (*names, "added_strike", "added_updip"):
        assert (getattr(part, name) == getattr(whole, name)[chosen]).all()
    assert (part.law.table(40) == whole.law.table(300)[:, chosen]).all()
    assert part.law.number == whole.law.number and part.added_duration == whole.added_duration


def test_nucleation_with_a_rake_of_its_own() -> None:
    nucleation = {**TPV104["nucleation"], "rake": 90}
    fault = section(TPV104, nucleation=nucleation)
    points = random_points(fault, 300)
    found, along = conditions_of(fault, points), conditions_of(section(TPV104), points)
    assert (found.added_strike == 0).all() and found.added_updip.any()
    assert (found.added_updip == -along.added_strike).all()


TURNS = {"xx": "yy", "yy": "xx", "zz": "zz", "xy": "xy", "xz": "yz", "yz": "xz"}
SIGNS = {"xy": -1, "xz": -1}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_fault_along_y_has_the_same_conditions(seed: int) -> None:
    """Turned from x to y, with the stress."""
    rng = np.random.default_rng(seed)
    tensor = dict(zip(TURNS, rng.uniform(-1e8, 1e8, 6), strict=True))
    tensor["yy"] -= 3e8
    turned = {key: SIGNS.get(key, 1) * tensor[of] for key, of in TURNS.items()}
    patch = {
        "shape": "rectangle",
        "center": [2e3, 40, 5e3],
        "size": [6e3, 4e3],
        "stress": {"shear": "3e7 + 100 * along_strike + 200 * down_dip"},
    }
    along_x = section(TPV24, stress={"tensor": tensor, "fluid_pressure": 4e6}, patch=[patch])
    along_y = section(
        TPV24,
        plane={"x": 0, "y": ["-16 km", "12 km"], "depth": [0, "15 km"]},
        hypocenter=[0, "-8 km", "10 km"],
        stress={"tensor": turned, "fluid_pressure": 4e6},
        patch=[{**patch, "center": [-40, 2e3, 5e3]}],
    )
    of_x, of_y = (conditions_of(f, random_points(f, seed=seed)) for f in (along_x, along_y))
    for name in ("normal_stress", "shear_strike", "shear_updip"):
        assert_close(getattr(of_y, name), getattr(of_x, name))
    assert_close(parameters(of_y)["cohesion"], parameters(of_x)["cohesion"])
    onset = [parameters(found)["forced_onset"] for found in (of_x, of_y)]
    assert (np.isfinite(onset[0])).any()
    np.testing.assert_allclose(onset[1], onset[0], 1e-12)


# --- what is wrong with a fault at its points -----------------------------------------------------

FORCED = {"kind": "forced", "radius": 1e3, "speed": 2e3, "duration": 1}
WRONG = [
    ({"stress": {"normal": "12e7 - 1e5 * depth", "shear": 1, "rake": 0}},
     r"stress.normal = -.* at x, y, depth = .*: must be at least 0 Pa; compression"),
    ({"stress": {"normal": "log(-depth)", "shear": 1, "rake": 0}},
     r"stress.normal = nan at x, y, depth = .*: must be finite"),
    ({"friction": {**TPV5["friction"], "distance": "0.4 - along_strike"}},
     r"friction.distance = -.*: must be greater than 0 m"),
    ({"patch": [fault_cases.square("80 km", "3 MPa")]},
     r"patch\[0\] contains no point of the fault; move its center, or enlarge it"),
    ({"patch": [{**fault_cases.square("0 km", "3 MPa"), "stress": {"shear": "depth - 1e5"}}]},
     r"patch\[0\].stress.shear = -.*at least 0 Pa; rake gives the direction"),
    ({"stress": {"tensor": {**dict.fromkeys(TPV10_TENSOR, 0), "yy": "-10 MPa"}}},
     r"patch\[0\].stress.shear has no direction at .*; add a rake"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_what_is_wrong_at_points(changes: dict[str, object], message: str) -> None:
    fault = section(TPV5, **changes)
    with pytest.raises(InputError, match=message):
        conditions_of(fault, random_points(fault, 400))


WRONG_STATES = [
    ({"stress": {"normal": "120 MPa", "shear": 0, "rake": 0}},
     'the initial shear stress is 0 Pa at .*; it must be above 0 for law = "fast-weakening"'),
    ({"stress": {"normal": "1e4 * depth", "shear": 1, "rake": 0}},
     "the initial normal stress is 0 Pa at x, y, depth = .* 0 m; it must be above 0"),
    ({"friction": {**TPV104["friction"], "cohesion": "40 MPa"}},
     r"the initial shear stress is 4e\+07 Pa at .*; it must be above the cohesion, 4e\+07 Pa, for"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), WRONG_STATES)
def test_states_that_do_not_exist(changes: dict[str, object], message: str) -> None:
    fault = section(TPV104, **{"nucleation": None, **changes})
    points = random_points(fault, 20)
    points.position[3, 2] = 0.0
    with pytest.raises(InputError, match=message):
        conditions_of(fault, points)


def test_a_hypocenter_beside_a_surface() -> None:
    beside = section(TPV10, hypocenter=[0, 9e3, 9e3], nucleation=FORCED)
    message = r"hypocenter = \[0, 9000, 9000\] is .* m from the nearest point of the fault"
    with pytest.raises(InputError, match=message):
        conditions_of(beside, dipping_points(2000))


def test_a_fault_without_points() -> None:
    fault = section(TPV5)
    with pytest.raises(InputError, match="the fault has no points; move it into the region"):
        conditions_of(fault, random_points(fault, 0))
