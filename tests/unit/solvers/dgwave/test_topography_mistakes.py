"""DG waves below a surface that is not flat: what does not fit, and mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import warnings_of
from dgwave_cases import build, setup

import groundswell as gs
from groundswell.errors import CaseError, InputError

pytestmark = pytest.mark.each_value


# --- refined elements -----------------------------------------------------------------------------

MISFITS = [
    (
        "500 * sign(400.1 - x)",
        "lowest elevation is -500 m; allowed: values above -.* m in a region that reaches 600 m",
    ),
    (
        "log(x - 100)",
        "at x = 0 m, y = 0 m is nan; it must be finite everywhere; correct the formula",
    ),
    ("1 / (x - 600)", "at x = 600 m, y = 0 m is inf; it must be finite"),
]


@pytest.mark.parametrize(("formula", "message"), MISFITS)
def test_surfaces_that_do_not_fit(formula: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        setup(topography={"kind": "formula", "elevation": formula})


def test_positions_below_a_valley() -> None:
    valley = {"kind": "formula", "elevation": "200 * sign(x - 600)"}  # 100 m below the mean
    with pytest.raises(InputError, match=r"receiver A lies below the region, .* 550 m"):
        setup(topography=valley, receiver=[{"name": "A", "x": 100, "y": 100, "depth": 550}])
    with pytest.raises(InputError, match=r"source\[0\] lies below the region"):
        setup(topography=valley, source__0__depth=550)


MISTAKES = [
    ({"topography": {"kind": "hill"}}, "topography.kind", 'must be formula, array or file'),
    ({"topography": {"kind": "formula", "elevation": "q"}}, "topography.elevation", "unknown name"),
    ({"topography": {"kind": "formula", "elevation": "x - z"}}, "topography.elevation", "x and y;"),
    ({"topography": {"kind": "array", "elevation": [[1]]}}, "topography.elevation", "at least 2 x"),
    ({"topography": {"kind": "array", "elevation": "a"}}, "topography.elevation", "rows of number"),
    ({"topography": {"kind": "file", "file": "no.nc"}}, "topography.file", "does not exist"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "key", "allowed"), MISTAKES)
def test_each_mistake_is_one_problem(changes: dict[str, Any], key: str, allowed: str) -> None:
    with pytest.raises(CaseError) as caught:
        build(**changes)
    [problem] = caught.value.problems
    assert problem.key == key and allowed in problem.allowed


def test_receivers_on_the_bottom_of_the_region_stay_in_it(tmp_path: Path) -> None:
    """Nodes, too, whose seismometer is otherwise slightly below them; to a millimetre."""
    valley = {"kind": "formula", "elevation": "-0.1 * x"}
    places = [{"x": 400, "y": 300, "depth": 560.0}, {"x": 200, "y": 300, "depth": 580.0005}]
    kinds = ("ocean-bottom-node", "seismometer")
    receivers = [
        {"name": f"R{n}", "kind": kind, **place}
        for n, (kind, place) in enumerate(zip(kinds, places, strict=True))
    ]
    changes = {"topography": valley, "boundary__bottom": "rigid", "boundary__sides": "rigid"}
    case = build(tmp_path, **changes, receiver=receivers, time__duration=0.3)
    assert gs.run(case, folder=tmp_path / "r").seismograms.shape[0] == 2


# --- the datum, and surfaces that elements do not resolve -----------------------------------------


def test_surfaces_that_bend_too_much_name_an_element() -> None:
    folded = {"kind": "formula", "elevation": "400 * sin(x / 10)"}
    with pytest.raises(
        InputError, match=r"element \d+ is inverted.* at x = .*smoother .*topography"
    ):
        _ = setup(topography=folded, method__degree=5).dt


def test_misfit_is_that_between_the_nodes() -> None:
    """Of a polynomial of one degree more, that of its interpolation, known in closed form."""
    cubic = {"kind": "formula", "elevation": "2 * ((x - 500) / 100)**3"}
    found = setup(topography=cubic)
    gap, x, y = (
        found.geometry.surface.misfit
    )  # of s^3 - s at s = 1/2, in elements of half width 100 m
    middles = np.array([n + d for n in (100, 300, 500, 700) for d in (-50, 50)])
    assert gap == pytest.approx(2 * 0.375) and np.isclose(middles, x).any() and 0 < y < 800
    assert setup(topography=cubic, method__degree=3).geometry.surface.misfit[0] < 1e-9


@pytest.mark.parametrize(
    ("elevation", "is_resolved"),
    [("30 * sin(x / 300)", True), ("60 * sin(x / 25)", False), ("200 * sign(x - 450)", False)],
)
def test_unresolved_terrain_is_a_warning(elevation: str, is_resolved: bool) -> None:
    found = [
        w
        for w in warnings_of(setup(topography={"kind": "formula", "elevation": elevation}))
        if "topography" in w
    ]
    assert len(found) == (not is_resolved)
    if found:
        assert "away from the topography, at x = " in found[0] and "shortest wavelength" in found[0]
