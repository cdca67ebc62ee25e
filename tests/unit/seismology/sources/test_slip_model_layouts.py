"""Layouts of slip models: rows at top edges, sizes of segments, rise and fall times, `.param`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import count_refused
from fsp_files import Model, Segment, param_text, random_segment
from variants import long_variants

from groundswell.errors import InputError
from groundswell.seismology.formats.srf_content import Srf
from groundswell.seismology.sources.slip_models import SlipModel, read_slip_model

COLUMNS = ("SLIP", "RAKE", "TRUP", "RISE")
RAMPS = ("SLIP", "RAKE", "TRUP", "T_RIS", "T_FAL", "SF_MOMENT")
METRE = 1e-5  # degrees, about a metre
WINDOWS = "% Invs : LEN = 2.2 s SHF = 1.1 s"
FUNCTION = "% SVF  : Asymetriccosine    (type of slip-velocity function used)"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(31)


def read(folder: Path, content: str, name: str = "model.fsp") -> SlipModel:
    path = folder / name
    path.write_text(content)
    return read_slip_model(path, None)


def require_same_places(found: Srf, segments: list[Segment]) -> None:
    for ours, name, scale, tolerance in (
        (found.longitude, "LON", 1, METRE),
        (found.latitude, "LAT", 1, METRE),
        (found.depth, "Z", 1e3, 0.01),
    ):
        theirs = np.concatenate([segment.table[name] for segment in segments])
        np.testing.assert_allclose(ours, scale * theirs, rtol=0, atol=tolerance)


def two_segments(rng: np.random.Generator, *names: str) -> list[Segment]:
    first, second = (random_segment(rng, *names) for _ in range(2))
    return [first, replace(second, strike=210.0, dip=80.0, corner=(-117.9, 34.05, 3.0))]


def test_rows_at_top_edges_are_moved_to_the_centres(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    segments = two_segments(rng, *COLUMNS)
    found, _ = read(tmp_path, Model(segments, at_top=True).text())
    require_same_places(found, segments)
    same, _ = read(tmp_path, Model(segments).text())
    np.testing.assert_allclose(found.rates, same.rates)
    for one, other in zip(found.planes, same.planes, strict=True):
        assert one.top == pytest.approx(other.top, abs=0.1)
        assert one.longitude == pytest.approx(other.longitude, abs=METRE)


def test_widths_of_rows_at_top_edges_are_needed(tmp_path: Path, rng: np.random.Generator) -> None:
    model = Model([random_segment(rng, *COLUMNS)], at_top=True)
    invs = "% Invs : Dx = 2.0 km    Dz = 1.5 km"
    found, _ = read(tmp_path, replace(model, texts={invs: "%"}).text())
    require_same_places(found, [*model.segments])  # by the width of the segment
    with pytest.raises(InputError, match=r"no width of subfaults, % Invs : Dz = \.\.\."):
        read(tmp_path, replace(model, texts={invs: "%", "WID": "WIDE"}).text())


def test_segments_with_sizes_of_their_own(tmp_path: Path, rng: np.random.Generator) -> None:
    segments = two_segments(rng, *COLUMNS)
    segments[1] = replace(segments[1], sides=(5.0, 4.0))
    found, _ = read(tmp_path, Model(segments, at_top=True).text())
    assert found.area == pytest.approx(np.repeat([3e6, 20e6], 6))
    require_same_places(found, segments)


def test_a_row_of_the_data_without_its_sign(tmp_path: Path, rng: np.random.Generator) -> None:
    model = Model([random_segment(rng, *COLUMNS)], ["% Rmin : \t60\t0\t0", "\t10.0\t0.0\t0.0", "%"])
    found, _ = read(tmp_path, model.text())
    assert len(found) == 6
    with pytest.raises(InputError, match="numbers without the names of their columns"):
        read(tmp_path, model.text().replace("% Rmin : \t60\t0\t0", "%"))


def test_rakes_of_windows_have_two_names(tmp_path: Path, rng: np.random.Generator) -> None:
    segment = random_segment(rng, "SLIP", "TRUP", "TW1", "TW2", "rkTW1", "rakeTW2")
    found, _ = read(tmp_path, Model([segment], [WINDOWS], rake=80.0).text())
    turned = [np.radians(segment.columns[name] - 80.0) for name in ("rkTW1", "rakeTW2")]
    across = sum(segment.columns[f"TW{n}"] * np.sin(of) for n, of in enumerate(turned, 1))
    np.testing.assert_allclose(found.integrated_slip[:, 1], across, rtol=1e-8)


# --- rise and fall --------------------------------------------------------------------------------


def asymmetric(time: Any, rise: float, fall: float) -> Any:
    """An asymmetric cosine of area 1, at times after its start."""
    grows = 1 - np.cos(np.pi * time / rise)
    falls = 1 + np.cos(np.pi * (time - rise) / fall)
    shape = np.where(time < rise, grows, np.where(time < rise + fall, falls, 0.0))
    return shape / (rise + fall)


def require_pulses(found: Srf, rises: Any, falls: Any) -> None:
    for n, (rise, fall) in enumerate(zip(rises, falls, strict=True)):
        rates, step = found.rate(n, 0), float(found.step[n])
        middles = step * (np.arange(len(rates)) + 0.5)
        exact = found.slip[n, 0] * asymmetric(middles, rise, fall)
        np.testing.assert_allclose(rates, exact, rtol=0, atol=4e-3 * exact.max())
    np.testing.assert_allclose(found.integrated_slip, found.slip, rtol=1e-12)


def test_times_of_rise_and_fall(tmp_path: Path, rng: np.random.Generator) -> None:
    segment = random_segment(rng, *RAMPS)
    found, warnings = read(tmp_path, Model([segment], [FUNCTION]).text())
    require_pulses(found, segment.columns["T_RIS"], segment.columns["T_FAL"])
    assert warnings == ()
    start = found.onset - found.step / 2
    assert start == pytest.approx(segment.columns["TRUP"])


def test_a_rise_alone_is_taken_for_half_of_the_duration(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    segment = random_segment(rng, *COLUMNS)
    segment.columns = {**segment.columns, "RISE": np.array([1.1, 2.2, 3.3, 1.1, 4.4, 5.5])}
    found, warnings = read(tmp_path, Model([segment], [WINDOWS, FUNCTION]).text())
    require_pulses(found, segment.columns["RISE"], segment.columns["RISE"])
    assert len(warnings) == 1 and "RISE is the time of rise alone" in warnings[0]
    segment.columns = {**segment.columns, "RISE": 1.1 + segment.columns["RISE"]}
    found, warnings = read(tmp_path, Model([segment], [WINDOWS, FUNCTION]).text())
    require_pulses(found, 0.5 * segment.columns["RISE"], 0.5 * segment.columns["RISE"])
    assert warnings == ()


def test_a_fall_that_is_not_positive_is_refused(tmp_path: Path, rng: np.random.Generator) -> None:
    segment = random_segment(rng, *RAMPS)
    segment.columns = {**segment.columns, "T_FAL": np.array([0.0, 1, 1, 1, 1, 1])}
    with pytest.raises(InputError, match="rise and fall of 1 of 6 subfaults with slip"):
        read(tmp_path, Model([segment]).text())


# --- .param ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("points", [(7, 3), (1, 1), (4, 2)])
def test_the_file_with_rises_and_falls(
    points: tuple[int, int], tmp_path: Path, rng: np.random.Generator
) -> None:
    segments = two_segments(rng, *RAMPS)
    found, warnings = read(tmp_path, param_text(*segments, points=points), "basic_inversion.param")
    require_same_places(found, segments)
    columns = {name: np.concatenate([of.columns[name] for of in segments]) for name in RAMPS}
    require_pulses(found, columns["T_RIS"], columns["T_FAL"])
    assert found.strike.tolist() == [30.0] * 6 + [210.0] * 6
    assert found.dip.tolist() == [60.0] * 6 + [80.0] * 6
    np.testing.assert_allclose(found.rake, columns["RAKE"])
    np.testing.assert_allclose(found.slip[:, 0], columns["SLIP"])
    moments = found.rigidity * found.area * found.slip[:, 0]
    np.testing.assert_allclose(moments, columns["SF_MOMENT"], rtol=1e-9)
    assert warnings == () and len(found.planes) == 2
    assert found.onset - found.step / 2 == pytest.approx(columns["TRUP"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("fault_segments=     2", "fault_segments=     3", "states another number of segments"),
        ("ny(downdip)=  2", "ny(downdip)=  3", "3 x 3 subfaults and 5 corners are stated"),
        ("Dx=  2.00km", "Dx=  0.00km", "the size of subfaults, 0.00 km, must be positive"),
        ("#Fault_segment =", "#Segment =", "has no line #Fault_segment"),
        ("Dy=  1.50km", "Dy=  1.50", "expected #Fault_segment = 1 nx"),
        ("Depth\n-118.", "Depth\n-119.", "the middle of the corners"),
    ],
)
def test_damaged_files_are_refused(
    old: str, new: str, message: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    text = param_text(*two_segments(rng, *RAMPS))
    assert old in text
    with pytest.raises(InputError, match=message):
        read(tmp_path, text.replace(old, new))


@pytest.mark.parametrize("count", [100, *long_variants([400])])
@pytest.mark.parametrize("kind", ["param", "top"])
def test_mutants(tmp_path: Path, rng: np.random.Generator, kind: str, count: int) -> None:
    segments = two_segments(rng, *RAMPS)
    text = param_text(*segments) if kind == "param" else Model(segments, at_top=True).text()

    def read_it(path: Path) -> None:
        content, _ = read_slip_model(path, None)
        assert np.isfinite(content.rates).all() and content.rates.size < 1e6
        assert np.isfinite(content.longitude).all() and np.isfinite(content.depth).all()

    assert (
        count_refused(read_it, tmp_path / f"mutant.{kind}", text.encode(), range(count)) > count / 5
    )
