"""Comparisons of runs with records that differ in a known way, and records that cannot be used."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread
from observed_motion import DATE, EVENT, SITES, observed_stream, write_run

import groundswell as gs
from groundswell.errors import InputError
from groundswell.seismology.comparison.compare import Comparison, compare
from groundswell.seismology.formats.sac_mseed import to_obspy
from groundswell.seismology.formats.seismograms import (
    DISPLACEMENT,
    PRESSURE,
    SeismogramWriter,
    read_seismograms,
)
from groundswell.seismology.motion import as_quantity

BAND = (0.1, 2.0)
NAMES = {"GS.NEAR", "GS.FAR", "LONE"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("compare") / "run")


def require_known(found: Comparison, delay: float, factor: float, components: str = "ZNE") -> None:
    """Check that the observed motion is later by `delay` (s) and `factor` times as large."""
    assert {pair.station for pair in found.pairs} == NAMES and not found.warnings
    assert [row.component for row in found.rows] == [*components] * 3
    for row in found.rows:
        assert row.shift == pytest.approx(-delay, abs=0.005)
        assert row.correlation == pytest.approx(1.0, abs=1e-3)
        assert row.ratio == pytest.approx(1 / factor, rel=1e-3)


# --- known differences ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delay", "factor", "interval"), [(0.0, 1.0, 0.02), (0.74, 1.7, 0.01), (-1.3, 0.2, 0.0125)]
)
@pytest.mark.parametrize("components", ["ZNE", "ZRT"])
def test_streams_have_known_shifts_and_factors(
    run: Path, delay: float, factor: float, interval: float, components: str
) -> None:
    pytest.importorskip("obspy")
    stream = observed_stream(delay, factor, interval)
    before = stream.copy()
    found = compare(run, stream, band=BAND, components=components)
    require_known(found, delay, factor, components)
    assert stream == before  # the user's data are untouched
    if delay == 0:
        assert max(row.misfit for row in found.rows) < 1e-3


def test_bands_beyond_the_resolution_of_runs_are_warned_of(run: Path, tmp_path: Path) -> None:
    """Of both, if both are runs."""
    folders = [Path(shutil.copytree(run, tmp_path / name)) for name in ("coarse", "fine")]
    for folder, frequency in zip(folders, (1.25, 1.75), strict=True):
        case = {"resolved_frequency": frequency}
        (folder / "summary.json").write_text(json.dumps({"solver": "earthquake", "case": case}))

    def found(high: float, *given: Path) -> tuple[str, ...]:
        return compare(*given, band=(0.1, high)).warnings

    assert not found(1.25, *folders)
    (warning,) = found(1.5, *folders)
    assert warning.startswith(f"band up to 1.5 Hz: {folders[0]} resolves frequencies up to 1.25 Hz")
    assert len(found(2.0, *folders)) == 2
    assert len(found(2.0, folders[1] / "seismograms.h5", run)) == 1
    (folders[0] / "summary.json").write_text("{")
    assert not found(1.5, *folders)


def test_the_result_of_a_run_compares_itself(run: Path, tmp_path: Path) -> None:
    """As miniSEED and SAC files, and with times of windows."""
    pytest.importorskip("obspy")
    stream = observed_stream(0.3, 2.0)
    stream.write(str(tmp_path / "o.mseed"), format="MSEED")
    (tmp_path / "sac").mkdir()
    for trace in stream:
        trace.write(str(tmp_path / "sac" / f"{trace.id}.sac"), format="SAC")
    for observed in (tmp_path / "o.mseed", [tmp_path / "o.mseed"], str(tmp_path / "sac")):
        require_known(gs.Result(run).compare(observed, band=BAND), 0.3, 2.0)
    windows = [(8, 20), (15.0, 30.0)]
    found = gs.Result(run).compare(stream, windows=windows, max_shift=1.0)
    assert [(row.start, row.end) for row in found.rows] == windows * 9
    assert found.medians["shift"] == pytest.approx(-0.3, abs=0.02)


def test_another_run_needs_no_obspy(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With dates of both, times are absolute; without, times 0 coincide."""
    monkeypatch.setitem(sys.modules, "obspy", None)
    later = write_run(tmp_path / "later", 0.0173, reference_time="2030-01-01T12:00:00.500000Z")
    require_known(compare(run, later, band=BAND), 0.5, 1.0)
    require_known(compare(run, gs.Result(later), band=BAND, origin="2030-01-01T12:00:02"), -1.5, 1)
    undated = write_run(tmp_path / "undated", 0.03, 0.25, reference_time=None, azimuth=70.0)
    require_known(compare(run, undated / "seismograms.h5", band=BAND), 0.25, 1.0)
    require_known(compare(undated, run, band=BAND, components="ZRT"), -0.25, 1.0, "ZRT")


