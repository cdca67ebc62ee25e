"""Runs with materials in a table, which equal those with fields bit by bit."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from checked import quantities_of

from groundswell.backends import open_backend
from groundswell.errors import InputError
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.material_classes import ClassMaterials
from groundswell.solvers.earthquake.material_count import count_materials
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.solver import Earthquake

H, SHAPE = 100.0, (14, 18, 20)  # cells along z, y and x
rng = np.random.default_rng(41)


def basin() -> dict[str, Any]:
    """Arrays of random blocks with a basin, and a sea with a stepped floor."""
    k, j, i = np.indices(SHAPE)
    blocks = rng.uniform(1, 1.3, (7, 9, 10))[k // 2, j // 2, i // 2]
    vs = 2000.0 * blocks
    is_soft = k < 5 - (np.hypot(j - 9, i - 10) / 3)
    vs[is_soft] = 600.0
    vp, rho = 1.8 * vs, 2000 + 0.2 * vs
    sea = k < 2 + (i > 12)
    vs[sea], vp[sea], rho[sea] = 0.0, 1500.0, 1000.0
    quality = np.where(sea, 1e4, 50.0 * blocks)
    return {"kind": "arrays", "vp": vp, "vs": vs, "rho": rho, "qp": 2 * quality, "qs": quality}


LAYERS = [
    {"top": 0.0, "vp": 1500.0, "vs": 600.0, "rho": 2000.0, "qp": 40, "qs": 20},
    {"top": 270.0, "vp": 4000.0, "vs": 2300.0, "rho": 2600.0, "qp": 100, "qs": 50},
]
SEA = [
    {"top": 0.0, "vp": 1500.0, "vs": 0.0, "rho": 1000.0, "qp": 1e4, "qs": 1e4},
    {"top": 330.0, "vp": 4000.0, "vs": 2300.0, "rho": 2600.0, "qp": 100, "qs": 50},
]
MEDIA: dict[str, dict[str, Any]] = {
    "basin": basin(),
    "layers": {"kind": "layered", "layers": LAYERS},
    "sea": {"kind": "layered", "layers": SEA},
}
SOURCES = [
    {"kind": "double-couple", "strike": 35, "dip": 80, "rake": 10, "moment": 1e14}
    | {"x": 1000.0, "y": 900.0, "depth": 1000.0},
    {"kind": "force", "force": ["1e10 N", "2e10 N", "-1e10 N"]}
    | {"x": 800.0, "y": 700.0, "depth": 700.0},
]


def make_case(medium: str, lossy: bool = True, **sections: Any) -> EarthquakeCase:
    run = {"materials": sections.pop("materials", "cells"), **sections.pop("run", {})}
    pulse = {"kind": "gaussian", "sigma": 0.03}
    return EarthquakeCase(
        time={"duration": 0.4, "step": 0.008},
        grid={"size": [n * H for n in SHAPE[::-1]], "spacing": H},
        medium=MEDIA[medium],
        attenuation={"model": "constant" if lossy else "none"},
        boundary={"width": 4, **sections.pop("boundary", {})},
        source=[{**source, "time_function": pulse} for source in SOURCES],
        receiver=[{"name": "R", "x": 500.0, "y": 500.0, "depth": 0.0}],
        output={"shaking_map": True, "surface": {"interval": 0.016, "stride": 2}},
        run=run,
    )


def make_solver(medium: str, lossy: bool = True, **sections: Any) -> Earthquake:
    return Earthquake(prepare(make_case(medium, lossy, **sections)), open_backend("cpu"))


VARIANTS = [
    ("basin", {}),
    ("basin", {"boundary": {"top": "absorbing", "sides": "sponge"}, "run": {"memory": "half"}}),
    ("layers", {"boundary": {"sides": "periodic"}, "run": {"precision": "double"}}),
    ("layers", {"lossy": False}),
    ("sea", {}),
    ("sea", {"lossy": False, "run": {"precision": "double"}}),
]


@pytest.mark.parametrize(("medium", "sections"), VARIANTS, ids=str)
def test_results_are_those_of_fields_bit_by_bit(medium: str, sections: dict[str, Any]) -> None:
    found = []
    for materials in ("cells", "classes"):
        solver = make_solver(medium, materials=materials, **dict(sections))
        for _ in range(40):
            solver.step()
        arrays = {name: field.interior for name, field in solver.fields.items()}
        rings = {name: solver.outputs.ring(name).buffer for name in ("seismograms", "surface")}
        found.append({**arrays, **rings, "peaks": solver.outputs.shaking_map.peaks})
    assert isinstance(solver.materials, ClassMaterials)
    for name, values in found[0].items():
        assert np.isfinite(values).all() and values.tobytes() == found[1][name].tobytes(), name
    assert found[0]["vx"].any() and found[0]["surface"].any()


@pytest.mark.parametrize("medium", MEDIA)
def test_properties_are_those_of_the_fields(medium: str) -> None:
    cells, classes = (make_solver(medium, materials=m).materials for m in ("cells", "classes"))
    for name in cells.names:
        assert classes[name].tobytes() == cells[name].tobytes()
    most = {"basin": 1000, "layers": 8, "sea": 8}[medium]
    assert all(2 <= len(np.unique(classes[name])) <= most for name in ("rho", "lam"))


def test_classes_of_slabs_do_not_depend_on_their_height(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for planes in (1, 5, 16):
        monkeypatch.setattr("groundswell.solvers.earthquake.materials.PLANES_AT_ONCE", planes)
        found.append(make_solver("basin", materials="classes").materials["lam"])
    assert all((a == b).all() for a, b in pairwise(found))


def test_a_medium_of_too_many_materials_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundswell.simulation.material_classes.MOST", 100)
    pattern = 'has more than 100 different materials, .*allows 100; set run.materials = "cells"'
    with pytest.raises(InputError, match=pattern):
        make_solver("basin", materials="classes")


# --- what a check shows ---------------------------------------------------------------------------


def quantities_with(medium: str, **run: str) -> dict[str, Any]:
    found = quantities_of(prepare(make_case(medium, run=run)))
    return {quantity.key: quantity for quantity in found}


@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize("lossy", [True, False])
def test_the_number_of_materials_is_that_of_the_table(medium: str, lossy: bool) -> None:
    solver = make_solver(medium, lossy=lossy, materials="classes")
    assert isinstance(solver.materials, ClassMaterials)
    found = count_materials(solver.setup.ground, "float32")
    assert found == len(solver.materials._table.records)


def test_check_shows_the_table_and_suggests_it_on_a_gpu() -> None:
    table = quantities_with("basin", materials="classes")
    count = table["material_count"].value
    assert f"a table of {count} materials, with 16-bit classes" in table["materials"].text
    suggested = quantities_with("basin", backend="cuda")
    assert suggested["material_count"].value == count
    text = f'{count} different ones; run.materials = "classes" changes no result, and a step moves'
    assert text in suggested["materials"].text
    numbers = re.search(r"moves ([\d.]+) instead of ([\d.]+)", suggested["materials"].text)
    assert numbers
    after, before = numbers.groups()
    # 4 + 16 bytes, of which 2 + 2 remain; numbers are rounded to four digits.
    assert float(before) - float(after) == pytest.approx(16, abs=0.11)
    assert not quantities_with("basin")["materials"].label


def test_large_media_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundswell.solvers.earthquake.material_count.MOST_CELLS", 1000)
    found = quantities_with("basin", materials="classes")
    assert found["material_count"].value is None and "a table" in found["materials"].text
    assert quantities_with("layers", materials="classes")["material_count"].value
