"""DG waves: time series of faults at points, and their slip as a kinematic source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dgwave_cases import build, setup
from mesh_faults import fault_mesh, on_mesh
from small_ruptures import CHANGES, FAULT, ROCK

import groundswell as gs
from groundswell.errors import CaseError, InputError, Interrupted
from groundswell.report.pictures import draw_pictures
from groundswell.seismology.faults.subfaults import FaceQuadrature
from groundswell.seismology.formats.fault_series import HISTORY, SERIES
from groundswell.seismology.formats.srf import read_srf

POINTS = [
    {"name": "middle", "along_strike": 10.0, "down_dip": 180.0},
    {"name": "edge", "along_strike": "-0.2 km", "down_dip": 95.0, "fault": "main"},
    {"name": "top", "along_strike": 100.0, "down_dip": 0.0},
]
OUTPUT = {
    "fault_points": {"point": POINTS, "formats": ["netcdf", "scec"]},
    "rupture": {"interval": 0.009},
    "film": True,
}
FIELDS = ("rate_strike", "rate_updip", "shear_strike", "shear_updip", "normal_stress")


def case(**changes: Any) -> Any:
    return build(**{**CHANGES, "output": OUTPUT, "title": "small", **changes})


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return gs.run(case(), folder=tmp_path_factory.mktemp("series"))


def nodes_at(fault: Any, point: Any) -> Any:
    """Which points of the map are where a point of the series is."""
    away = [fault[name] - float(point[name]) for name in ("along_strike", "down_dip")]
    return np.flatnonzero(np.hypot(*away) < 1e-3)


def test_a_film_shows_the_rupture(result: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundswell.plotting.film.MOST_FRAMES", 4)
    monkeypatch.setenv("PATH", "")  # without ffmpeg
    assert result.folder / "fault_slip_rate.gif" in draw_pictures(result.folder, pytest.fail)


def test_series_are_those_of_the_map(result: Any) -> None:
    """The map's last values, its peaks and its slip belong to the same node."""
    series, fault = result.fault_points, result.fault
    assert [str(name) for name in series["point"].values] == ["middle", "edge", "top"]
    for n, expected in enumerate([(0, 200), (-200, 100), (100, 0)]):
        point = series.isel(point=n)
        assert (point.along_strike, point.down_dip) == pytest.approx(expected)
        node = nodes_at(fault, point)[0]
        for name in FIELDS:
            assert point[name].values[-1] == fault[name].values[node]
        rate = np.hypot(point.rate_strike, point.rate_updip)
        assert rate.values.max() == pytest.approx(fault.peak_rate.values[node], rel=1e-12)
    assert np.diff(series.time) == pytest.approx(float(series.time[1]))
    middle = series.sel(point="middle")
    dt = float(series.time[1])
    path = np.cumsum(np.hypot(middle.rate_strike, middle.rate_updip).values * dt)
    assert middle.state.values[-1] == pytest.approx(path[-1], rel=0.05)  # a sum over 22 steps
    assert np.abs(middle.slip_strike.values).max() > 0.05


def test_an_interval_takes_every_few_samples(result: Any, tmp_path: Path) -> None:
    dt = float(result.fault_points.time[1])
    output = {"fault_points": {"point": POINTS[:1], "interval": 3.2 * dt}}
    found = gs.run(case(output=output), folder=tmp_path).fault_points
    for name in SERIES:
        assert np.array_equal(found[name][:, 0], result.fault_points[name][::3, 0])


def test_scec_files_have_their_units_and_signs(result: Any) -> None:
    lines = (result.folder / "scec" / "middle.txt").read_text().splitlines()
    assert lines[0] == "# problem = small"
    assert "# location = on fault, 0 km along strike, 0.2 km down-dip" in lines
    names = "t h-slip h-slip-rate h-shear-stress v-slip v-slip-rate v-shear-stress n-stress"
    found = np.loadtxt(lines[lines.index(names) + 1 :])
    point = result.fault_points.sel(point="middle")
    assert found[:, 0] == pytest.approx(point.time.values)
    # Right-lateral and reverse: rake 160.
    assert (found[1:, [1, 3]] > 0).all() and (found[1:, [4, 6]] < 0).all()
    assert (found[1:, 2] >= 0).all() and (found[1:, 5] <= 0).all()
    assert found[:, 1] == pytest.approx(-point.slip_strike.values)
    assert found[:, 6] == pytest.approx(-point.shear_updip.values / 1e6)
    assert found[:, 7] == pytest.approx(-point.normal_stress.values / 1e6)
    text = (result.folder / "scec" / "cplot_main.txt").read_text()
    j, k, t = np.loadtxt(text[text.index("j k t") + 5 :].splitlines()).T
    fault = result.fault
    assert j == pytest.approx(fault.along_strike.values)
    assert k == pytest.approx(fault.down_dip.values)
    times = fault.rupture_time.values
    assert t == pytest.approx(np.where(np.isnan(times), 1e9, times))


