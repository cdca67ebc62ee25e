"""DG waves: elements near faults are halved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dgwave_cases import build, setup
from mesh_faults import in_place
from small_ruptures import CHANGES, FAULT

import groundswell as gs
from groundswell.errors import CaseError

ACROSS_X = {
    "plane": {"x": 230.0, "y": [300.0, 800.0], "depth": [200.0, 350.0]},
    "law": "slip-weakening",
    "friction": {"static": 1e4, "dynamic": 1e4, "distance": 1.0},
    "stress": {"normal": "1 MPa", "shear": 0, "rake": 0},
}


def gaps(lower: Any, upper: Any, fault: dict[str, Any]) -> Any:
    """Distances from boxes to the plane of a fault, one by one, m."""
    ends = [fault["plane"][name] for name in ("x", "y", "depth")]
    box = [each if isinstance(each, list) else [each, each] for each in ends]
    found = []
    for low, high in zip(lower, upper, strict=True):
        parts = [max(a - h, b_low - b, 0) for (a, b), b_low, h in zip(box, low, high, strict=True)]
        found.append(np.sqrt(sum(part**2 for part in parts)))
    return np.array(found)


@pytest.mark.parametrize("distance", [0, 90])
def test_elements_near_a_fault_are_halved_as_often_as_wanted(distance: float) -> None:
    """Those inside the region; others only where neighbours would differ by two levels."""
    near = {"faults": 2, "distance": distance}
    forest = setup(**CHANGES, refinement=near).geometry.forest
    lower, upper = forest.boxes()
    inside = (lower >= 0).all(axis=1) & (upper <= [800, 800, 600]).all(axis=1)
    gap = gaps(lower, upper, FAULT)
    assert (forest.levels[inside & (gap <= distance + 1e-3)] == 2).all()
    finest = inside & (forest.levels == 2)
    parents = lower[finest] // 100 * 100  # the elements that were halved last
    assert (gaps(parents, parents + 100, FAULT) <= distance + 1e-3).all()
    assert forest.levels.min() == 0


def test_the_plane_may_be_inside_the_elements_of_the_grid() -> None:
    """Here between those that are halved three times."""
    plane = {**ACROSS_X["plane"], "x": 225.0}
    faults = setup(
        **{**CHANGES, "fault": [{**ACROSS_X, "plane": plane}]}, refinement={"faults": 3}
    ).faults
    assert faults is not None
    assert float(faults.faults[0].points.area.sum()) == pytest.approx(500 * 150)


def test_waves_and_faults_have_levels_of_their_own() -> None:
    """Waves of 4 Hz need no finer elements; those of 14 Hz need half of them everywhere."""
    for frequency, least in ((4, 0), (14, 1)):
        both = {"faults": 2, "frequency": frequency, "levels": 1}
        levels = setup(**CHANGES, refinement=both).geometry.forest.levels
        assert (levels.min(), levels.max()) == (least, 2)


def test_a_rupture_is_nearly_that_of_fine_elements_everywhere(tmp_path: Path) -> None:
    """Coarse elements reflect and damp some of the waves that reach them: 3 % of the slip."""
    fine: dict[str, Any] = {"grid__spacing": 100.0, "boundary__width": 4}
    near: dict[str, Any] = {"refinement": {"faults": 1, "distance": 150.0}}
    one, other = (
        gs.run(build(**CHANGES, **each, receiver=[]), folder=tmp_path / name).fault
        for name, each in (("fine", fine), ("near", near))
    )
    for name in ("slip_strike", "peak_rate", "rupture_time"):
        a, b = (in_place(each, each[name].fillna(0)) for each in (one, other))
        assert np.abs(a - b).max() < 0.05 * np.abs(a).max()


@pytest.mark.parametrize(
    ("section", "text"),
    [
        ({}, "give frequency, to halve elements for waves, or faults, for ruptures"),
        ({"faults": 1, "levels": 2}, "levels.*belongs to frequency; give frequency, or remove it"),
        ({"frequency": 3, "distance": 5}, "distance.*belongs to faults; give faults, or remove it"),
        ({"faults": 7}, "faults = 7: must be at most 6"),
        ({"faults": 1, "distance": -1}, "distance.*at least 0"),
    ],
)
def test_mistakes(section: dict[str, Any], text: str) -> None:
    with pytest.raises(CaseError, match=text):
        build(**CHANGES, refinement=section)


def test_there_must_be_a_fault() -> None:
    with pytest.raises(CaseError, match=r"faults.*there are no faults; add \[\[fault\]\]"):
        build(refinement={"faults": 1})
