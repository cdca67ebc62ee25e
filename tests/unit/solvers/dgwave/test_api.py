"""DG waves from arrays: the same as from a case file; fields of results and of live simulations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dgwave_cases import EXPLOSION, SHEAR, WATER, build

import groundswell as gs
from groundswell.errors import CaseError, InputError

LAYERS = [{"top": 0, "vp": 2500, "vs": 1300, "rho": 2300},
          {"top": 200, "vp": 3000, "vs": 1700, "rho": 2500}]  # fmt: skip
COMMON: dict[str, Any] = {"method": {"degree": 2}, "boundary": {"width": 2}}
RECEIVERS = [{"name": "A", "x": 100, "y": 100, "depth": 0}]


def model() -> Any:
    """The layers as arrays of the shape (3, 4, 4)."""
    names = ("vp", "vs", "rho")
    rows = {name: [LAYERS[0][name], *[LAYERS[1][name]] * 2] for name in names}
    columns = {name: np.array(row, float)[:, None, None] for name, row in rows.items()}
    full = {name: np.broadcast_to(column, (3, 4, 4)) for name, column in columns.items()}
    return gs.dgwave.Model(**full, spacing=200.0)


def test_arrays_and_a_case_file_give_the_same(tmp_path: Path) -> None:
    case = build(tmp_path, medium={"kind": "layered", "layers": LAYERS}, time__duration=0.4)
    expected = gs.run(case, folder=tmp_path / "case")
    found = gs.dgwave.simulate(model(), [SHEAR], RECEIVERS, duration=0.4, **COMMON)
    largest = float(np.abs(expected.seismograms).max())
    assert largest > 0
    difference = np.abs(found.seismograms.values - expected.seismograms.values).max()
    assert difference < 1e-6 * largest
    np.testing.assert_allclose(found.shaking_map["pgv"], expected.shaking_map["pgv"], rtol=1e-5)


def test_fields_at_the_end_are_those_of_the_simulation(tmp_path: Path) -> None:
    """`result.fields` in the file, and `fields` of a live simulation, by their nodes."""
    arguments = {"duration": 0.2, **COMMON, "output": {"final_fields": True}}
    result = gs.dgwave.simulate(model(), [EXPLOSION], folder=tmp_path / "run", **arguments)
    fields = result.fields
    assert {"vx", "szz"} <= set(fields) and fields["vx"].dims == ("element", "node")
    with gs.Simulation(gs.dgwave.build_case(model(), [EXPLOSION], **arguments)) as simulation:
        simulation.advance()
        whole = simulation.gather("vz")
        assert whole is not None
        order = np.argsort(simulation.solver.elements.numbers)
        assert np.array_equal(simulation.fields["vz"][order], whole)
    assert whole.shape == fields["vz"].shape == (8 * 8 * 5, 27)
    corners = [0, 2, 6, 8, 18, 20, 24, 26]  # nodes that equidistant and GLL points share
    shared = np.abs(fields["vz"].values[:, corners] - whole[:, corners]).max()
    assert shared < 1e-6 * np.abs(whole).max()
    assert float(fields["z"].min()) == 0 and float(fields["x"].min()) == -400


def test_results_lack_what_was_not_asked_for() -> None:
    result = gs.dgwave.simulate(model(), [SHEAR], RECEIVERS, duration=0.05, **COMMON)
    with pytest.raises(InputError, match=r"run the case with output\.final_fields = true"):
        _ = result.fields
    with pytest.raises(InputError, match='a receiver of the kind "hydrophone" or "ocean-bottom'):
        _ = result.pressure


def test_mistakes_are_told_by_their_keys() -> None:
    with pytest.raises(CaseError, match=r"method\.degree"):
        gs.dgwave.simulate(model(), [SHEAR], duration=0.1, method={"degree": 0})
    with pytest.raises(InputError, match="an airgun must be in water"):
        gun = {**EXPLOSION, "kind": "airgun", "strength": "1 bar m"}
        del gun["magnitude"]
        gs.dgwave.simulate(model(), [gun], duration=0.1)


def test_sections_that_other_arguments_give_are_refused() -> None:
    with pytest.raises(InputError, match="run is not an argument; give backend and precision"):
        gs.dgwave.simulate(model(), [EXPLOSION], duration=1, run={"backend": "cpu"})
    with pytest.raises(InputError, match="source is not an argument; give sources instead"):
        gs.earthquake.simulate(model(), [EXPLOSION], duration=1, source=[EXPLOSION])


def test_water_alone_is_acoustic() -> None:
    water = {name: np.full((3, 4, 4), float(WATER[name])) for name in ("vp", "vs", "rho")}
    case = gs.dgwave.build_case(
        gs.dgwave.Model(**water, spacing=200.0), [EXPLOSION], duration=0.1, **COMMON
    )
    with gs.Simulation(case) as simulation:
        assert set(simulation.fields) == {"p", "vx", "vy", "vz"}