def test_the_history_is_the_slip_of_subfaults(result: Any) -> None:
    """Its last sample lies before the end, where the map's slip is that of the source."""
    history, fault = result.rupture, result.fault
    quadrature = FaceQuadrature.of_elements(setup(**CHANGES).degree)
    assert history.sizes["subfault"] == 4 * quadrature.subfaults
    assert float(history.area.sum()) == pytest.approx(400 * 400)
    source = read_srf(result.folder / "rupture.srf")
    names = ("slip_strike", "slip_updip")
    slip = [quadrature.at_subfaults(fault[name].values) for name in names]
    assert np.hypot(*source.slip.T[:2]) == pytest.approx(np.hypot(*slip), rel=1e-6)
    for name, own in zip(names, slip, strict=True):
        whole = float((fault.area * fault[name]).sum())
        assert float(history.area.values @ own) == pytest.approx(whole, rel=1e-9)
    last = np.hypot(*(history[name].values[-1] for name in names))
    assert (last < np.hypot(*slip)).all() and (last > 0.7 * np.hypot(*slip)).all()
    rake = np.degrees(np.arctan2(slip[1], slip[0]))
    assert source.rake == pytest.approx(rake, abs=1e-6)


def test_the_load_does_work_against_friction_and_on_waves(result: Any) -> None:
    """Its work is stress times slip, as it is constant: at each point, to rounding."""
    fault, axis = result.fault, np.radians(160)
    away = np.hypot(fault.along_strike, fault.down_dip - 200)
    load = np.where(away <= 120, 84e6, 70e6)
    done = load * (fault.slip_strike * np.cos(axis) + fault.slip_updip * np.sin(axis))
    total = (fault.work + fault.released).values
    inside = np.abs(away - 120) > 1
    assert total[inside] == pytest.approx(done.values[inside], rel=1e-9, abs=1e-6)
    # Friction resists with at least its dynamic strength.
    path = np.hypot(fault.slip_strike, fault.slip_updip).values
    assert (fault.work.values >= 0.999 * 0.525 * 119e6 * path).all()
    findings = result.summary["findings"]
    assert findings["released_energy"] == pytest.approx(float((fault.released * fault.area).sum()))


def test_the_source_has_the_moment_of_the_map(result: Any) -> None:
    """Along strike and up dip: between few nodes, slip of either sign is interpolated."""
    source, fault = read_srf(result.folder / "rupture.srf"), result.fault
    along, across = source.integrated_slip[:, :2].T
    rake, size = np.radians(source.rake), source.rigidity * source.area
    strike = size @ (along * np.cos(rake) - across * np.sin(rake))
    updip = size @ (along * np.sin(rake) + across * np.cos(rake))
    for name, moment in (("slip_strike", strike), ("slip_updip", updip)):
        assert moment == pytest.approx(float((fault.mu * fault.area * fault[name]).sum()), rel=1e-5)
    assert source.version == "2.0"
    assert source.strike == pytest.approx(np.full(len(source), 90)) and (source.dip == 90).all()
    assert "rupture.srf" in [q["label"] for q in result.summary["findings"]["quantities"]]


def test_a_resumed_run_has_the_same_series(result: Any, tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        gs.run(case(), folder=tmp_path, callbacks=[gs.every(8, lambda live: live.stop())])
    found = gs.run(case(), folder=tmp_path, resume=True)
    assert found.summary["resumed_at"] == 8
    for name in SERIES:
        assert np.array_equal(found.fault_points[name], result.fault_points[name])
    for name in HISTORY:
        assert np.array_equal(found.rupture[name], result.rupture[name])
    for name in ("rupture.srf", "scec/top.txt"):
        assert (found.folder / name).read_bytes() == (result.folder / name).read_bytes()


def faulty(*points: dict[str, Any], **changes: Any) -> dict[str, Any]:
    given = [{**POINTS[0], **point} for point in points]
    return {**CHANGES, "output": {"fault_points": {"point": given}}, **changes}


OTHER = {**FAULT, "name": "other", "plane": {"x": 600.0, "y": [0.0, 200.0], "depth": [0.0, 400.0]}}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (faulty({"along_strike": 5000.0}), "away from the fault"),
        (faulty({"fault": "man"}), "no such fault"),
        (faulty({}, fault=[FAULT, {**OTHER, "hypocenter": None, "patch": []}]), "several"),
        ({"output": {"rupture": {"interval": 0.01}}}, "has no fault"),
        ({"output": {"fault_points": {"point": POINTS[:1]}}}, "has no fault"),
    ],
)
def test_outputs_without_their_fault_are_refused(content: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        setup(**content)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (faulty({}, {}), "names must be unique"),
        (faulty({"name": "a/b"}), "letters, digits"),
        ({**CHANGES, "output": {"rupture": {"interval": 1.0}}}, "at most the duration"),
        ({**CHANGES, "output": {"film": True}}, "nothing to show; record the slip of faults"),
    ],
)
def test_invalid_outputs_are_refused(content: dict[str, Any], text: str) -> None:
    with pytest.raises(CaseError, match=text):
        build(**content)


