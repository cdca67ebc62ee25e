"""The section `[plasticity]`: what it accepts, and what it says of mistakes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from groundswell.case.common import Case
from groundswell.errors import CaseError, InputError
from groundswell.seismology.case.plasticity import DruckerPragerSection, unknown_materials
from groundswell.seismology.media.material import Material
from groundswell.seismology.plasticity import (
    InitialStress,
    Overburden,
    RockPoints,
    strength_at,
)

GIVEN: dict[str, Any] = {
    "model": "drucker-prager",
    "cohesion": "5 MPa",
    "friction_angle": "30 deg",
    "relaxation_time": "0.03 s",
}
TENSOR = dict.fromkeys(("xx", "yy", "zz"), "-2e4 * depth") | dict.fromkeys(("xy", "xz", "yz"), 0.0)
BY_VS = {"by": "vs", "at": ["300 m/s", "1 km/s"], "values": ["50 kPa", "5 MPa"]}


class RockCase(Case):
    """A case with rock that yields only."""

    plasticity: DruckerPragerSection | None = None


def section(**changes: Any) -> DruckerPragerSection:
    case = RockCase.from_dict({"solver": "s", "plasticity": {**GIVEN, **changes}})
    assert case.plasticity
    return case.plasticity


def points(count: int = 50, seed: int = 1) -> RockPoints:
    rng = np.random.default_rng(seed)
    place = {"x": rng.uniform(0, 1e4, count), "y": rng.uniform(0, 1e4, count)}
    place["depth"] = rng.uniform(0, 5e3, count)
    vs = rng.uniform(100, 2000, count)
    return RockPoints.of(place, Material(2 * vs, vs, rng.uniform(1500, 2500, count)))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"cohesion": BY_VS, "friction_angle": "20 + depth / 500"},
        {"stress": {"tensor": TENSOR}, "fluid_pressure": "hydrostatic"},
        {"stress": {"ratio": "where(depth < 1000, 1, 0.8)"}},
        {"material": [{"name": "mud", "cohesion": 1e4, "friction_angle": 5}]},
    ],
)
def test_sections_survive_being_written(changes: dict[str, Any]) -> None:
    found = section(**changes)
    assert DruckerPragerSection(**found.model_dump(exclude_none=True)) == found


def test_strength_by_speed_and_position() -> None:
    at = points()
    angle = "20 + where(x < 5000, vs / 100, rho / 200)"
    found = strength_at(section(cohesion=BY_VS, friction_angle=angle), at)
    wanted = 50e3 + (np.clip(at.vs, 300, 1000) - 300) / 700 * 4.95e6
    np.testing.assert_allclose(found.cohesion, wanted, rtol=1e-12)
    wanted = 20 + np.where(at.x < 5000, at.vs / 100, at.rho / 200)
    np.testing.assert_allclose(found.friction_angle, wanted, rtol=1e-12)
    assert found.relaxation_time == 0.03


def test_strength_by_material() -> None:
    mud = {"name": "mud", "cohesion": "10 kPa", "friction_angle": "depth / 1000"}
    given, at = section(material=[mud]), points()
    found = strength_at(given, at, "mud")
    assert (found.cohesion == 1e4).all()
    np.testing.assert_allclose(found.friction_angle, at.depth / 1000)
    assert (strength_at(given, at, "rock").cohesion == 5e6).all()
    assert not [*unknown_materials(given, ["mud", "rock"])]


def test_fluids_never_yield() -> None:
    at = points()
    at.vs[::3] = 0
    cohesion = strength_at(section(), at).cohesion
    np.testing.assert_array_equal(np.isinf(cohesion), at.vs == 0)


def test_weight_of_the_rock() -> None:
    """Against a fine quadrature of the density."""
    edges = np.array([0.0, 100.0, 250.0, 1000.0])
    rho = np.array([1800.0, 2100.0, 2500.0])
    depth = np.array([0.0, 50.0, 137.0, 900.0, 1500.0])
    fine = np.linspace(0, 1500, 150_001)
    middle = (fine[1:] + fine[:-1]) / 2
    density = rho[np.minimum(np.searchsorted(edges, middle) - 1, 2)]
    sums = np.append(0, np.cumsum(9.81 * density * np.diff(fine)))
    found = InitialStress(section(stress={"ratio": 0.5}), Overburden(edges, rho))
    vertical = -np.interp(depth, fine, sums)
    wanted = np.stack([vertical / 2, vertical / 2, vertical, *[0 * depth] * 3])
    np.testing.assert_allclose(found.at(depth), wanted, rtol=1e-9)
    assert (found.fluid_pressure(depth) == 0).all()


def test_one_message_for_an_unknown_variable_of_a_table() -> None:
    """Entries of `at` have no unit then, and are not judged."""
    with pytest.raises(CaseError) as caught:
        section(cohesion={**BY_VS, "by": "vp"})
    assert "cohesion.by" in str(caught.value) and "cohesion.at" not in str(caught.value)


def test_stress_and_fluid_pressure_of_depth() -> None:
    weight = Overburden(np.array([0.0, 1.0]), np.array([2000.0]))
    given = section(stress={"tensor": {**TENSOR, "xy": "1e3 * depth"}}, fluid_pressure="9800*depth")
    found, depth = InitialStress(given, weight), np.array([[0.0, 10.0], [200.0, 3.0]])
    stress = found.at(depth)
    assert stress.shape == (6, 2, 2)
    np.testing.assert_allclose(stress[0], -2e4 * depth)
    np.testing.assert_allclose(stress[3], 1e3 * depth)
    np.testing.assert_allclose(found.fluid_pressure(depth), 9800 * depth)
    wet = InitialStress(section(fluid_pressure="hydrostatic"), weight)
    np.testing.assert_allclose(wet.fluid_pressure(depth), 9810 * depth)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "tresca"}, 'model = "tresca": must be "drucker-prager"'),
        ({"cohesion": -1.0}, "cohesion = -1.0: must be at least 0 Pa"),
        ({"cohesion": "x + z"}, 'cohesion = "x + z": has the unknown name "z"'),
        ({"friction_angle": 90}, "must be at least 0 deg, and less than 90 deg"),
        ({"cohesion": {"by": "vp", "at": [], "values": []}}, 'must be "depth" or "vs"'),
        ({"cohesion": {**BY_VS, "at": [2, 1]}}, "must be more than the entry before it, 2 m/s"),
        ({"cohesion": {**BY_VS, "at": [2]}}, "must have one value for each of the 1 entries"),
        ({"cohesion": {**BY_VS, "values": [-1, 1]}}, "must be at least 0 Pa"),
        ({"relaxation_time": "-1 s"}, "must be at least 0"),
        ({"stress": {"ratio": 1, "tensor": TENSOR}}, "give only one of ratio and tensor"),
        ({"stress": {}}, "give ratio or tensor"),
        ({"stress": {"ratio": "x"}}, 'has the unknown name "x"'),
        ({"fluid_pressure": "dry"}, "hydrostatic"),
        (
            {"material": [{"name": "a", "cohesion": 1, "friction_angle": 1}] * 2},
            'material[1].name = "a": has a strength already',
        ),
    ],
)
def test_mistakes(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError, match=re.escape(message)):
        section(**changes)


def test_values_out_of_bounds_name_the_point() -> None:
    at = points()
    message = r"plasticity.cohesion = -\d.* at x, y, depth = .*: must be at least 0 Pa"
    with pytest.raises(InputError, match=message):
        strength_at(section(cohesion="1e3 - 10 * depth"), at)
    bad = InitialStress(section(fluid_pressure="-depth"), Overburden(np.arange(2.0), np.ones(1)))
    with pytest.raises(InputError, match=r"plasticity\.fluid_pressure = -3 at depth = 3 m"):
        bad.fluid_pressure(np.array([0.0, 3.0]))


def test_unknown_materials() -> None:
    given = section(material=[{"name": "sand", "cohesion": 1, "friction_angle": 1}])
    assert "needs a medium" in next(unknown_materials(given, None))[1]
    assert "did you mean" in next(unknown_materials(given, ["sands", "clay"]))[1]
