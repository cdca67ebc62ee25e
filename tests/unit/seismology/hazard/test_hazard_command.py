"""`groundswell hazard` from its input to its files, and inputs that it refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hazard_inputs import CASE, MAGNITUDES, RATES, motion, write_inputs

from groundswell.cli import main
from groundswell.errors import CaseError, InputError
from groundswell.seismology.hazard.analysis import compute
from groundswell.seismology.hazard.case import load_hazard_case
from groundswell.seismology.hazard.command import run_hazard
from groundswell.seismology.hazard.curves import probability
from groundswell.seismology.hazard.exceedance import Samples
from groundswell.seismology.hazard.measures import GRAVITY

Capture = pytest.CaptureFixture[str]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the analysis."""
    path = write_inputs(tmp_path_factory.mktemp("hazard"))
    return run_hazard(path, pictures=False).folder


def test_curves_are_sums_over_ruptures_and_branches(folder: Path) -> None:
    """Against plain counts of the simulations, and the lognormal fit."""
    with xr.open_dataset(folder / "hazard.nc", engine="h5netcdf") as curves:
        levels = curves["level"].sel(measure="pga").values
        rates = curves["branch_rate"].sel(measure="pga").values
        mean = curves["rate"].sel(measure="pga").values
        chance = curves["probability"].sel(measure="pga").values
        weights = curves["weight"].values
    pga = motion()
    counted = [
        [sum(nu * (pga[r, :, s] > x).mean() for r, nu in enumerate(RATES)) for x in levels]
        for s in range(pga.shape[2])
    ]
    assert rates[0] == pytest.approx(np.array(counted))
    fit = Samples(pga).lognormal()
    assert rates[1][2] == pytest.approx(np.array(RATES) @ fit.probabilities(2, levels))
    assert weights.tolist() == [0.75, 0.25]
    assert mean == pytest.approx(0.75 * rates[0] + 0.25 * rates[1])
    assert chance == pytest.approx(probability(mean, 50))


def test_the_map_lies_on_the_curves(folder: Path) -> None:
    with xr.open_dataset(folder / "hazard.nc", engine="h5netcdf") as curves:
        for years in (100, 475):
            for n, site in enumerate(curves["site"].values):
                one = curves.sel(measure="pgv", site=site)
                value = float(one["map"].sel(return_period=years))
                rate = np.interp(np.log(value), np.log(one["level"]), np.log(one["rate"] + 1e-99))
                assert np.exp(rate) == pytest.approx(1 / years, rel=1e-6)
                table = rows_of(folder / "maps.csv")[n]
                assert float(table[f"pgv {years} years (cm/s)"]) == pytest.approx(
                    100 * value, rel=1e-5
                )


def test_tables_hold_the_same_numbers(folder: Path) -> None:
    table = rows_of(folder / "curves_pga.csv")
    assert len(table) == 4 * 30 and list(table[0]) == [
        *("site", "longitude", "latitude", "pga (g)", "rate", "probability", "rate_16", "rate_84")
    ]
    with xr.open_dataset(folder / "hazard.nc", engine="h5netcdf") as curves:
        one = curves.sel(measure="pga", site="S1")
        mine = [row for row in table if row["site"] == "S1"]
        levels = np.array([float(row["pga (g)"]) for row in mine])
        assert levels == pytest.approx(one["level"].values / GRAVITY, rel=1e-5)
        rates = np.array([float(row["rate_84"]) for row in mine])
        assert rates == pytest.approx(one["rate_fractile"].values[1], rel=1e-5)


def test_disaggregation_adds_up(folder: Path) -> None:
    bins = rows_of(folder / "disaggregation_S1_pga.csv")
    assert sum(float(row["share"]) for row in bins) == pytest.approx(1, abs=1e-4)
    assert {float(row["magnitude_from"]) for row in bins} <= {6.0, 6.5, 7.0}
    ruptures = rows_of(folder / "ruptures_S1_pga.csv")
    assert {row["rupture"] for row in ruptures} == {"R0", "R1", "R2"}
    assert sum(float(row["rate"]) for row in ruptures) == pytest.approx(1 / 475, rel=0.2)


def test_the_summary(folder: Path) -> None:
    summary = json.loads((folder / "hazard.json").read_text())
    assert all((folder / name).is_file() for name in summary["files"])
    branch = summary["branches"][0]
    assert branch["rate"] == pytest.approx(sum(RATES)) and branch["weight"] == 0.75
    moments = [10 ** (1.5 * m + 9.1) for m in MAGNITUDES]
    assert branch["moment_rate"] == pytest.approx(np.dot(moments, RATES))