def test_the_source_radiates_the_waves_of_the_rupture(tmp_path: Path) -> None:
    """Without the fault, S waves of some 400 m are nearly those of faces of 200 m.

    They differ by 6 %, as the load of a source is as wide as an element. Waves of four elements of
    degree 3 differ by less than 1 %.
    """
    slow = {"kind": "forced", "radius": 600.0, "speed": 1e5, "duration": 0.4}
    friction = {**FAULT["friction"], "distance": 10.0}
    fault = {**FAULT, "patch": [], "nucleation": slow, "friction": friction}
    given = {**CHANGES, "fault": [fault], "time__duration": 0.6}
    places = {"A": (100.0, 100.0, 0.0), "B": (700.0, 700.0, 500.0)}
    stations = [{"name": n, "x": x, "y": y, "depth": z} for n, (x, y, z) in places.items()]
    given |= {"receiver": stations, "output": {"rupture": {"interval": 0.01}}}
    rupture = gs.run(build(**given), folder=tmp_path / "rupture")
    x, y, _ = rupture.summary["findings"]["source_start"]
    source = {"kind": "srf", "file": str(rupture.folder / "rupture.srf"), "x": x, "y": y}
    replay = {**given, "fault": [], "source": [source], "output": {}}
    kinematic = gs.run(build(**replay), folder=tmp_path / "kinematic")
    expected, found = (r.seismograms.values for r in (rupture, kinematic))
    samples = min(expected.shape[-1], found.shape[-1])
    errors = np.abs(found[..., :samples] - expected[..., :samples]).max(axis=(1, 2))
    assert (errors < 0.08 * np.abs(expected).max(axis=(1, 2))).all()


def dipping(points: Any) -> Any:
    """Planes of constant y dip by 60 degrees to larger y."""
    x, y, z = np.moveaxis(points, -1, 0)
    return np.stack([x, y + (z - 300) / np.sqrt(3), z], axis=-1)


def test_a_dipping_fault_between_unlike_rocks_as_a_source(tmp_path: Path) -> None:
    """The hanging wall is above, at larger y, so that the strike is west."""
    surface = {"fault": lambda x, y, z: y == 400}
    mesh = fault_mesh(tmp_path / "a.msh", surface, dipping, volume=lambda x, y, z: y > 400)
    soft = {"vp": 4800.0, "vs": 2800.0, "rho": 2400.0}
    medium = on_mesh(mesh, {"kind": "volumes", "volumes": {"rock": ROCK, "soft": soft}})
    fault = {key: value for key, value in FAULT.items() if key not in ("plane", "hypocenter")}
    fault |= {"surface": "fault", "patch": [], "stress": {**FAULT["stress"], "shear": "82 MPa"}}
    output = {"fault_points": {"point": POINTS[2:]}, "rupture": {"interval": 0.005}}
    given = {**CHANGES, **medium, "fault": [fault], "output": output}
    found = gs.run(build(**given), folder=tmp_path / "results")
    source = read_srf(found.folder / "rupture.srf")
    assert source.dip == pytest.approx(np.full(len(source), 60))
    assert source.strike == pytest.approx(np.full(len(source), 270))
    stiff, weak = (rock["rho"] * rock["vs"] ** 2 for rock in (ROCK, soft))
    assert source.rigidity == pytest.approx(np.full(len(source), 2 * stiff * weak / (stiff + weak)))
    moments = source.rigidity * source.area * np.linalg.norm(source.integrated_slip, axis=1)
    assert float(moments.sum()) == pytest.approx(found.summary["findings"]["moment"], rel=0.01)
    assert float(found.fault_points.depth[0]) == pytest.approx(0, abs=1e-6)
