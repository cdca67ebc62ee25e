"""Strain Green tensors: seismograms of a rupture against a run with it, and what may go wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import h5py
import numpy as np
import pytest
from result_comparison import result_arrays
from small_green import (
    PLACE,
    SECTIONS,
    filtered,
    force_case,
    make_rupture,
    rupture_case,
    rupture_section,
)
from variants import long_variants

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.errors import CaseError, InputError, Interrupted
from groundswell.seismology.formats.seismograms import read_seismograms
from groundswell.seismology.green.command import Rupture, synthesize
from groundswell.simulation.exchanging import part_of
from groundswell.simulation.result import Result
from groundswell.simulation.session import RunSession
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.halo import decompose_grid
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.strain_points import StrainTable
from groundswell.solvers.earthquake.warnings import warnings

FILE = "strain_green_tensor.h5"
POSITIONS = [[710.0, 640.0, 330.0], [333.3, 471.0, 12.0]]


def run(content: dict[str, Any], folder: Path) -> Path:
    gs.run(EarthquakeCase.from_dict(content), folder=folder, quiet=True)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("green")


@pytest.fixture(scope="module")
def srf(folder: Path) -> Path:
    return make_rupture(folder / "rupture.srf")


@pytest.fixture(scope="module")
def forward(folder: Path, srf: Path) -> Path:
    return run(rupture_case(srf), folder / "forward")


@pytest.fixture(scope="module")
def runs(folder: Path, srf: Path) -> list[Path]:
    recorded = {"rupture": rupture_section(srf), "components": "shear"}
    return [run(force_case(axis, recorded), folder / f"force_{axis}") for axis in range(3)]


def synthetic_error(tensors: list[Path], srf: Path, forward: Path, folder: Path) -> float:
    """Largest difference of seismograms, over the peak of the forward run's."""
    backend = open_backend("cpu")
    synthesize(tensors, Rupture(srf), folder, backend, dtype="float64")
    found, (times, exact) = read_seismograms(folder / "seismograms.h5"), filtered(forward)
    steps = np.rint((times - found["time"].values[0]) / (times[1] - times[0])).astype(int)
    both = (steps >= 0) & (steps < found.sizes["time"])
    assert both.sum() > 70
    assert found["time"].values[steps[both]] == pytest.approx(times[both], abs=1e-9)
    difference = found.values[0][:, steps[both]] - exact[:, both]
    return float(np.abs(difference).max() / np.abs(exact).max())


def test_seismograms_of_an_srf_rupture_are_those_of_a_run_with_it(
    runs: list[Path], srf: Path, forward: Path, tmp_path: Path
) -> None:
    assert synthetic_error(runs, srf, forward, tmp_path) < 1e-12


def test_runs_of_a_session_share_the_table_of_strains(
    runs: list[Path], srf: Path, tmp_path: Path
) -> None:
    recorded = {"rupture": rupture_section(srf), "components": "shear"}
    session = RunSession()
    with patch.object(StrainTable, "of", wraps=StrainTable.of) as made:
        for axis in range(2):
            case = EarthquakeCase.from_dict(force_case(axis, recorded))
            gs.run(case, folder=tmp_path / str(axis), session=session)
    assert made.call_count == 1
    for axis in range(2):
        with h5py.File(tmp_path / str(axis) / FILE) as found, h5py.File(runs[axis] / FILE) as alone:
            assert np.array_equal(found["strain"][:], alone["strain"][:])


def test_the_whole_tensor_gives_the_same(
    srf: Path, forward: Path, runs: list[Path], tmp_path: Path
) -> None:
    recorded = {"rupture": rupture_section(srf)}
    first = run(force_case(0, recorded), tmp_path / "x")
    whole, shear = (h5py.File(path / FILE) for path in (first, runs[0]))
    with whole, shear:
        sums = np.einsum("pkc,pct->pkt", shear["basis"][:], whole["strain"][:])
        peak = np.abs(sums).max()
        assert np.abs(sums - shear["strain"][:]).max() < 1e-12 * peak


