"""Depths of water at sources and receivers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dgwave_cases import EXPLOSION, WATER, build
from earthquake_setups import setup as earthquake_setup
from gmsh_cases import on_mesh, write

from groundswell.seismology.sea_floor import DEEPEST, water_depths
from groundswell.simulation.preparation import prepare

ROCK = {"vp": 3000, "vs": 1700, "rho": 2500}
SEA = {name: WATER[name] for name in ("vp", "vs", "rho")}
LAYERS = [{"top": 0, **SEA}, {"top": 200, **ROCK}]


def test_floors_of_random_depths() -> None:
    """Land, shallow and deep water, and water without a floor; fluids in the rock do not count."""
    rng = np.random.default_rng(3)
    places = rng.uniform(0, 1e4, (200, 2))
    floors = np.where(rng.random(200) < 0.2, 0.0, 10 ** rng.uniform(-0.3, 4, 200))
    floors[:5] = 2 * DEEPEST
    table = dict(zip(map(tuple, places.tolist()), floors, strict=True))

    def is_fluid(points: Any) -> Any:
        floor = np.array([table[x, y] for x, y, _ in points.tolist()])
        depth = points[:, 2]
        return (depth < floor) | ((floor > 0) & (depth > 3 * floor) & (depth < 3.1 * floor))

    expected = np.where(floors > DEEPEST, 0.0, floors)
    assert np.abs(water_depths(places, is_fluid) - expected).max() < 1e-3


@pytest.mark.parametrize("material", ["element", "node"])
def test_depths_on_bricks_and_on_a_mesh(tmp_path: Path, material: str) -> None:
    path = write(tmp_path / "a.msh")
    receivers = [{"name": "A", "x": 100, "y": 90, "depth": 5}, {"name": "B", "x": 630, "y": 90,
                  "depth": 200}]  # fmt: skip
    common: dict[str, Any] = {
        "receiver": receivers,
        "method__material": material,
        "source": [EXPLOSION],
    }
    layered = {"kind": "layered", "layers": LAYERS}
    mesh: Any = prepare(build(tmp_path, **{**on_mesh(path), **common}))
    bricks: Any = prepare(build(tmp_path, medium=layered, **common))
    for found in (mesh, bricks):
        assert found.survey.water_depth == 200
        assert [station.water_depth for station in found.survey.receivers] == [200, 200]
    dry: Any = prepare(build(tmp_path, **common))
    assert dry.survey.water_depth is None and dry.survey.receivers[0].water_depth is None


def test_depths_on_a_staggered_grid() -> None:
    """Those of the faces of cells, here of 100 m."""
    layered = {"kind": "layered", "layers": LAYERS}
    blast = {key: value for key, value in EXPLOSION.items() if key not in ("x", "y", "depth")}
    found: Any = earthquake_setup(
        grid={"size": [2000, 1500, 1200], "spacing": 100},
        medium=layered,
        source=[{**blast, "x": 700, "y": 600, "depth": 50}],
        receiver=[{"name": "A", "x": 900, "y": 600, "depth": 300}],
    )
    assert found.survey.water_depth == found.survey.receivers[0].water_depth == 200
