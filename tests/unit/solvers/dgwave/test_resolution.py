"""Elements that do not resolve the sources: the changes that `check` advises resolve them."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import warnings_of
from dgwave_cases import setup

from groundswell.seismology.media.text_columns import TextColumns

SOFT, ROCK = {"vp": 1800, "vs": 900, "rho": 2000}, {"vp": 3000, "vs": 1700, "rho": 2500}
LAYERS = {"kind": "layered", "layers": [{"top": 0, **SOFT}, {"top": 100, **ROCK}]}
PULSE = {"kind": "gaussian", "sigma": "0.05 s"}


def advice(found: Any) -> dict[str, float]:
    """The changes to `[refinement]` that the only warning of a set-up advises."""
    [warning] = warnings_of(found)
    changes = re.findall(r"refinement\.(\w+) to ([0-9.]+)", warning)
    return {key: float(text) if "." in text else int(text) for key, text in changes}


def test_elements_as_advised_resolve_the_sources() -> None:
    pulse = {"kind": "gaussian", "sigma": "0.15 s"}
    more = {"time__duration": 3, "source__0__time_function": pulse}
    [warning] = warnings_of(setup(grid__spacing=[200, 200, [200, 400]], **more))
    edge = float(re.search(r"at most ([0-9.]+) m along z there", warning)[1])
    finer = round(400 / edge + 0.5)
    assert warnings_of(setup(grid__spacing=[200, 200, [200, *[400 / finer] * finer]], **more)) == []


@pytest.mark.parametrize(
    ("refinement", "advised"),
    [
        ({"frequency": 1}, {"frequency"}),
        ({"frequency": 9, "levels": 1}, {"levels"}),
        ({"frequency": 9, "levels": 1, "points": 2}, {"frequency", "levels"}),
    ],
)
def test_refinement_as_advised_resolves_the_sources(
    refinement: dict[str, Any], advised: set[str]
) -> None:
    more = {"medium": LAYERS, "time__duration": 3, "source__0__time_function": PULSE}
    better = advice(setup(refinement=refinement, **more))
    assert set(better) == advised
    assert warnings_of(setup(refinement=refinement | better, **more)) == []


@pytest.mark.parametrize(("degree", "levels", "spacing"), [(3, 2, 300), (6, 1, 200)])
def test_refinement_as_advised_resolves_the_slowest_nodes(
    degree: int, levels: int, spacing: float
) -> None:
    """Waves at the top of an element are slower than in its average material."""
    ends = [{"top": 0, **SOFT}, {"top": 600, "vp": 5000, "vs": 2900, "rho": 2700}]
    more = {
        "grid": {"size": [600, 600, 1200], "spacing": spacing},
        "medium": {"kind": "layered", "interpolation": "linear", "layers": ends},
        "method": {"degree": degree, "material": "node"},
        "time__duration": 3,
        "source__0__time_function": PULSE,
    }
    given = {"frequency": 5.9, "levels": levels}
    better = advice(setup(refinement=given, **more))
    assert better and warnings_of(setup(refinement=given | better, **more)) == []


def test_refinement_has_a_limit() -> None:
    pulse = {"kind": "gaussian", "sigma": "0.003 s"}
    more = {"time": {"duration": 0.1, "step": 0.001}, "source__0__time_function": pulse}
    warnings = warnings_of(
        setup(grid__spacing=[800, 800, 600], refinement={"frequency": 1}, **more)
    )
    assert "refinement.levels to 6 and divide grid.spacing by 2," in warnings[0]


def test_a_model_is_read_once_for_all_levels(tmp_path: Path, monkeypatch: Any) -> None:
    """And has the speeds of the same layers without a file."""
    model, read = tmp_path / "model.txt", []
    points = itertools.product((-500, 500, 5000), (-500, 500, 5000), (0, 99, 101, 5000))
    rows = ([*at, *(SOFT if at[2] < 100 else ROCK).values()] for at in points)
    lines = [" ".join(map(str, row)) for row in rows]
    model.write_text("\n".join(["x y depth vp vs rho", *lines]))
    monkeypatch.setattr(TextColumns, "parts", counted_by(read, TextColumns.parts))
    more = {"refinement": {"frequency": 5, "levels": 2}, "source__0__time_function": PULSE}
    levels = [
        setup(medium=medium, **more).geometry.forest.levels
        for medium in ({"kind": "columns", "file": str(model)}, LAYERS)
    ]
    np.testing.assert_array_equal(*levels)
    assert np.ptp(levels[0]) > 0 and len(read) == 1


def counted_by(calls: list[Any], function: Any) -> Any:
    def counting(self: Any) -> Any:
        calls.append(self)
        return function(self)

    return counting