def test_samples_of_an_interval_are_those_of_whole_steps(
    runs: list[Path], srf: Path, tmp_path: Path
) -> None:
    recorded = {"rupture": rupture_section(srf), "components": "shear", "interval": 0.024}
    run(force_case(0, recorded), tmp_path)
    with h5py.File(tmp_path / FILE) as found, h5py.File(runs[0] / FILE) as every:
        assert np.array_equal(found["strain"][:], every["strain"][..., ::3])
        assert np.array_equal(found["time"][:], every["time"][::3])


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        ({"precision": "single"}, 2e-5),
        *long_variants([({"precision": "single", "memory": "half"}, 2e-3)]),
    ],
)
def test_single_precision_and_half_memory_cost_little(
    options: dict[str, str], limit: float, srf: Path, tmp_path: Path
) -> None:
    recorded = {"rupture": rupture_section(srf), "components": "shear"}
    tensors = [
        run(force_case(axis, recorded, run=options), tmp_path / f"{axis}") for axis in range(3)
    ]
    forward = run(rupture_case(srf, run=options), tmp_path / "forward")
    assert synthetic_error(tensors, srf, forward, tmp_path / "found") < limit


def test_classes_of_materials_change_nothing(runs: list[Path], srf: Path, tmp_path: Path) -> None:
    recorded = {"rupture": rupture_section(srf), "components": "shear"}
    options = {"precision": "double", "materials": "classes"}
    run(force_case(0, recorded, run=options), tmp_path)
    assert result_arrays(tmp_path) == result_arrays(runs[0])


RESUME = """
import json
import sys

import groundswell as gs
from groundswell.solvers.earthquake import EarthquakeCase

case = EarthquakeCase.from_dict(json.load(open(sys.argv[1])))
gs.run(case, folder=sys.argv[2], resume=True, quiet=True)
"""


def assert_split(case: EarthquakeCase) -> None:
    """Some strains of a case have values on several of four ranks, and some have not."""
    setup = prepare(case)
    assert setup.green is not None
    table, blocks = StrainTable.of(setup.ground, setup.green.points), decompose_grid(setup, 4)
    owned = [table.owned(part_of(setup.grid, blocks, rank)) for rank in range(4)]
    assert (np.sum(owned, axis=0) == 1).all()
    whole = np.any([table.rows.all_in(own) for own in owned], axis=0)
    assert 0 < whole.sum() < len(whole)


def test_a_run_continues_on_other_ranks_bit_by_bit(
    runs: list[Path], srf: Path, on_ranks: Callable[..., str], tmp_path: Path
) -> None:
    """The blocks of four ranks cut through the rupture."""
    recorded = {"rupture": rupture_section(srf), "components": "shear"}
    content, results = force_case(0, recorded), tmp_path / "results"
    stop = gs.every(41, lambda live: live.stop())
    with pytest.raises(Interrupted):
        case = EarthquakeCase.from_dict(content)
        gs.run(case, folder=results, callbacks=[stop], quiet=True)
    content["run"] = {"precision": "double", "processes": [1, 2, 2]}
    assert_split(EarthquakeCase.from_dict(content))
    (tmp_path / "case.json").write_text(json.dumps(content))
    (tmp_path / "program.py").write_text(RESUME)
    on_ranks(4, tmp_path / "program.py", tmp_path / "case.json", results)
    assert Result(results).summary["resumed_at"] == 41
    assert result_arrays(results) == result_arrays(runs[0])


def test_a_run_needs_a_little_more_memory() -> None:
    from groundswell.solvers.earthquake.cost import estimate

    case = EarthquakeCase.from_dict(force_case(0, {"positions": POSITIONS}))
    none = EarthquakeCase.from_dict(force_case(0, {}, output={"shaking_map": False}))
    assert 0 < estimate(prepare(case)).memory - estimate(prepare(none)).memory < 1e6


# --- bad input ------------------------------------------------------------------------------------


def refused(recorded: dict[str, Any], **sections: Any) -> str:
    with pytest.raises(InputError) as caught:
        content = force_case(0, {"positions": POSITIONS, **recorded}, **sections)
        setup = prepare(EarthquakeCase.from_dict(content))
        from groundswell.solvers.earthquake.solver import Earthquake

        Earthquake(setup, open_backend("cpu"))
    return str(caught.value)


def source(**changes: Any) -> list[dict[str, Any]]:
    return [{**force_case(0, {})["source"][0], **changes}]


