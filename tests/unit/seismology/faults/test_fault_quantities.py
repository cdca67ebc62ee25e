"""Stress, strength and resolution of faults, as check shows them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fault_cases import TPV3, TPV5, TPV10, TPV104, dipping_points, random_points, section

from groundswell.case.quantities import Quantity
from groundswell.seismology.faults.build import conditions_of
from groundswell.seismology.faults.estimates import FaultEstimates, weighted_median
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.faults.quantities import (
    fault_quantities,
    fault_warnings,
    rupture_starts,
)

MU, ETA = 2670 * 3464.0**2, 2670 * 3464.0 / 2
GRADUAL = {"normal": "120 MPa", "shear": "70 MPa", "rake": 180}


def estimates(content: dict[str, Any], points: FaultPoints | None = None, **changes: Any) -> Any:
    fault = section(content, **changes)
    points = random_points(fault, 2000) if points is None else points
    medium = (np.full(len(points), value) for value in (MU, 0.25, ETA))
    return FaultEstimates(points, conditions_of(fault, points), *medium)


def quantities(found: FaultEstimates, spacing: float = 100.0) -> dict[str, Quantity]:
    return {q.key: q for q in fault_quantities("main", found, spacing, "Faults")}


def warnings(found: FaultEstimates, spacing: float = 100.0) -> list[str]:
    return list(fault_warnings("fault[0] (main)", found, spacing))


def test_tpv3() -> None:
    found = estimates(TPV3)
    of = quantities(found)
    points = found.points
    inside = (np.abs(points.along_strike) <= 1500) & (np.abs(points.down_dip - 7500) <= 1500)
    drop = np.average(np.where(inside, 18.6e6, 7e6), weights=points.area)
    area = points.area.sum()
    assert of["fault_main_points"].value == 2000
    assert of["fault_main_area"].value == of["fault_main_slipping_area"].value == area
    assert of["fault_main_stress_drop"].value == pytest.approx(drop, rel=1e-12)
    assert of["fault_main_strength_excess"].value == pytest.approx([-0.36e6, 11.24e6], rel=1e-9)
    assert of["fault_main_s_ratio"].value == pytest.approx([-0.36 / 18.6, 11.24 / 7], rel=1e-9)
    # The cohesive zones that Day et al. (2005) state. The finite difference that they are found
    # from has an error of 1e-8 Pa / (0.46 Pa in 1e-6 s).
    zone = of["fault_main_cohesive_zone"].value
    assert zone == pytest.approx([9 * np.pi / 32 * MU * 0.4 / (0.152 * 120e6)] * 2, rel=1e-6)
    assert zone == pytest.approx([621, 621], rel=1e-3)
    assert of["fault_main_cohesive_zone_in_plane"].value == pytest.approx([828] * 2, rel=1e-3)
    assert of["fault_main_cohesive_zone_spacings"].value == pytest.approx([6.21] * 2, rel=1e-3)
    circle = 16 / 7 * drop * (area / np.pi) ** 1.5
    expected = [(np.log10(circle * factor) - 9.1) / 1.5 for factor in (0.5, 2)]
    assert of["fault_main_magnitude"].value == pytest.approx(expected)
    assert warnings(found) == []


def test_texts() -> None:
    of = quantities(estimates(TPV3))
    assert "2,000 points, 4" in str(of["fault_main_points"])
    assert str(of["fault_main_s_ratio"]) == "-0.0194 at least, median 1.61"
    assert str(of["fault_main_strength_excess"]) == "-0.36 MPa at least, median 11.2 MPa"
    assert str(of["fault_main_cohesive_zone"]) == (
        "620.8 m (in-plane 827.7 m), 6.21 spacings of 100 m; at least 620.8 m, 6.21 spacings. It "
        "shrinks as the rupture speeds up"
    )
    assert str(of["fault_main_magnitude"]) == "Mw 6.7 to 7.1, if all of it slips"


def test_barriers_do_not_count() -> None:
    """Outside 6 km from the middle, static friction is 10,000."""
    friction = {**TPV5["friction"], "static": "where(abs(x) < 6000, 0.677, 10000)"}
    found = estimates(TPV5, friction=friction, patch=[TPV5["patch"][0]])
    inside = np.abs(found.points.along_strike) < 6e3
    assert (found.may_slip == inside).all()
    area = found.points.area[inside].sum()
    assert quantities(found)["fault_main_slipping_area"].value == pytest.approx(area, rel=1e-12)
    assert found.s_ratio.max() < 2


def test_a_fault_whose_strength_varies() -> None:
    """TPV10: close to the surface, the cohesion exceeds what slip releases."""
    found = estimates(TPV10, dipping_points(3000))
    w = found.points.down_dip
    drop, excess = 0.102 * 7378 * w - 2e5, 0.21 * 7378 * w + 2e5
    assert (found.may_slip == ((drop > 0) & (excess < 100 * drop))).all()
    assert 0 < (~found.may_slip).sum() < 90
    chosen = w[found.may_slip]
    least = 9 * np.pi / 32 * MU * 0.5 / (0.312 * 7378 * chosen.max())
    zone = quantities(found)["fault_main_cohesive_zone"].value
    assert isinstance(zone, list) and zone[0] == pytest.approx(least, rel=1e-6)
    s = (excess / drop)[found.may_slip]
    outside = found.conditions.shear_updip[found.may_slip] > -0.6 * 7378 * chosen
    np.testing.assert_allclose(found.s_ratio[outside], s[outside], 1e-9)
    assert warnings(found) == []


def test_rate_and_state() -> None:
    """The strengths of TPV104 inside, from its formulas, at 1 mm/s before and 1 m/s after slip."""
    found = estimates(TPV104)
    inside = int(np.hypot(found.points.along_strike, found.points.down_dip - 7.5e3).argmin())
    psi = 0.563591842632738
    static = 120e6 * 0.01 * np.arcsinh(1e-3 / 2e-6 * np.exp(psi / 0.01))
    slow = 0.6 - 0.004 * np.log(1e6)
    steady = 0.2 + (slow - 0.2) / (1 + (1 / 0.1) ** 8) ** 0.125
    assert found.static[inside] == pytest.approx(static, rel=1e-12)
    assert found.dynamic[inside] == pytest.approx(120e6 * steady, rel=1e-9)
    steady_state = 0.01 * np.log(2e-6 * np.sinh(steady / 0.01))
    zone = 9 * np.pi / 32 * MU * 0.4 / (120e6 * (psi - steady_state))
    chosen = found.may_slip[: inside + 1].sum() - 1
    # Over 1e-6 m of slip, the state decays by a part 1e-6 / (2 L) less than linearly.
    assert found.cohesive_zone[chosen] == pytest.approx(zone, rel=1e-5)
    assert warnings(found, 50.0) == []


def test_the_strength_of_a_fault_that_is_forced() -> None:
    """It has a nucleation, though it is loaded nowhere above its strength."""
    forced = {"kind": "forced", "radius": 3e3, "speed": 2e3, "duration": 0.5}
    found = estimates(TPV5, nucleation=forced, patch=None)
    assert warnings(found) == []
    np.testing.assert_allclose(found.static, 0.677 * 120e6, 1e-15)


@pytest.mark.parametrize(
    ("changes", "spacing", "message"),
    [
        ({"patch": None}, 100, "is loaded below its static strength everywhere, so that nothing"),
        ({"stress": {**GRADUAL, "shear": "82 MPa"}, "patch": None}, 100,
         "above its static strength on 100 % of the area that may slip, so that it breaks every"),
        ({"stress": {**GRADUAL, "shear": "62 MPa"}, "patch": None}, 100,
         "fault[0] (main) does not break: slip releases stress nowhere"),
        ({}, 300, ", 2.1 spacings of 300 m (median 2.1 spacings); use at least 3, a spacing of at "
         "most 206.9 m"),
    ],
)  # fmt: skip
def test_warnings(changes: dict[str, Any], spacing: float, message: str) -> None:
    (warning,) = warnings(estimates(TPV5, **changes), spacing)
    assert message in warning


def test_the_shortest_cohesive_zone_must_be_resolved() -> None:
    """That of TPV10 is shortest where the stress is largest, at the lower edge of the fault."""
    found = estimates(TPV10, dipping_points(3000))
    deepest = int(found.points.down_dip.argmax())
    least, median = found.cohesive_zone.min(), weighted_median(found.cohesive_zone, found.area)
    assert warnings(found, least / 3) == []
    found.points.position[deepest, 0] = -1e-13  # of a rotated mesh
    assert found.points.describe(deepest).startswith("x, y, depth = 0, ")
    (warning,) = warnings(found, median / 3)  # nearly half of the fault is resolved
    assert f"a length of {least:.4g} m at {found.points.describe(deepest)}, 1.6 sp" in warning
    assert f"(median 3 spacings); use at least 3, a spacing of at most {least / 3:.4g} m" in warning


def test_a_fault_that_another_one_reaches_needs_no_nucleation() -> None:
    found = estimates(TPV5, patch=None)
    assert [*fault_warnings("fault[1] (branch)", found, 100, is_reached=True)] == []
    assert not rupture_starts(found) and rupture_starts(estimates(TPV5))


def test_one_spacing_is_singular() -> None:
    text = quantities(estimates(TPV3), 620.8)["fault_main_cohesive_zone"].text
    assert "1 spacing of 620.8 m; at least 620.8 m, 1 spacing." in text


def test_tension() -> None:
    """A tensor of which fluid pressure leaves tension in part of the fault."""
    tensor = dict.fromkeys(("xx", "zz", "xz", "yz"), 0) | {"yy": "-120 MPa", "xy": "70 MPa"}
    stress = {"tensor": tensor, "fluid_pressure": "where(x < 0, 130e6, 0)"}
    found = estimates(TPV5, stress=stress, patch=[TPV5["patch"][0]])
    negative = int((found.points.position[:, 0] < 0).sum())
    (tense, *_) = warnings(found)
    assert f"under tension at {negative} of 2000 points" in tense and "-1e+07 Pa" in tense


def test_weighted_median() -> None:
    rng = np.random.default_rng(4)
    values, counts = rng.permutation(101).astype(float), rng.integers(1, 9, 101)
    repeated = np.sort(np.repeat(values, counts))
    expected = repeated[(len(repeated) - 1) // 2]
    assert weighted_median(values, counts.astype(float)) == expected
