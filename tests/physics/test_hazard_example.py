"""The example of hazard from strain Green tensors, in a small form."""

from __future__ import annotations

import csv
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray

import groundswell as gs
from groundswell.ensembles import load_plan, run
from groundswell.seismology.hazard.command import run_hazard

EXAMPLE = Path(__file__).parents[2] / "examples" / "hazard"
SITES = ("S06", "S11")
COARSE = {"grid.spacing": "1 km", "time.duration": "30 s"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of the example, made anew, for two sites and three ruptures."""
    target = tmp_path_factory.mktemp("hazard") / "example"
    shutil.copytree(EXAMPLE, target, ignore=shutil.ignore_patterns("*.zarr", "*.nc", "results*"))
    runpy.run_path(str(target / "make_ruptures.py"))["main"]()
    for name in ("subfaults.csv", "ruptures.csv"):
        assert (target / name).read_text() == (EXAMPLE / name).read_text()
    keep_rows(target / "sites.csv", SITES)
    keep_rows(target / "ruptures.csv", ("north-30-00", "north-10-10", "south-18-00"))
    return target


def keep_rows(path: Path, names: tuple[str, ...]) -> None:
    header, *rows = path.read_text().splitlines()
    kept = [row for row in rows if row.split(",")[0] in names]
    path.write_text("\n".join([header, *kept]) + "\n")


def test_slip_releases_the_moment_of_each_magnitude(folder: Path) -> None:
    with (folder / "ruptures.csv").open() as file:
        ruptures = list(csv.DictReader(file))
    assert len(ruptures) == 3
    for rupture in ruptures:
        table = np.genfromtxt(
            folder / "ruptures" / f"{rupture['name']}.csv", delimiter=",", names=True
        )
        moment = 30e9 * float((table["area"] * table["slip"]).sum())
        magnitude = (np.log10(moment) - 9.05) / 1.5
        assert magnitude == pytest.approx(float(rupture["magnitude"]), abs=1e-4)


@pytest.mark.full
def test_hazard_from_tensors(folder: Path) -> None:
    plan = (folder / "plan.toml").read_text()
    coarse = "".join(f'"{path}" = ["{value}"]\n' for path, value in COARSE.items())
    (folder / "plan.toml").write_text(plan + coarse)
    status = run(load_plan(folder / "plan.toml"), workers=2)
    assert status.counts == {"complete": 6, "failed": 0, "missing": 0}
    runpy.run_path(str(folder / "compute_intensities.py"))["main"]()
    with xarray.open_dataset(folder / "intensities.nc") as found:
        spectra = found["rotd50"]
        assert spectra.shape == (3, 24, 2, 5) and bool((spectra > 0).all())
        largest = spectra.max(("variation", "period"))
        assert bool((largest.sel(rupture="north-30-00") > largest.sel(rupture="north-10-10")).any())
    options = {"disaggregation.sites": list(SITES), "output.sites": list(SITES)}
    result = run_hazard(folder / "hazard.toml", settings=options, pictures=False)
    levels = [level["level"] for level in result.summary["levels"]]
    assert all(level > 0 for level in levels if level is not None)


def test_the_case_can_run(folder: Path) -> None:
    found = gs.check(folder / "case.toml")
    assert not found["problems"] and not found["warnings"]
