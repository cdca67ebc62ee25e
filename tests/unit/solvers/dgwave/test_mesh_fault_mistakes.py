"""DG waves: what is said of faults that do not fit their mesh."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mesh_faults import FAULT, PLANE, UNIFORM, case, fault_mesh, in_middle, on_mesh

from groundswell.errors import CaseError, InputError
from groundswell.simulation.preparation import check_of, prepare

SEA = {"vp": 1500.0, "vs": 0.0, "rho": 1000.0}
OTHER = {**FAULT, "name": "other"}
MISTAKES = [
    ({"fault": [{**FAULT, "surface": "falt"}]}, r'"falt" inside it; it has fault \(did you mean'),
    ({"fault": [{**FAULT, "surface": "top"}]}, r'main\): surface "top" is on the boundary of the'),
    (
        {"fault": [FAULT, OTHER]},
        r"fault\[0\] \(main\) and fault\[1\] \(other\) share 4 faces; let",
    ),
    ({"fault": [{**FAULT, "strike": 0}]}, "about 90 degrees from strike = 0; give its mean"),
    ({"medium": {**UNIFORM, **SEA}}, r"fault\[0\] \(main\): a part of the fault is in a fluid"),
    ({"boundary": {"surfaces": {"top": "free-surface"}}}, "lacks the physical surface 'rest'"),
]


@pytest.mark.parametrize(("changes", "message"), MISTAKES)
def test_what_does_not_fit_is_told(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = fault_mesh(tmp_path / "a.msh", {"fault": in_middle})
    with pytest.raises(InputError, match=message):
        prepare(case(tmp_path, **{**on_mesh(path, UNIFORM), **changes}))


def test_a_fault_needs_neither_sources_nor_receivers(tmp_path: Path) -> None:
    path = fault_mesh(tmp_path / "a.msh", {"fault": in_middle})
    setup = prepare(case(tmp_path, **{**on_mesh(path, UNIFORM), "receiver": []}))
    assert not setup.survey.places
    assert not any("sources and receivers" in text for text in check_of(setup).warnings(setup))


def test_planes_are_for_grids(tmp_path: Path) -> None:
    path = fault_mesh(tmp_path / "a.msh", {"fault": in_middle})
    fault = {key: value for key, value in FAULT.items() if key != "surface"}
    with pytest.raises(CaseError, match="on a grid of bricks; give the surface of the mesh"):
        case(tmp_path, **on_mesh(path, UNIFORM), fault=[{**fault, "plane": PLANE}])


def test_sides_that_lean_over_rock_are_named(tmp_path: Path) -> None:
    """Depths count from them; those of a box that is sheared by a fault's dip lean on one side."""

    def sheared(points: Any) -> Any:
        return points - points[..., [2]] / 3 * [0, 1, 0]

    told = {}
    for name, bend in (("upright", lambda points: points), ("sheared", sheared)):
        path = fault_mesh(tmp_path / f"{name}.msh", {"fault": in_middle}, bend)
        setup = prepare(case(tmp_path, **on_mesh(path, UNIFORM)))
        told[name] = [text for text in check_of(setup).warnings(setup) if "above rock" in text]
    assert told["upright"] == []
    (warning,) = told["sheared"]  # 4 elements along x, 3 along z
    assert warning.startswith('12 faces of surface "rest" (absorbing) lie above rock: depths of so')
