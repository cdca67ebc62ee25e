"""Every example in a quick form: the same content on a coarser grid, sound and complete.

What the quick forms resolve is no more than a third of a Hertz in soft ground, so the physics is
checked to tens of per cent; `groundswell verify` has the strict comparisons.
"""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path
from typing import Any

import meshio
import numpy as np
import obspy
import pytest
import xarray
from matplotlib.image import imread
from variants import short_and_long

from groundswell.report.pictures import draw_pictures
from groundswell.seismology.formats.shaking_maps import open_surface
from groundswell.seismology.formats.srf import read_srf
from groundswell.seismology.reference.loh import loh_reference
from groundswell.seismology.signals import lowpass, resample
from groundswell.simulation.preparation import check, prepare
from groundswell.simulation.result import Result
from groundswell.simulation.run import run
from groundswell.solvers.dgwave import DgWaveCase
from groundswell.solvers.dgwave.check import warnings
from groundswell.solvers.earthquake import EarthquakeCase

EXAMPLES = Path(__file__).parents[2] / "examples"

# Coarser cells (m), a shorter run (s), and the range in which the largest PGV (m/s) must lie:
# half to three times what attenuation relations and the fine runs say.
QUICK: dict[str, tuple[float, float, tuple[float, float]]] = {
    "la_habra": (400, 14, (0.03, 0.15)),
    "loh1": (200, 9, (8, 40)),
    "loh3": (200, 9, (6, 40)),
    "finite_fault": (400, 12, (0.15, 0.7)),
    "basin": (200, 12, (0.008, 0.04)),
}
LONG = ("loh1", "loh3", "finite_fault", "basin")
every_example = pytest.mark.parametrize("name", short_and_long(QUICK, LONG))


def quick_case(name: str) -> EarthquakeCase:
    """The example's case with coarser cells, thinner layers and a shorter run."""
    folder = EXAMPLES / name
    content = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    spacing, duration, _ = QUICK[name]
    content["grid"]["spacing"] = spacing
    content["time"]["duration"] = duration
    content["boundary"]["width"] = 6
    return EarthquakeCase.from_dict(content, folder)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """Runs by example, made when first asked for."""

    class Runs(dict[str, Result]):
        def __missing__(self, name: str) -> Result:
            self[name] = run(quick_case(name), folder=tmp_path_factory.mktemp(name))
            return self[name]

    return Runs()


def peaks(result: Result) -> xarray.DataArray:
    """Largest horizontal velocity of each station, m/s, by its code."""
    east, north = (result.seismograms.sel(component=c) for c in "EN")
    speed = np.hypot(east, north).max("time")
    return speed.assign_coords(station=speed["code"].values)


# --- all examples --------------------------------------------------------------------------------


def test_every_example_is_tried() -> None:
    cases = {path.parent.name for path in EXAMPLES.glob("*/case.toml")}
    assert cases - {"hazard"} == set(QUICK)  # test_hazard_example.py


@every_example
def test_outputs_are_whole_and_pictures_are_drawn(name: str, results: dict[str, Result]) -> None:
    result = results[name]
    files = result.summary["files"]
    assert {"seismograms.h5", "shaking_map.nc"} <= set(files)
    assert all((result.folder / file).is_file() for file in files)
    velocity = result.seismograms
    assert np.isfinite(velocity).all()
    assert (np.abs(velocity).max(("component", "time")) > 0).all()
    for peak in (result.shaking_map["pgv"], result.shaking_map["pga"]):
        assert np.isfinite(peak).all() and (peak > 0).all()
    if "surface.nc" in files:
        with open_surface(result.folder / "surface.nc") as surface:
            assert np.isfinite(surface["velocity"]).all()
    pictures = [imread(path) for path in draw_pictures(result.folder, pytest.fail)]
    assert len(pictures) == 2 + ("surface.nc" in files)
    assert all(picture[..., :3].std() > 0.05 for picture in pictures)


@every_example
def test_shaking_has_the_expected_size(name: str, results: dict[str, Result]) -> None:
    low, high = QUICK[name][2]
    assert low < float(results[name].shaking_map["pgv"].max()) < high


@pytest.mark.parametrize("name", short_and_long(["la_habra", "loh1", "loh3", "basin"], LONG))
def test_nothing_moves_before_the_fastest_wave(name: str, results: dict[str, Result]) -> None:
    """The first motion comes no earlier than P, and not much later than P through the slowest."""
    result = results[name]
    velocity, found = result.seismograms, result.summary["case"]
    for station in velocity:
        across = [float(station[c]) - velocity.attrs[f"event_{c}"] for c in ("x", "y", "depth")]
        earliest = float(np.linalg.norm(across)) / found["vp_max"]
        strength = np.abs(station).max("component")
        early = strength.where(strength["time"] < 0.95 * earliest, drop=True)
        assert float(early.max()) < 0.01 * float(strength.max())
        moving = strength.where(strength > 0.02 * strength.max(), drop=True)
        onset = float(moving["time"][0])
        assert onset < 2.5 * earliest + 0.5