def test_pictures(tmp_path: Path) -> None:
    few = {"measures": ["rotd50(1)", "rotd50(3)"], "return_periods": [475], "output.sites": ["S1"]}
    found = run_hazard(write_inputs(tmp_path), settings={**few, "output.openquake": False})
    assert sorted(path.name for path in found.folder.glob("*.png")) == [
        *("curves_rotd50-1s.png", "curves_rotd50-3s.png"),
        *("disaggregation_S1_rotd50-1s.png", "disaggregation_S1_rotd50-3s.png"),
        *("map_rotd50-1s_475.png", "map_rotd50-3s_475.png", "spectrum_S1.png"),
    ]


# --- tables for OpenQuake -----------------------------------------------------------------------


def test_openquake_curves(folder: Path) -> None:
    lines = (folder / "openquake" / "hazard_curve-mean-SA(1.0).csv").read_text().splitlines()
    comment, header, *rows = csv.reader(lines)
    assert comment[0] == "#" and len(comment) == len(header) == 3 + 30
    assert "investigation_time=50.0, imt='SA(1.0)'" in comment[-1] and "kind='mean'" in comment[-1]
    with xr.open_dataset(folder / "hazard.nc", engine="h5netcdf") as curves:
        one = curves.sel(measure="rotd50(1)")
        levels = [float(name.removeprefix("poe-")) for name in header[3:]]
        assert levels == pytest.approx(one["level"].values / GRAVITY, abs=1e-7)
        values = np.array(rows, float)
        assert values[:, 3:] == pytest.approx(one["probability"].values, rel=1e-6)
        assert values[:, 0] == pytest.approx(one["longitude"].values)


