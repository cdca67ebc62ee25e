"""Slip models in FSP: slip, angles, areas, times and rigidities; several segments; mutants."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import count_refused
from fsp_files import SIDES, Model, Segment, random_segment
from variants import long_variants

from groundswell.errors import InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.case.sources import FspRupture
from groundswell.seismology.formats.srf_content import Srf
from groundswell.seismology.sources import moment
from groundswell.seismology.sources.build import build_sources
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.event import outline
from groundswell.seismology.sources.point_sources import SourceContext, final_moments
from groundswell.seismology.sources.slip_models import SlipModel, read_slip_model

AREA = 1e6 * SIDES[0] * SIDES[1]
COLUMNS = ("SLIP", "RAKE", "TRUP", "RISE")
GEOGRAPHY = Geography.from_center((-118.0, 34.0), (60e3, 60e3), 20.0)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(14)


def read(folder: Path, model: Model, rise: float | None = None) -> SlipModel:
    path = folder / "model.fsp"
    path.write_text(model.text())
    return read_slip_model(path, rise)


def entry(path: Path, geography: Geography | None = GEOGRAPHY, **keys: Any) -> SourceEntry:
    rock = [lambda *at: np.full(np.shape(at[0]), 3e10)] * 3
    context = SourceContext(geography, 0.01, 20.0, (100.0,) * 3, *rock)
    (found,) = build_sources([FspRupture(kind="fsp", file=path, **keys)], context)
    return found


def pulse_times(content: Srf, point: int) -> tuple[float, float]:
    """Start and end of the slip of a subfault, s."""
    start = content.onset[point] - content.step[point] / 2
    return start, start + content.counts[point].max() * content.step[point]


def test_a_model_in_si_units(tmp_path: Path, rng: np.random.Generator) -> None:
    segment = random_segment(rng, *COLUMNS)
    content, warnings = read(tmp_path, Model([segment]))
    table = segment.table
    assert warnings == () and len(content) == 6
    for ours, theirs, unit in (
        (content.longitude, "LON", 1),
        (content.latitude, "LAT", 1),
        (content.depth, "Z", 1e3),
        (content.rake, "RAKE", 1),
        (content.slip[:, 0], "SLIP", 1),
    ):
        np.testing.assert_allclose(ours, unit * table[theirs], rtol=1e-9)
    assert (content.strike == 30).all() and (content.dip == 60).all()
    assert content.area == pytest.approx(np.full(6, AREA))
    np.testing.assert_allclose(content.integrated_slip, content.slip, rtol=1e-12)
    for n in range(6):
        start, end = pulse_times(content, n)
        assert start == pytest.approx(table["TRUP"][n])
        assert end - start == pytest.approx(table["RISE"][n])
        rates = content.rate(n, 0)
        assert rates.max() == pytest.approx(2 * table["SLIP"][n] / table["RISE"][n], rel=3e-3)
        np.testing.assert_allclose(rates, rates[::-1], rtol=1e-9)
    layer = np.array([[2200.0, 2400.0], [3400.0, 2700.0]])[(table["Z"] >= 6).astype(int)]
    np.testing.assert_allclose(np.stack([content.vs, content.density], axis=1), layer)


def test_moments_of_the_file_give_the_rigidity(tmp_path: Path, rng: np.random.Generator) -> None:
    segment = random_segment(rng, *COLUMNS)
    segment.columns = {**segment.columns, "SF_MOMENT": rng.uniform(1e16, 5e16, 6)}
    own = segment.columns["SF_MOMENT"]
    for structure in ((), Model([segment]).structure):
        model = Model([segment], structure=structure, moment=float(own.sum()))
        content, warnings = read(tmp_path, model)
        moments = content.rigidity * content.area * content.slip[:, 0]
        np.testing.assert_allclose(moments, own, rtol=1e-9)
        assert warnings == ()
    dyne = Model([segment], moment=1e7 * float(own.sum()))
    content, warnings = read(tmp_path, dyne)
    assert "but the header has Mo" in warnings[0] and set(content.vs) <= {2200.0, 3400.0}


def test_without_structure_and_moments_the_medium_counts(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    content, _ = read(tmp_path, Model([random_segment(rng, *COLUMNS)], structure=()))
    assert np.isnan(content.rigidity).all()


def test_segments_have_their_own_angles(tmp_path: Path, rng: np.random.Generator) -> None:
    first, second = (random_segment(rng, *COLUMNS) for _ in range(2))
    second = replace(second, strike=210.0, dip=80.0)
    content, _ = read(tmp_path, Model([first, second]))
    assert content.strike.tolist() == [30.0] * 6 + [210.0] * 6
    assert content.dip.tolist() == [60.0] * 6 + [80.0] * 6
    slip = np.concatenate([first.columns["SLIP"], second.columns["SLIP"]])
    np.testing.assert_allclose(content.integrated_slip[:, 0], slip, rtol=1e-9)


def test_time_windows(tmp_path: Path, rng: np.random.Generator) -> None:
    segment = random_segment(rng, "SLIP", "TRUP", "TW1", "TW2", "TW3", "rkTW1")
    header = ["% Invs : Ntw = 3  Nsg = 1", "% Invs : LEN = 2.0 s SHF = 1.5 s"]
    content, _ = read(tmp_path, Model([segment], header, rake=80.0))
    windows = np.stack([segment.columns[f"TW{n}"] for n in (1, 2, 3)])
    turned = np.radians(segment.columns["rkTW1"] - 80.0)
    along = windows[0] * np.cos(turned) + windows[1] + windows[2]
    np.testing.assert_allclose(content.integrated_slip[:, 0], along, rtol=1e-9)
    np.testing.assert_allclose(content.integrated_slip[:, 1], windows[0] * np.sin(turned))
    for n in range(6):
        start, end = pulse_times(content, n)
        assert start == pytest.approx(segment.columns["TRUP"][n])
        assert end == pytest.approx(start + 2 * 1.5 + 2.0)
        rates, step = content.rate(n, 0), content.step[n]
        first = step * rates[: round(1.5 / step)].sum()
        assert first < windows[0][n]  # the second window has not begun


def test_durations_of_the_case_and_of_the_header(tmp_path: Path, rng: np.random.Generator) -> None:
    segment = random_segment(rng, "SLIP", "RAKE", "TRUP")
    for rise, expected in ((None, 1.25), (0.4, 0.4)):
        content, _ = read(tmp_path, Model([segment]), rise)
        assert pulse_times(content, 2)[1] - pulse_times(content, 2)[0] == pytest.approx(expected)


def test_the_rupture_in_the_grid(tmp_path: Path, rng: np.random.Generator) -> None:
    segment = random_segment(rng, *COLUMNS)
    path = tmp_path / "model.fsp"
    path.write_text(Model([segment]).text())
    found = entry(path)
    first = int(segment.columns["TRUP"].argmin())
    x, y = GEOGRAPHY.to_grid(segment.table["LON"], segment.table["LAT"])
    assert found.hypocentre == pytest.approx((x[first], y[first], 1e3 * segment.table["Z"][first]))
    mu = 1e9 * np.where(segment.table["Z"] < 6, 2.4 * 2.2**2, 2.7 * 3.4**2)
    angles = 30.0, 60.0, segment.columns["RAKE"]
    sizes = mu * AREA * segment.columns["SLIP"]
    expected = moment.double_couple(*angles, sizes, GEOGRAPHY.true_azimuth)
    np.testing.assert_allclose(final_moments(found.points), expected, atol=1e-6 * sizes.max())
    assert found.fault is not None
    (plane,) = found.fault.planes
    assert (plane.strike_count, plane.dip_count, plane.length, plane.width) == (3, 2, 6e3, 3e3)
    corners = np.array(outline(plane, GEOGRAPHY))[:, :4]
    # The middle of the outline is that of the centres, and the first one is half a cell inside.
    np.testing.assert_allclose(corners.mean(axis=1), [x.mean(), y.mean()], atol=20)
    top = np.array([x[:3].mean(), y[:3].mean()]) - corners[:, :2].mean(axis=1)
    assert np.hypot(*top) == pytest.approx(750 * np.cos(np.radians(60)), abs=20)
    assert plane.top == pytest.approx(3e3 - 750 * np.sin(np.radians(60)), abs=1)
    moved = entry(path, None, x=5e3, y=6e3, depth=7e3, azimuth=20.0)
    assert moved.hypocentre == pytest.approx((5e3, 6e3, 7e3), abs=1e-3)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("LAT LON X==EW Y==NS Z", "LAT LON X==EW Y==NS D", "there is no column Z; add it"),
        ("SLIP", "SLOP", "there is no column SLIP"),
        ("% LAT LON", "% LAT LAN", "numbers without the names of their columns"),
        ("Nsbfs = 6", "Nsbfs = 7", "Nsbfs = 7 subfaults, but 6 rows; the file is truncated"),
        ("STRK =", "STROKE =", "the header needs STRK, DIP and RAKE"),
        ("% LAT LON", "% LAT LON MORE", r"line \d+: 9 numbers; the columns are LAT LON MORE"),
        ("DIP = 60.0", "DIP = 95.0", "dip = 95 degrees; it must be between 0 and 90"),
    ],
)
def test_bad_models_are_refused(
    tmp_path: Path, rng: np.random.Generator, old: str, new: str, message: str
) -> None:
    path = tmp_path / "model.fsp"
    path.write_text(Model([random_segment(rng, *COLUMNS)]).text().replace(old, new))
    with pytest.raises(InputError, match=message) as caught:
        entry(path)
    assert str(path) in str(caught.value)


def test_unknown_durations_are_refused(tmp_path: Path, rng: np.random.Generator) -> None:
    text = Model([random_segment(rng, "SLIP", "RAKE", "TRUP")]).text()
    path = tmp_path / "model.fsp"
    path.write_text(text.replace("avTr = 1.25", "avTr = 999"))
    with pytest.raises(InputError, match=r"duration of slip is unknown in 6 of 6 .*give rise"):
        entry(path)
    assert entry(path, rise=0.5).fault is not None


@pytest.mark.parametrize("count", [60, *long_variants([400])])
@pytest.mark.parametrize("kind", ["one", "windows"])
def test_mutants(tmp_path: Path, rng: np.random.Generator, kind: str, count: int) -> None:
    names = COLUMNS if kind == "one" else ("TRUP", "RAKE", "TW1", "TW2", "rkTW1")
    header = ["% Invs : LEN = 2.0 s SHF = 1.5 s"]
    segments: list[Segment] = [random_segment(rng, *names)] * (1 if kind == "one" else 2)
    content = Model(segments, header).text().encode()

    def read_it(path: Path) -> None:
        found = entry(path)
        for point in found.points:
            assert point.moment is not None and np.isfinite(point.moment).all()
            assert np.isfinite(point.samples).all() and point.samples.size < 1e5

    mutant, seeds = tmp_path / "mutant.fsp", range(count)
    assert count_refused(read_it, mutant, content, seeds, words=0.6, lines=12) > count / 5