@pytest.mark.full
def test_the_sediments_of_the_basin_yield(tmp_path: Path) -> None:
    """With coarser cells, near the source alone; the rock does not yield."""
    folder = EXAMPLES / "basin"
    content = tomllib.loads((folder / "yielding.toml").read_text(encoding="utf-8"))
    content["grid"]["spacing"], content["time"]["duration"] = 250, 6
    content["boundary"]["width"] = 6
    result = run(EarthquakeCase.from_dict(content, folder), folder=tmp_path)
    strain = result.plastic_strain.plastic_strain
    assert 0.02 < float((strain > 0).mean()) < 0.3 and 1e-4 < float(strain.max()) < 1e-2
    away = np.hypot((strain.x - 8e3) / 5e3, (strain.y - 6e3) / 3.5e3)
    assert float(strain.where(away > 1.15).max()) == 0
    assert len(draw_pictures(result.folder, pytest.fail)) == 3


# --- each one's point ----------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["dgwave", "earthquake"])
def test_the_pair_of_methods_can_run(solver: str) -> None:
    """With the changes that compare.py makes."""
    path = EXAMPLES / "dgwave" / "earthquake.toml"
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    if solver == "earthquake":
        content["solver"], content["grid"]["spacing"] = solver, "125 m"
        del content["method"]
    kind = DgWaveCase if solver == "dgwave" else EarthquakeCase
    assert check(kind.from_dict(content))["warnings"] == []


