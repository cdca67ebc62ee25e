"""Flows from arrays: the same as from a case file, and what is read of their results."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import groundswell as gs
from groundswell.errors import CaseError, InputError
from groundswell.solvers.cavity.setup import prepare

AIR = {"kind": "rayleigh", "rayleigh": 1e3}
FLAT = {"south": {"kind": "symmetry"}, "north": {"kind": "symmetry"}}
CASE = """
solver = "cavity"
title = "flat"
fluid = { kind = "rayleigh", rayleigh = 1e3 }
grid = { points = [13, 1, 11] }
walls = { south = { kind = "symmetry" }, north = { kind = "symmetry" } }
time = { tolerance = 1e-6 }
"""


def simulate(**changes: Any) -> Any:
    given = {"time": {"tolerance": 1e-6}, "title": "flat", **changes}
    return gs.cavity.simulate((13, 1, 11), AIR, FLAT, **given)


@pytest.fixture(scope="module")
def result() -> Any:
    return simulate()


def test_arrays_and_a_case_file_give_the_same(result: Any, tmp_path: Path) -> None:
    (tmp_path / "case.toml").write_text(CASE)
    expected = gs.run(tmp_path / "case.toml")
    xarray.testing.assert_identical(result.fields, expected.fields)
    assert result.heat == expected.heat and result.summary["title"] == "flat"


def test_a_flow_that_is_steady_before_a_record_begins_is_told() -> None:
    where = {"kind": "points", "positions": [[0.5, 0.5, 0.5]]}
    rows = {
        "early.nc": (2, ["raw", "max"]),
        "late.nc": (900_000, ["max"]),
        "end.nc": (0, ["final"]),
    }
    records = [
        {"fields": ["T"], "where": where, "from": begin, "what": what, "file": file}
        for file, (begin, what) in rows.items()
    ]
    found = simulate(output={"record": records})
    assert found.summary["warnings"] == [
        "the record 'late.nc' has no samples: it begins at step 900000, but the run ended after "
        f"{found.summary['steps']} steps; choose an earlier step"
    ]
    assert np.isnan(found.records["late.nc"]["T_max"]).all()


def test_uneven_points_are_those_of_a_case_file(result: Any) -> None:
    stretched = simulate(stretching={"x": 1.5})
    positions = {"x": stretched.fields["x"].values[1:-1], "z": result.fields["z"].values[1:-1]}
    given = simulate(positions=positions)
    np.testing.assert_allclose(given.fields["T"], stretched.fields["T"], atol=1e-6)
    assert np.abs(given.fields["x"].values - result.fields["x"].values).max() > 0.01


def test_results_are_read_as_arrays(result: Any) -> None:
    fields = result.fields
    assert dict(fields.sizes) == {"x": 15, "y": 3, "z": 13}  # walls and mirrors included
    assert set(fields) == {"p", "u", "v", "w", "T"}
    np.testing.assert_array_equal(fields["T"].isel(x=0), 0.5)
    profile = result.profiles["x"]["T"]
    middle = fields["T"].sel(y=0.5, z=0.5, method="nearest")
    np.testing.assert_allclose(profile, middle, atol=1e-8)
    np.testing.assert_allclose(profile["x"], fields["x"])
    assert result.nusselt["hot"].dims == ("z",)
    assert result.nusselt["hot"].max() == pytest.approx(result.heat["nusselt_largest"])
    residuals = result.residuals
    assert residuals["heat"][-1] <= 1e-6 < residuals["heat"][0]
    assert residuals["step"][-1] == result.summary["steps"]


def test_a_flow_begins_where_another_ended(result: Any) -> None:
    """On any grid, given as a dataset in any order or as plain arrays, in its own box."""
    again = simulate(start=result.fields.transpose("x", "y", "z"))
    assert again.summary["steps"] < result.summary["steps"] / 3
    np.testing.assert_allclose(again.fields["T"], result.fields["T"], atol=1e-4)
    arrays = {name: result.fields[name].values for name in (*"xyz", *"puvwT")}
    case = gs.cavity.build_case((20, 1, 20), AIR, FLAT, start=arrays)
    other = gs.cavity.build_case((20, 1, 20), AIR, FLAT, start=arrays | {"u": arrays["u"] + 1})
    assert case.digest() != other.digest()
    with gs.Simulation(case) as simulation:
        assert float(np.abs(simulation.fields["w"]).max()) > 0.05


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda a: {"p": a["p"]}, r"start\.flow: lacks x, y, z, u, v, w, T"),
        (lambda a: a | {"T": a["T"][1:]}, r"start\.flow\.T = .*must be an array \(13, 3, 15\)"),
        (lambda a: a | {"T": a["T"].astype(str)}, r"start\.flow\.T = .*of numbers"),
        (lambda a: a | {"x": a["x"][None]}, r"start\.flow\.x = .*must be an array \(15,\)"),
        (lambda a: "absent.nc", r"start\.flow = .absent\.nc.: does not exist"),
        (lambda a: 3, r"start\.flow = 3: must be the name of a file"),
    ],
)
def test_flows_that_cannot_begin_are_refused(result: Any, change: Any, told: str) -> None:
    arrays = {name: result.fields[name].values for name in (*"xyz", *"puvwT")}
    with pytest.raises(CaseError, match=told):
        gs.cavity.build_case((13, 1, 11), AIR, FLAT, start=change(arrays))


@pytest.mark.parametrize("size", [1e-239, 1e102])
def test_boxes_beyond_floating_point_numbers_are_refused(size: float) -> None:
    with pytest.raises(
        CaseError, match=r"grid\.size\[0\] = .*give a magnitude from 1e-30 to 1e\+30"
    ):
        gs.cavity.build_case((13, 1, 11), AIR, FLAT, size=(size, 1, 1))
    setup = prepare(gs.cavity.build_case((13, 1, 11), AIR, FLAT, size=(1e-30, 1e30, 1)))
    assert np.isfinite([setup.scales.rayleigh, setup.finest.layer, setup.dt]).all()


def test_a_flow_of_another_box_is_refused(
    result: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # no other process writes there
    with pytest.raises(InputError, match=r"start\.flow has a box of 1 x 1 x 1, not 2 x 1 x 1"):
        simulate(start=result.fields, size=(2, 1, 1))
    broken = result.fields.copy(deep=True)
    broken["T"][3, 1, 3] = np.nan
    with pytest.raises(InputError, match=r"T in start\.flow is not finite"):
        simulate(start=broken)
    assert not list(tmp_path.glob("groundswell-*"))


def test_results_that_were_not_written_are_told() -> None:
    sides = {name: {"kind": "adiabatic"} for name in ("west", "east", "bottom")}
    lid = {"kind": "adiabatic", "velocity": [1, 0, 0]}
    walls = {**FLAT, **sides, "top": lid}
    fluid = {"kind": "reynolds", "reynolds": 10}
    section = {"time": {"tolerance": 1e-2}, "output": {"fields": False}}
    result = gs.cavity.simulate((7, 1, 7), fluid, walls, **section)
    with pytest.raises(InputError, match=r"flow\.nc does not exist; .* output\.fields = true"):
        _ = result.fields
    with pytest.raises(InputError, match="no pair of heated walls"):
        _ = result.nusselt


def test_a_temporary_folder_lives_as_long_as_its_result() -> None:
    result = gs.cavity.simulate((7, 1, 7), AIR, FLAT, time={"tolerance": 1e-2})
    folder, fields = result.folder, result.fields
    assert (folder / "summary.json").is_file()
    del result
    gc.collect()
    assert not folder.exists() and float(fields["T"].max()) == 0.5  # arrays stay