EXPLOSION = {"kind": "explosion", "magnitude": 3, **PLACE}
SEA = [{"top": 0.0, "vp": 1500.0, "vs": 0.0, "rho": 1000.0}, *SECTIONS["medium"]["layers"][1:]]


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"source": source() * 2}, "needs exactly one [[source]]"),
        ({"source": source(force=[1e9, 1e9, 0.0])}, "needs a force along one axis"),
        (
            {"source": source(time_function={"kind": "ricker", "frequency": 5.0})},
            "integrates to zero",
        ),
        ({"source": [EXPLOSION | {"time_function": source()[0]["time_function"]}]}, "0 of them"),
    ],
)
def test_the_only_source_is_a_force_with_an_impulse(sections: dict[str, Any], words: str) -> None:
    assert words in refused({}, **sections)


@pytest.mark.parametrize(
    ("position", "words"),
    [
        ([710.0, 640.0, 1200.0], "outside the region"),
        ([-10.0, 640.0, 300.0], "1 of 2 points"),
        ([30.0, 640.0, 300.0], "absorbing layer"),
    ],
)
def test_points_lie_in_the_region_away_from_layers(position: list[float], words: str) -> None:
    found = refused({"positions": [POSITIONS[0], position]})
    assert words in found or "point 2 at" in found
    assert "output.strain_green_tensor" in found


def test_points_lie_in_solids() -> None:
    layers = [{**layer, "qp": 100.0, "qs": 50.0} for layer in SEA]
    found = refused({}, medium={"kind": "layered", "layers": layers})
    assert "in a fluid" in found and "depth = 12 m" in found


def test_points_beside_fluids_are_named() -> None:
    layers = [{**layer, "qp": 100.0, "qs": 50.0} for layer in SEA]
    positions = [[700.0, 600.0, 410.0], [700.0, 600.0, 830.0]]
    content = force_case(0, {"positions": positions}, medium={"kind": "layered", "layers": layers})
    found = warnings(prepare(EarthquakeCase.from_dict(content)))
    assert any("1 point of output.strain_green_tensor within 4 cells" in text for text in found)


def test_the_medium_is_linear() -> None:
    rock = {"model": "drucker-prager", "cohesion": 1e6, "friction_angle": 30.0}
    rock |= {"relaxation_time": 0.05}
    assert "needs a linear medium" in refused({}, plasticity=rock)


@pytest.mark.parametrize(
    ("recorded", "words"),
    [
        ({"file": "missing.csv", "positions": None}, "does not exist"),
        ({"rupture": {"kind": "srf", "file": __file__}}, "give only one of"),
        ({"components": "shear"}, "have no fault plane"),
        ({"interval": 2.0}, "must be at most the duration"),
        ({"station": "US C"}, "letters, digits"),
    ],
)
def test_the_section_is_checked(recorded: dict[str, Any], words: str) -> None:
    given = {"positions": POSITIONS, **recorded}
    with pytest.raises(CaseError, match=words):
        EarthquakeCase.from_dict(force_case(0, {k: v for k, v in given.items() if v is not None}))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("x,y\n700,600\n", "needed are x, y"),
        ("x,y,depth\n700,600\n", "line 2: expected 3 finite numbers"),
        ("x,y,depth\n700,600,deep\n", "line 2: not all cells are numbers"),
        ("x,y,depth\n", "has no rows"),
        ("longitude,latitude,depth\n-117.99,34,300\n", "need [grid.geography]"),
    ],
)
def test_tables_of_points_are_checked(content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text(content)
    recorded = {"file": str(tmp_path / "points.csv")}
    with pytest.raises(InputError) as caught:
        prepare(EarthquakeCase.from_dict(force_case(0, recorded)))
    assert words in str(caught.value)


def test_a_table_with_planes_gives_shear_strains(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text("# subfaults\nx,y,depth,strike,dip\n700,600,300,30,70\n400,500,200,40,80\n")
    recorded = {"file": str(path), "components": "shear"}
    setup = prepare(EarthquakeCase.from_dict(force_case(0, recorded)))
    assert setup.green is not None
    assert setup.green.points.basis.shape == (2, 2, 6)
    path.write_text("x,y,depth\n700,600,300\n")
    with pytest.raises(InputError, match="needs the columns strike and dip"):
        prepare(EarthquakeCase.from_dict(force_case(0, recorded)))