def on_its_mesh(problem: str, mesh: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The set-up of an example of ruptures, on the mesh that its script makes."""
    scripts = EXAMPLES / "rupture"
    monkeypatch.syspath_prepend(str(scripts))
    made = runpy.run_path(str(scripts / f"make_{mesh}.py"))["build"]()
    meshio.gmsh.write(folder / f"{mesh}.msh", made, "2.2", binary=True)
    content = tomllib.loads((scripts / f"{problem}.toml").read_text(encoding="utf-8"))
    return prepare(DgWaveCase.from_dict(content, folder))


def test_tpv10_can_run_on_the_mesh_of_its_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault dips towards smaller y, and its patch is loaded above the strength."""
    setup = on_its_mesh("tpv10", "dipping_fault", tmp_path, monkeypatch)
    [fault] = setup.faults.faults
    points, given = fault.points, fault.conditions
    assert points.area.sum() == pytest.approx(30e3 * 15e3)
    assert np.ptp(points.down_dip) == pytest.approx(15e3)
    assert points.position[:, 2] == pytest.approx(points.down_dip * np.sin(np.radians(60)))
    assert points.position[:, 1] == pytest.approx(-points.position[:, 2] / np.tan(np.radians(60)))
    assert points.strike == pytest.approx(np.tile([1.0, 0, 0], (len(points), 1)))
    assert (given.shear_updip <= 0).all() and np.abs(given.shear_strike).max() < 1
    breaks = -given.shear_updip > 0.76 * given.normal_stress + 0.2e6
    assert points.area[breaks].sum() == pytest.approx(3e3 * 3e3)


def test_tpv24_can_run_on_the_mesh_of_its_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both faults are loaded right-laterally; the branch turns by 30 degrees to smaller y."""
    setup = on_its_mesh("tpv24", "branching_fault", tmp_path, monkeypatch)
    main, branch = setup.faults.faults
    for fault, length in ((main, 28e3), (branch, 12e3)):
        points, given = fault.points, fault.conditions
        assert points.area.sum() == pytest.approx(length * 15e3)
        assert (given.shear_strike <= 0).all()  # rake 180
        assert np.abs(given.shear_updip).max() < 1
    assert main.points.position[:, 1] == pytest.approx(0, abs=1e-6)
    ends = main.points.position[:, 0].min(), main.points.position[:, 0].max()
    assert ends == pytest.approx((-16e3, 12e3))
    x, y, _ = branch.points.position.T
    assert y == pytest.approx(-x * np.tan(np.radians(30)), abs=1e-6)
    # shear over normal stress of the branch: that of the tensor, turned
    cosine, sine = np.cos(np.radians(60)), np.sin(np.radians(60))  # of twice the angle
    level, half = (0.926793 + 1.073206) / 2, (1.073206 - 0.926793) / 2
    normal = level + half * cosine - 0.169029 * sine
    shear = half * sine + 0.169029 * cosine
    deep = branch.points.position[:, 2] > 1
    ratio = -branch.conditions.shear_strike[deep] / branch.conditions.normal_stress[deep]
    assert ratio == pytest.approx(shear / normal, rel=1e-5)
    assert [text for text in warnings(setup) if "nothing starts" in text] == []


@pytest.mark.full
def test_two_methods_agree(tmp_path: Path) -> None:
    compare = runpy.run_path(str(EXAMPLES / "dgwave" / "compare.py"))["compare"]
    assert compare(tmp_path, degree=3, spacing="250 m") < 0.1
    assert imread(tmp_path / "compare.png")[..., :3].std() > 0.05


def test_la_habra_has_an_origin_time_and_decays_with_distance(results: dict[str, Result]) -> None:
    result = results["la_habra"]
    assert str(result.stream[0].stats.starttime).startswith("2014-03-29T04:09:42.97")
    strongest = peaks(result)
    assert strongest.idxmax() == "OLI"
    assert strongest.sel(station="OLI") > 3 * strongest.sel(station="PSR")
    traces = obspy.read(str(result.folder / "seismograms.mseed"))
    assert len(traces) == 3 * len(strongest)
    assert {trace.stats.sampling_rate for trace in traces} == {20.0}
    sac = obspy.read(str(result.folder / "sac" / "CI.OLI..BHZ.sac"))[0].stats.sac
    assert sac.mag == pytest.approx(5.1)
    assert sac.evdp == pytest.approx(5.0)
    assert sac.dist == pytest.approx(2.65, abs=0.1)  # km, by ObsPy from the coordinates


@pytest.mark.full
@pytest.mark.parametrize("name", ["loh1", "loh3"])
def test_loh_resembles_its_reference(name: str, results: dict[str, Result]) -> None:
    """Below 1 Hz, where even 200 m cells have ten points per wavelength.

    The radial component of the LOH.1 reference carries a ripple of its own.
    """
    station = results[name].seismograms[9]
    assert station["code"] == "S10"
    east, north, up = station.values.astype(float)
    found = np.stack([0.6 * east + 0.8 * north, 0.6 * north - 0.8 * east, -up])
    time = station["time"].values
    own_time, reference = loh_reference(name)
    smooth = lowpass(reference, own_time[1] - own_time[0], 1.0)
    expected = resample(own_time, smooth, time)
    error = lowpass(found, time[1] - time[0], 1.0) - expected
    misfit = np.linalg.norm(error, axis=-1) / np.linalg.norm(expected, axis=-1)
    assert (misfit < (0.22, 0.08, 0.15)).all(), misfit


@pytest.mark.full
def test_attenuation_weakens_what_the_layer_guides(results: dict[str, Result]) -> None:
    ratio = peaks(results["loh3"]) / peaks(results["loh1"])
    assert (ratio < 1).all()
    assert ratio.sel(station="S10") < ratio.sel(station="S01")


@pytest.mark.full
def test_a_rupture_shakes_harder_ahead_of_it(results: dict[str, Result]) -> None:
    found = peaks(results["finite_fault"])
    assert found.sel(station="AHEAD") > 2.5 * found.sel(station="REAR")
    sides = found.sel(station=["SIDE1", "SIDE3"])  # mirror images in the fault's plane
    assert sides[0] == pytest.approx(float(sides[1]), rel=0.05)


@pytest.mark.full
def test_sediments_amplify(results: dict[str, Result]) -> None:
    found = peaks(results["basin"])
    assert found.sel(station="L05") > 3 * found.sel(station="NORTH")
    assert found.sel(station="L06") > 2 * found.sel(station="L08")


# --- data files ----------------------------------------------------------------------------------


def test_the_basin_is_what_its_script_makes() -> None:
    made = runpy.run_path(str(EXAMPLES / "basin" / "make_model.py"))["build"]()
    with xarray.open_dataset(EXAMPLES / "basin" / "basin.nc", engine="h5netcdf") as stored:
        xarray.testing.assert_allclose(stored, made, rtol=1e-5)


def test_the_rupture_is_what_its_script_makes() -> None:
    made = runpy.run_path(str(EXAMPLES / "finite_fault" / "make_rupture.py"))["build"]()
    stored = read_srf(EXAMPLES / "finite_fault" / "rupture.srf")
    for name in ("longitude", "latitude", "depth", "onset", "slip", "rates"):
        np.testing.assert_allclose(getattr(stored, name), getattr(made, name), rtol=1e-6, atol=1e-6)
    assert stored.planes == made.planes