def test_openquake_fields_and_events(folder: Path) -> None:
    fields = rows_of(folder / "openquake" / "gmf-data_0.csv")
    assert list(fields[0]) == [
        *("site_id", "event_id", "gmv_PGA", "gmv_PGV", "gmv_SA(1.0)", "gmv_SA(3.0)")
    ]
    pga = motion()
    assert len(fields) == pga.size
    for row in fields[:: len(fields) // 17]:
        rupture, variation = divmod(int(row["event_id"]), pga.shape[1])
        wanted = pga[rupture, variation, int(row["site_id"])]
        assert float(row["gmv_PGA"]) == pytest.approx(wanted / GRAVITY, rel=1e-5)
    events = rows_of(folder / "openquake" / "events_0.csv")
    assert sum(float(row["annual_rate"]) for row in events) == pytest.approx(sum(RATES))
    sites = rows_of(folder / "openquake" / "sites.csv")
    assert list(sites[0]) == ["site_id", "lon", "lat", "vs30"] and len(sites) == 4
    assert not (folder / "openquake" / "gmf-data_1.csv").exists()  # the fit has no fields


# --- the command ----------------------------------------------------------------------------------


def test_the_command_prints_levels(tmp_path: Path, capsys: Capture) -> None:
    path = str(write_inputs(tmp_path))
    only = ["--no-pictures", "--set", 'measures=["pga"]', "--set", "output.openquake=false"]
    assert main(["hazard", path, *only, "--output", str(tmp_path / "here")]) == 0
    text = capsys.readouterr().out
    assert "Two faults" in text and "Peak ground acceleration" in text and "(475 years)" in text
    assert main(["hazard", path, *only, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"] == {"measures": '["pga"]', "output.openquake": "false"}
    assert found["folder"] == str(tmp_path / "hazard")
    assert not [name for name in found["files"] if name.endswith(".png")]
    assert {each["site"] for each in found["levels"]} == {"S0", "S1"}


def test_files_of_an_earlier_analysis_go(tmp_path: Path) -> None:
    path = write_inputs(tmp_path)
    settings = {"measures": ["pgv"], "output.openquake": False}
    first = run_hazard(path, pictures=False, settings={"output.openquake": False}).folder
    (first / "notes.txt").touch()
    assert (first / "curves_pga.csv").exists()
    assert run_hazard(path, pictures=False, settings=settings).folder == first
    assert not (first / "curves_pga.csv").exists() and (first / "curves_pgv.csv").exists()
    assert (first / "notes.txt").exists()


def test_two_models_of_ruptures_are_branches(tmp_path: Path) -> None:
    path = write_inputs(tmp_path)
    table = (tmp_path / "ruptures.csv").read_text()
    (tmp_path / "faster.csv").write_text(table.replace(",0.01,", ",0.02,"))
    more = '[[ruptures]]\nname = "faster"\nfile = "faster.csv"\nweight = 3\n'
    path.write_text(CASE.replace("[[intensities]]", f"{more}\n[[intensities]]", 1))
    hazard = compute(load_hazard_case(path, {"output.openquake": False}))
    assert [branch.name for branch in hazard.branches] == [
        *("ruptures / simulated", "ruptures / fit", "faster / simulated", "faster / fit")
    ]
    weights = [branch.weight for branch in hazard.branches]
    assert weights == pytest.approx([0.25 * 0.75, 0.25 * 0.25, 0.75 * 0.75, 0.75 * 0.25])
    assert hazard.curves["rate"].max() == pytest.approx(0.25 * 0.0138 + 0.75 * 0.0238)


def test_levels_out_of_range_are_a_warning(tmp_path: Path) -> None:
    path = write_inputs(tmp_path)
    narrow = {"levels.pga": ["1e-5 g", "1e-4 g"], "return_periods": [475]}
    warnings = compute(load_hazard_case(path, narrow)).warnings
    assert warnings[0].startswith("pga at 475 years is outside the range of levels at 4 of 4 sites")
    assert warnings[1].startswith("no disaggregation of pga at S1") and len(warnings) == 2


def test_what_cannot_be_disaggregated_is_a_warning(tmp_path: Path) -> None:
    frequent = {"disaggregation.return_period": 2}
    first = compute(load_hazard_case(write_inputs(tmp_path), frequent)).warnings[0]
    assert first.startswith("no disaggregation of pga at S1: the curve does not reach a return")


def test_sites_that_no_rupture_shakes_are_a_warning(tmp_path: Path) -> None:
    high: dict[str, object] = {f"levels.{key}": ["100 g", "200 g"] for key in ("pga", "psa")}
    high |= {"levels.pgv": [1e3, 2e3], "intensities.1.distribution": "samples"}
    case = load_hazard_case(write_inputs(tmp_path), high)
    first = compute(case).warnings[0]
    assert first.startswith("no rupture reaches the levels at 4 of 4 sites; check their")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"pga", "pgv"', '"pga", "pga"', "measures[1] = .*is in the list already"),
        ('"pga", "pgv"', '"pga(", "pgv"', "is not an intensity measure"),
        ('measures = ["pga", "pgv", "rotd50(1.0)", "rotd50(3.0)"]', "", "measures: is required"),
        ("[[ruptures]]", "[[rupture]]", 'did you mean "ruptures"'),
        ('file = "ruptures.csv"', 'file = "none.csv"', "does not exist"),
        ('file = "ruptures.csv"', 'file = "ruptures.csv"\nspacing = 3', "is for NRML files only"),
        ("weight = 0.75", "weight = 0", "weight = 0: must be greater than 0"),
        ('distribution = "lognormal"', 'distribution = "normal"', "must be"),
        ('distribution = "lognormal"', 'model = "BSSA14"', "give only one of file and model"),
        ('distribution = "lognormal"', "truncation = 3", "truncation = 3: is not for a file"),
        ('name = "fit"', 'name = "simulated"', "is the name of another branch"),
        ('sites = ["S1"]', 'sites = ["S9"]', 'no site is called "S9"'),
        ('sites = ["S1"]', "sites = []", "must not be empty"),
        ("count = 30", 'pga = ["1 g", "0.1 g"]', "must go from a lower to a higher level"),
        ("count = 30", 'pga = ["1 s", "2 s"]', "is not an acceleration"),
        ('relief = "relief.nc"', 'relief = "intensities.nc"', "a relief needs a variable"),
        ('"faults.gmt"', '"ruptures.csv"', "must be a file"),
        ("return_period = 475", "return_period = -1", "must be greater than 0"),
    ],
)
def test_inputs_that_are_refused(tmp_path: Path, old: str, new: str, reason: str) -> None:
    assert old in CASE
    path = write_inputs(tmp_path, CASE.replace(old, new, 1))
    with pytest.raises(InputError, match=reason.replace("[", r"\[").replace("]", r"\]")):
        run_hazard(path)
    assert not (tmp_path / "hazard").exists()


@pytest.mark.parametrize(
    ("sites", "reason"),
    [
        ("longitude = [1, 2]", "give a file, or points"),
        ("longitude = [1, 2]\nlatitude = [3, 4]\npoints = [0, 1]", "must be at least 1"),
        ("longitude = [2, 1]\nlatitude = [3, 4]\npoints = [2, 2]", "from a lower to a higher"),
        ("x = [1, 2]\nlatitude = [3, 4]\npoints = [2, 2]", "give a file, or points"),
        ("vs30 = -1", "must be greater than 0"),
    ],
)
def test_sites_that_are_refused(tmp_path: Path, sites: str, reason: str) -> None:
    path = write_inputs(tmp_path, CASE.replace("[levels]", f"[sites]\n{sites}\n[levels]"))
    with pytest.raises(CaseError, match=reason):
        load_hazard_case(path)


def test_models_need_sites(tmp_path: Path) -> None:
    case = CASE.split("[[intensities]]")[0] + '[[intensities]]\nmodel = "BSSA14"\n'
    with pytest.raises(CaseError, match="sites: is required without simulated intensities"):
        load_hazard_case(write_inputs(tmp_path, case))