def test_files_of_records_need_obspy(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "observed.mseed").touch()
    monkeypatch.setitem(sys.modules, "obspy", None)
    with pytest.raises(InputError, match=r"need ObsPy, .* pip install -e '.\[seismology\]'"):
        compare(run, tmp_path / "observed.mseed")


@pytest.mark.parametrize("quantity", ["displacement", "acceleration"])
def test_the_run_is_converted_to_the_quantity_of_the_records(run: Path, quantity: str) -> None:
    pytest.importorskip("obspy")
    stream = observed_stream(0.3, 2.0)
    stream = stream.integrate() if quantity == "displacement" else stream.differentiate()
    require_known(compare(run, stream, band=BAND, quantity=quantity), 0.3, 2.0)


def test_pressure_is_compared(run: Path, tmp_path: Path) -> None:
    """The vertical motion of the run as pressure, and 1.5 times that as a stream and a run."""
    pytest.importorskip("obspy")
    array = read_seismograms(run / "seismograms.h5").sel(component=["Z"])
    for name, factor in (("soft", 1.0), ("loud", 1.5)):
        values = factor * array.values.transpose(2, 0, 1)
        path = tmp_path / name / "pressure.h5"
        path.parent.mkdir()
        with SeismogramWriter(path, SITES, 0.02, PRESSURE, attrs=EVENT, dtype="f8") as writer:
            writer.append(values)
    stream = to_obspy(read_seismograms(tmp_path / "loud" / "pressure.h5", PRESSURE))
    for observed in (stream, tmp_path / "loud"):
        found = compare(tmp_path / "soft", observed, band=BAND, quantity="pressure")
        require_known(found, 0.0, 1.5, "H")
    assert found.plot(tmp_path)


def test_observed_radial_components_are_used_as_they_are(run: Path) -> None:
    obspy = pytest.importorskip("obspy")
    stream = observed_stream(0.3, 2.0)
    turned = obspy.Stream()
    for site in SITES:
        x, y, turn = *site.position[:2], np.radians(20.0)
        east, north = np.cos(turn) * x + np.sin(turn) * y, np.cos(turn) * y - np.sin(turn) * x
        own = stream.select(station=site.name)
        turned += own.rotate("NE->RT", back_azimuth=np.degrees(np.arctan2(-east, -north)) % 360)
    require_known(compare(run, turned, band=BAND, components="ZRT"), 0.3, 2.0, "ZRT")


def test_a_pattern_selects_a_location(run: Path) -> None:
    pytest.importorskip("obspy")
    stream = doubled(observed_stream(0.3, 2.0), location="10")
    assert {row.component for row in compare(run, stream, channel="10.*").rows} == {"Z"}
    for trace in stream.select(location=""):
        trace.stats.location = "00"
    require_known(compare(run, stream, band=BAND, channel="00.HH?"), 0.3, 2.0)


