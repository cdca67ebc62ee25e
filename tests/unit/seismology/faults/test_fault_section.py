"""The section `[[fault]]`: what it accepts, and what it says of mistakes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fault_cases import TPV3, TPV5, TPV10, TPV10_TENSOR, TPV24, TPV104, section, square

from groundswell.case.common import Case
from groundswell.case.units import is_quantity
from groundswell.errors import CaseError
from groundswell.seismology.case.fault import (
    FaultSection,
    misplaced_plane,
    repeated_names,
)
from groundswell.seismology.case.grid import GridSection

CIRCLE = {"shape": "circle", "center": [0, 0, 0], "stress": {"shear": 1}}
FRICTION = TPV5["friction"]
STRESS = TPV5["stress"]
PLANE = TPV5["plane"]
FORCED = TPV24["nucleation"]


class FaultCase(Case):
    """A case with faults only."""

    fault: tuple[FaultSection, ...]


@pytest.mark.parametrize("content", [TPV3, TPV5, TPV10, TPV24, TPV104])
def test_sections_survive_being_written(content: dict[str, Any]) -> None:
    found = section(content)
    assert FaultSection(**found.model_dump(exclude_none=True)) == found


def test_cases_with_other_friction_have_other_digests() -> None:
    def digest(static: Any, **patch: Any) -> str:
        fault = {**TPV5, "friction": {**FRICTION, "static": static}}
        fault["patch"] = [{**square("0 m", "3 MPa"), **patch}]
        return FaultCase.from_dict({"solver": "s", "fault": [fault]}).digest()

    given = [digest(0.6), digest(0.61), digest("0.6 + 0*x"), digest(0.6, friction={"static": 2})]
    assert len(set(given)) == 4 and digest(0.6) == given[0]


def test_units_are_converted() -> None:
    found = section(TPV5)
    assert found.friction.given["distance"] == 0.4 and found.stress.normal == 120e6
    assert found.plane is not None and found.plane.extent == (-15e3, 15e3)
    assert found.plane.axis == 1 and found.plane.position == 0


def test_text_is_a_quantity_or_an_expression() -> None:
    friction = {**FRICTION, "distance": "2 / (1 + x)", "cohesion": "2/depth"}
    found = section(TPV5, friction=friction).friction.given
    assert found["distance"] == "2 / (1 + x)" and found["cohesion"] == "2/depth"
    assert is_quantity("3 m") and is_quantity("3") and not is_quantity("3*x")


MISTAKES = [
    # the law and its parameters
    ({"law": "slip-weaking"}, 'law = "slip-weaking": must be "slip-weakening", "ageing", "slip" or '
     '"fast-weakening" (did you mean "slip-weakening"?)'),
    ({"law": 3}, 'law = 3: must be "slip-weakening"'),
    ({"law": "ageing"}, 'friction: has static, dynamic, distance of law = "slip-weakening"; the '
     'parameters of law = "ageing" are: direct, evolution, length, reference_friction, '
     "reference_speed, cohesion"),
    ({"friction": {**FRICTION, "weakening_speed": 1}},
     'has weakening_speed of law = "fast-weakening"; the parameters of law = "slip-weakening" are'),
    ({"friction": {**FRICTION, "statik": 1}},
     'friction.statik = 1: is not a key here (did you mean "static"?); keys are: '
     "static, dynamic, distance, cohesion, healing_speed"),
    ({"friction": {"static": 0.6, "dynamic": 0.5}}, "friction.distance: is required; give a length "
     'such as "0.4 m", or a plain number in m, an expression of x, y, depth, along_strike, '
     "down_dip, or a table in a file"),
    ({"friction": None}, "friction: is required"),
    ({"friction": 3}, "friction = 3: must be a table"),
    ({"friction": {**FRICTION, "static": -0.1}}, "friction.static = -0.1: must be at least 0"),
    ({"friction": {**FRICTION, "distance": "0 m"}},
     'friction.distance = "0 m": must be greater than 0 m'),
    ({"friction": {**FRICTION, "cohesion": "-2 MPa"}}, "must be at least 0 Pa"),
    ({"friction": {**FRICTION, "healing_speed": "-1 mm/s"}}, "must be at least 0 m/s"),
    ({"friction": {**FRICTION, "cohesion": "2 s"}}, 'cohesion = "2 s": is not a pressure; give'),
    ({"friction": {**FRICTION, "distance": "4"}}, 'distance = "4": has no unit; give a length'),
    ({"friction": {**FRICTION, "static": "0.6"}},
     'static = "0.6": is text; give a plain number without quotes'),
    ({"friction": {**FRICTION, "distance": "0.4 * z"}}, 'has the unknown name "z"; names are: x, '
     "y, depth, along_strike, down_dip, pi"),
    ({"friction": {**FRICTION, "static": {"file": "none.nc", "variable": "a"}}},
     'friction.static.file = "none.nc": does not exist'),
    ({"friction": {**FRICTION, "static": {"file": __file__}}},
     "friction.static.variable: is required"),
    ({"friction": {**FRICTION, "static": True}}, "friction.static = true: is not a number"),
    ({"initial_rate": 1e-9}, 'initial_rate = 1e-09: is not for law = "slip-weakening"'),
    # the place
    ({"plane": None}, "case: give plane or surface"),
    ({"surface": "f"}, 'surface = "f": give only one of plane and surface'),
    ({"strike": 90}, "strike = 90: is for a surface; a plane has the strike of an axis"),
    ({"plane": {**PLANE, "x": 3}}, "plane: give one length for x or y, the position of the plane"),
    ({"plane": {**PLANE, "y": [3, 4]}}, "plane: give one length for x or y"),
    ({"plane": {**PLANE, "x": [4, 4]}},
     "plane.x = [4, 4]: must be two lengths that increase; the extent is empty"),
    ({"plane": {**PLANE, "depth": [4, 3]}}, "plane.depth = [4, 3]: must be two lengths that incr"),
    ({"plane": {**PLANE, "depth": [-4, 3]}}, "plane.depth[0] = -4: must be at least 0"),
    ({"plane": {**PLANE, "x": [1, 2, 3]}}, "plane.x = [1, 2, 3]: must be a length, or two as in"),
    ({"plane": {**PLANE, "x": ["1 s", 2]}}, "is not a length"),
    ({"plane": {"x": 1}}, "plane.y: is required"),
    ({"hypocenter": [0, 3, 4]}, "must lie on the plane: y is 3 m, not 0 m"),
    ({"hypocenter": [-16e3, 0, 4]}, "must lie on the plane: x is -16000 m, not -15000 to 15000 m"),
    ({"hypocenter": [0, 0]}, "hypocenter[2]: is missing: the list is too short"),
    ({"name": "a b"}, 'name = "a b": must be letters, digits, - or _'),
    # stress
    ({"stress": None}, "stress: is required"),
    ({"stress": {}}, "stress: give normal, shear and rake, or a tensor"),
    ({"stress": {"normal": 1, "shear": 1}}, "stress.rake: is required; give an angle such as"),
    ({"stress": {**STRESS, "normal": -3}},
     "stress.normal = -3: must be at least 0 Pa; compression is positive in normal"),
    ({"stress": {**STRESS, "shear": -3}}, "must be at least 0 Pa; rake gives the direction"),
    ({"stress": {"shear": 3, "tensor": TPV10_TENSOR}},
     "stress.shear = 3: follows from the tensor; give normal, shear and rake, or a tensor"),
    ({"stress": {"tensor": {"xx": 3}}}, "stress.tensor.yz: is required (stress north-down); give a "
     "pressure such as"),
    ({"stress": {**STRESS, "fluid_pressure": 3}},
     "stress.fluid_pressure = 3: is for a tensor; subtract it from normal, and leave it out"),
    # nucleation
    ({"hypocenter": None, "nucleation": FORCED}, "hypocenter: is required for nucleation"),
    ({"nucleation": {**FORCED, "kind": "force"}},
     'nucleation.kind = "force": must be forced or stress (did you mean "forced"?)'),
    ({"nucleation": {**FORCED, "radius": -1}}, "nucleation.radius = -1: must be greater than 0"),
    ({"nucleation": {"kind": "stress", "radius": 1, "duration": 1}},
     "nucleation.shear: is required (largest additional shear stress); give a pressure"),
    ({"nucleation": {**TPV104["nucleation"], "speed": 1}},
     "nucleation.speed = 1: is not a key here"),
    # patches
    ({"patch": [CIRCLE]}, "patch[0].radius: is required (radius of the patch); give a length"),
    ({"patch": [{**CIRCLE, "shape": "rectangle"}]}, "patch[0].size: is required"),
    ({"patch": [{**CIRCLE, "size": [1, 1], "radius": 1}]}, "patch[0].size = [1, 1]: is not a key"),
    ({"patch": [{**CIRCLE, "radius": "-1 m"}]}, "must be greater than 0"),
    ({"patch": [{**CIRCLE, "shape": "oval"}]}, 'shape = "oval": must be rectangle or circle'),
    ({"patch": [{**CIRCLE, "radius": 1, "stress": {}}]},
     "patch[0]: changes nothing; give friction or stress, or leave the patch out"),
    ({"patch": [{**CIRCLE, "radius": 1, "friction": {"direct": 1}}]},
     'patch[0].friction: has direct of law = "ageing"; the parameters of law = "slip-weakening"'),
    ({"patch": [{**CIRCLE, "radius": 1, "friction": {"static": -1}}]},
     "patch[0].friction.static = -1: must be at least 0"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), MISTAKES)
def test_mistakes_have_messages(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError, match=re.escape(message)):
        section(TPV5, **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"initial_rate": None}, 'initial_rate: is required for law = "fast-weakening"; give'),
        ({"initial_rate": 0}, "initial_rate = 0: must be greater than 0 m/s"),
        ({"nucleation": FORCED}, 'nucleation.kind = "forced": is for law = "slip-weakening"; use'),
        ({"law": "slip-weakening", "friction": FRICTION}, 'not for law = "slip-weakening"; leave'),
        ({"law": "slip"}, 'has weakened_friction, weakening_speed of law = "fast-weakening";'),
    ],
)
def test_mistakes_in_rate_and_state(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError, match=re.escape(message)):
        section(TPV104, **changes)


def test_a_single_mistake_has_a_single_message() -> None:
    """Keys that depend on an invalid law are not reported."""
    for changes in ({"law": "none"}, {"friction": {**FRICTION, "static": -1}}, {"strike": 3}):
        with pytest.raises(CaseError) as error:
            section(TPV5, **changes)
        assert len(error.value.problems) == 1


def test_names_are_unique() -> None:
    faults = [section(TPV5), section(TPV24, name="other"), section(TPV10)]
    assert list(repeated_names(faults)) == [
        ((2, "name"), "is taken by fault[0]; names must be unique")
    ]


def test_planes_lie_in_the_region() -> None:
    fault = section(TPV5, plane={**PLANE, "x": [0, "15 km"]})
    assert not list(misplaced_plane(fault, GridSection(size=(15e3, 1e3, 15e3), spacing=(100,) * 3)))
    small = GridSection(size=(14e3, 1e3, 9e3), spacing=(100,) * 3)
    allowed = "leaves the region, {} m; move it, or enlarge grid.size"
    assert list(misplaced_plane(fault, small)) == [
        (("plane", "x"), allowed.format("x from 0 to 14000")),
        (("plane", "depth"), allowed.format("depth from 0 to 9000")),
    ]
    assert not list(misplaced_plane(section(TPV10), small))


def test_files_start_in_the_folder_of_the_case(tmp_path: Path) -> None:
    (tmp_path / "a.nc").write_text("")
    table = {"file": "a.nc", "variable": "v"}
    fault = {**TPV5, "friction": {**FRICTION, "static": table}}
    fault["patch"] = [{**square("0 m", "3 MPa"), "friction": {"cohesion": table}}]
    case = FaultCase.from_dict({"solver": "s", "fault": [fault]}, tmp_path)
    assert case.data_files() == [tmp_path / "a.nc"] * 2