def test_some_components_are_enough(run: Path) -> None:
    pytest.importorskip("obspy")
    stream = observed_stream()
    found = compare(run, stream.select(component="E") + stream.select(component="Z"))
    assert [row.component for row in found.rows] == ["Z", "E"] * 3
    found = compare(run, stream.select(component="[EZ]"), components="ZRT")
    assert [row.component for row in found.rows] == ["Z"] * 3


# --- files ----------------------------------------------------------------------------------------


def test_tables_and_pictures_are_written(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("obspy")
    found = compare(run, observed_stream(0.3, 2.0), band=BAND, windows=[(8, 20), (15, 30)])
    written = [*found.write(tmp_path), *found.plot(tmp_path)]
    names = {"comparison.csv", "comparison.json", "overview.png", *(f"{n}.png" for n in NAMES)}
    assert {path.name for path in written} == names == {p.name for p in tmp_path.iterdir()}
    content = json.loads((tmp_path / "comparison.json").read_text())
    assert content["options"]["band"] == list(BAND) and content["units"] == "m/s"
    assert content["rows"] == [row.as_dict() for row in found.rows] and len(found.rows) == 18
    with (tmp_path / "comparison.csv").open(newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [float(row["shift (s)"]) for row in rows] == pytest.approx(
        [row.shift for row in found.rows], rel=1e-5, abs=1e-9
    )
    for name in names - {"comparison.csv", "comparison.json"}:
        assert imread(tmp_path / name)[..., :3].std() > 0.03
    assert str(found).count("GS.NEAR") == 6


# --- what cannot be compared ----------------------------------------------------------------------


def gap(stream: Any) -> Any:
    return stream.cutout(*(stream[0].stats.starttime + t for t in (20, 22)))


def renamed(stream: Any, **codes: str) -> Any:
    for trace in stream:
        trace.stats.update(codes)
    return stream


def doubled(stream: Any, **codes: str) -> Any:
    return stream + renamed(stream.copy().select(component="Z"), **codes)


def sampled(stream: Any) -> Any:
    stream[0].stats.delta = 0.02
    return stream + observed_stream()


def moved(stream: Any) -> Any:
    for trace in stream:
        trace.stats.starttime += 3600
    return stream


Mutation = Callable[[Any], Any]
MUTATIONS: list[tuple[Mutation, dict[str, Any], str]] = [
    (gap, {}, "GS.NEAR: the observed component E has gaps"),
    (moved, {}, "GS.NEAR is observed from 3592.7 to .* simulated from 0 to 39.98 s; at least 10 s"),
    (lambda s: doubled(s, channel="BHZ"), {}, r"several records of component Z \(BHZ, HHZ"),
    (lambda s: doubled(s, location="10"), {}, r"Z \(10.HHZ, HHZ\); .* channel, as in \"10.HH\?"),
    (lambda s: doubled(s, network="ZZ"), {}, "station LONE is observed in the networks XX, ZZ"),
    (sampled, {}, "GS.NEAR..HHE has several sampling intervals"),
    (lambda s: renamed(s, network="AA"), {"channel": "BH?"}, 'HHZ, none of which is like "BH.?"'),
    (
        lambda s: renamed(s, station="ELSE"),
        {},
        "records GS.ELSE, XX.ELSE with the components E",
    ),
    (lambda s: s.clear(), {}, "the observed records have no traces"),
    (lambda s: s.select(component="N"), {"components": "ZRT"}, "no station has both"),
    (lambda s: [1.0, 2.0], {}, "records of the type list are unknown"),
    (lambda s: None, {}, "records of the type NoneType are unknown"),
    (lambda s: "none.mseed", {}, "none.mseed does not exist"),
    (lambda s: __file__, {}, "cannot be read as SAC or miniSEED"),
    (lambda s: s, {"band": (0.1, 25.0)}, "band: 25 Hz is too high for GS.NEAR"),
    (lambda s: s, {"band": (0.01, 1.0)}, "at least 100 s of common time"),
    (lambda s: s, {"band": (2.0, 1.0)}, "band = .*: must be the lower and then the higher"),
    (lambda s: s, {"band": (0.0, 1.0)}, "band"),
    (lambda s: s, {"windows": [(5, 2)]}, r"windows\[0\].*: must be the start and then the end"),
    (lambda s: s, {"windows": [(5, 90)]}, "window from 5 to 90 s: left out at GS.NEAR, GS.FAR"),
    (lambda s: s, {"origin": "yesterday"}, "origin = .*: must be a date and time"),
    (lambda s: s, {"quantity": "speed"}, "quantity"),
    (lambda s: s, {"quantity": "pressure", "components": "ZRT"}, "do not apply to pressure"),
    (lambda s: s, {"quantity": "pressure"}, "pressure.h5 does not exist; .* that record pressure"),
    (lambda s: s, {"max_shift": -1}, "max_shift"),
    (lambda s: s, {"filter": 1}, "filter"),
]


@pytest.mark.parametrize(("mutate", "options", "message"), MUTATIONS)
def test_what_cannot_be_compared_is_named(
    run: Path, mutate: Mutation, options: dict[str, Any], message: str
) -> None:
    pytest.importorskip("obspy")
    with pytest.raises(InputError, match=message):
        compare(run, mutate(observed_stream()), **{"band": BAND, **options})


def test_a_run_without_a_date_needs_one_for_records(tmp_path: Path) -> None:
    pytest.importorskip("obspy")
    undated = write_run(tmp_path / "undated", reference_time=None)
    with pytest.raises(InputError, match=r"no date of time 0, .*; set event.origin_time"):
        compare(undated, observed_stream(), band=BAND)
    require_known(compare(undated, observed_stream(0.3), band=BAND, origin=DATE), 0.3, 1.0)


def test_what_some_stations_lack_is_a_warning(run: Path) -> None:
    pytest.importorskip("obspy")
    stream = observed_stream()
    renamed(stream.select(station="FAR", component="N"), channel="HH1")
    renamed(stream.select(station="FAR", component="E"), channel="HH2")
    stream = gap(stream.select(station="NEAR")) + stream.select(station="[FL]*")
    found = compare(run, stream, band=BAND)
    assert [pair.station for pair in found.pairs] == ["GS.FAR", "LONE"]
    first, second = found.warnings
    assert "GS.FAR: channels HH1, HH2 have no known direction" in first
    assert "left out: GS.NEAR: the observed component" in second and "has gaps" in second


def test_counts_are_not_taken_for_motion_in_silence(run: Path) -> None:
    pytest.importorskip("obspy")
    [warning] = compare(run, observed_stream(factor=1e6), band=BAND).warnings
    assert "is 1.0e-06 times the observed; observed records must be in m/s" in warning


def test_stations_of_one_side_only_are_named(run: Path) -> None:
    pytest.importorskip("obspy")
    stream = observed_stream()
    renamed(stream.select(station="FAR"), station="NEW")
    found = compare(run, stream, band=BAND)
    assert found.warnings == ("not observed: GS.FAR", "observed, but not in the run: GS.NEW")


def test_rounding_errors_are_no_motion(run: Path, tmp_path: Path) -> None:
    """A component that is rounding errors of both runs has no shift and no misfit."""
    array = read_seismograms(run / "seismograms.h5").astype("f4")
    array.values[0, 0] = 1e-9 * np.random.default_rng(3).normal(size=array.sizes["time"])
    pytest.importorskip("h5netcdf")
    folder = tmp_path / "noisy"
    folder.mkdir()
    array.to_dataset(name="velocity").assign_attrs(array.attrs).to_netcdf(
        folder / "seismograms.h5", engine="h5netcdf"
    )
    found = compare(folder, folder, band=BAND)
    row = next(r for r in found.rows if (r.station, r.component) == ("GS.NEAR", "E"))
    assert not np.isfinite([row.shift, row.misfit, row.ratio]).any()
    assert as_quantity(array, DISPLACEMENT).name == "displacement"
    assert found.plot(tmp_path)
