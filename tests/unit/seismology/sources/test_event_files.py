"""Events of files as sources: tensor, position, magnitude and place on the time axis; mutants."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import count_refused
from event_files import (
    ORIGIN,
    Quake,
    cmtsolution,
    focmec,
    ndk,
    obspy_event,
    quakeml,
    written,
)
from variants import long_variants

from groundswell.errors import InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.case.events import EventFile, EventSection
from groundswell.seismology.sources import moment
from groundswell.seismology.sources.build import build_sources
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.event import centroid_warnings, reference_time
from groundswell.seismology.sources.event_files import complete_event
from groundswell.seismology.sources.point_sources import SourceContext
from groundswell.seismology.sources.summary import SourceSummary
from groundswell.seismology.sources.time_functions import Gaussian

pytest.importorskip("obspy")

SIZE = (40e3, 60e3)
GEOGRAPHY = Geography.from_center((11.3, 44.5), SIZE, 25.0)
ZERO = EventSection(origin_time=ORIGIN)
WRITERS: dict[str, Callable[..., bytes]] = {"quakeml": quakeml, "cmt": cmtsolution, "ndk": ndk}


def context(geography: Geography | None = GEOGRAPHY, duration: float = 20.0) -> SourceContext:
    rock = [lambda *at: np.full(np.shape(at[0]), 3e10)] * 3
    return SourceContext(geography, 0.01, duration, (100.0,) * 3, *rock)


def entry(
    folder: Path,
    content: bytes,
    event: EventSection = ZERO,
    geography: Any = GEOGRAPHY,
    **keys: Any,
) -> SourceEntry:
    path = folder / "events.file"
    path.write_bytes(content)
    section = EventFile(kind="event", file=path, **keys)
    (found,) = build_sources([section], context(geography), complete_event(event, [section]))
    return found


@pytest.mark.parametrize("kind", WRITERS)
def test_a_tensor_at_its_centroid(tmp_path: Path, kind: str) -> None:
    """Against the matrix of Global CMT's axes: up, south and east, in a rotated grid."""
    quake = Quake()
    found = entry(tmp_path, WRITERS[kind](quake))
    (point,) = found.points
    rr, tt, pp, rt, rp, tp = quake.tensor
    tensor = np.array([[rr, rt, rp], [rt, tt, tp], [rp, tp, pp]])
    angle = np.radians(GEOGRAPHY.true_azimuth)
    sin, cos = np.sin(angle), np.cos(angle)
    # Rows: the axes x, y and z (down) of the grid along up, south and east.
    axes = np.array([[0, sin, cos], [0, -cos, sin], [-1, 0, 0]])
    assert point.moment is not None
    assert moment.as_matrix(point.moment) == pytest.approx(axes @ tensor @ axes.T, rel=1e-6)
    x, y = GEOGRAPHY.to_grid(*quake.centroid[:2])
    assert point.position == pytest.approx((x, y, 12500.0), abs=1e-3)
    assert found.warnings == ()


def test_an_explosion_and_a_hand_made_strike_slip(tmp_path: Path) -> None:
    """Vertical strike-slip to the north on a plane that strikes north: M_tp alone, negative."""
    tensor = (0.0, 0.0, 0.0, 0.0, 0.0, -1e17)
    found = entry(tmp_path, quakeml(Quake(tensor=tensor)), geography=None, x=1.0, y=2.0)
    expected = moment.double_couple(0.0, 90.0, 0.0, 1e17)
    assert found.points[0].moment == pytest.approx(expected, abs=1e3)
    found = entry(tmp_path, quakeml(Quake(tensor=(1e17,) * 3 + (0.0,) * 3)))
    assert found.points[0].moment == pytest.approx([1e17] * 3 + [0.0] * 3, abs=1e3)


# --- time -----------------------------------------------------------------------------------------


def test_the_centroid_is_after_the_origin_time(tmp_path: Path) -> None:
    quake = Quake(shift=3.5, half_duration=2.0)
    found = entry(tmp_path, cmtsolution(quake), EventSection())
    (point,) = found.points
    assert found.centroid_time == 3.5
    assert point.start == pytest.approx(1.5, abs=0.011)
    times = point.start + point.step * np.arange(point.samples.size)
    assert (times @ point.samples) / point.samples.sum() == pytest.approx(3.5, abs=1e-3)


def test_a_long_source_begins_before_the_origin_time(tmp_path: Path) -> None:
    found = entry(tmp_path, quakeml(Quake(shift=1.0, half_duration=4.0)))
    assert found.start == pytest.approx(-3.0, abs=0.011)
    assert found.centroid_time == 1.0


def test_the_case_can_move_time_zero(tmp_path: Path) -> None:
    earlier = EventSection(origin_time="2021-05-04T03:01:59.5Z")
    assert entry(tmp_path, ndk(), earlier).centroid_time == pytest.approx(5.5)
    with pytest.raises(InputError, match="the event is at 2021-05-04 03:02:05, but time 0 at 2020"):
        entry(tmp_path, ndk(), EventSection(origin_time="2020-05-04T03:01:59.5Z"))


def test_dates_and_the_name_of_the_event(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(quakeml())
    section = EventFile(kind="event", file=path)
    event = complete_event(EventSection(), [section])
    assert event.name == "Quake 202105040302A"
    assert (event.origin_time, event.centroid_time) == (f"{ORIGIN}Z", "2021-05-04T03:02:05Z")
    (found,) = build_sources([section], context(), event)
    assert [*centroid_warnings(event, found.centroid_time, 0.01)] == []
    assert reference_time(event, found.centroid_time) == event.origin_time
    given = EventSection(name="Mine", origin_time="2021-05-04T03:02:00Z")
    event = complete_event(given, [section])
    assert (event.name, event.origin_time) == ("Mine", given.origin_time)


def test_an_event_with_a_centroid_time_only(tmp_path: Path) -> None:
    """Time 0 is then the centroid time."""
    event = obspy_event(Quake(half_duration=2.0))
    event.origins = event.origins[1:]
    found = entry(tmp_path, written([event], "QUAKEML"), EventSection())
    assert found.centroid_time == 0.0 and found.start == pytest.approx(-2.0, abs=0.011)
    completed = complete_event(EventSection(), [found.section])
    assert completed.origin_time is None
    assert reference_time(completed, 0.0) == "2021-05-04T03:02:05Z"


def test_two_events_need_a_common_time(tmp_path: Path) -> None:
    content = quakeml(Quake(), Quake(name="B", origin="2021-05-04T03:02:05.5"))
    path = tmp_path / "two.xml"
    path.write_bytes(content)
    sections = [EventFile(kind="event", file=path, select=n) for n in range(2)]
    with pytest.raises(
        InputError, match=r"events at 2021.* and 2021.*two.xml.; give the date of time 0"
    ):
        complete_event(EventSection(), sections)
    found = build_sources(sections, context(), complete_event(ZERO, sections))
    assert [each.centroid_time for each in found] == [3.5, 7.5]


def test_other_sources_need_an_origin_time(tmp_path: Path) -> None:
    """That of the file, or of the case; not for mechanisms without dates."""
    place = {"x": 1e3, "y": 1e3, "depth": 5e3}
    event = obspy_event(Quake())
    event.origins = event.origins[1:]
    path, angles = tmp_path / "late.xml", tmp_path / "a.out"
    path.write_bytes(written([event], "QUAKEML"))
    angles.write_bytes(focmec())
    late = EventFile(kind="event", file=path)
    other = EventFile(kind="event", file=angles, **place, magnitude=5)
    with pytest.raises(InputError, match=r"late.xml: the event has no origin time, and there are"):
        complete_event(EventSection(), [late, other])
    assert complete_event(ZERO, [late, other]) == ZERO
    assert complete_event(EventSection(), [other, other]) == EventSection()


def test_the_time_function_of_the_case(tmp_path: Path) -> None:
    pulse = {"kind": "gaussian", "sigma": 0.5}
    function = entry(tmp_path, cmtsolution(), time_function=pulse).function
    assert isinstance(function, Gaussian) and function.centroid_time == 3.5
    assert entry(tmp_path, cmtsolution(), time_function=pulse | {"onset": 1.0}).start == 1.0


@pytest.mark.parametrize(
    ("shape", "more", "width", "rise"),
    [
        ("triangle", {}, 4.0, 2.0),
        ("unknown", {}, 4.0, 2.0),
        ("box car", {}, 4.0 * 10 / 9, 4.0 / 9),
        ("trapezoid", {"rise_time": 1.0, "decay_time": 1.5}, 4.0, 1.0),
    ],
)
def test_shapes_have_the_stated_duration(
    tmp_path: Path, shape: str, more: dict[str, float], width: float, rise: float
) -> None:
    core = pytest.importorskip("obspy.core.event")
    rate = core.SourceTimeFunction(type=shape, duration=4.0, **more)
    content = written([obspy_event(Quake(), source_time_function=rate)], "QUAKEML")
    function = entry(tmp_path, content).function
    assert function is not None
    assert function.support == pytest.approx(width) and function.centroid_time == 3.5
    peak = float(function(3.5))
    assert function(function.start + rise / 2) == pytest.approx(peak / 2)
    if shape == "box car":
        assert function(3.5 + 2.0) == pytest.approx(peak / 2)


def test_a_source_without_a_duration_has_the_average_one(tmp_path: Path) -> None:
    found = entry(tmp_path, cmtsolution(Quake(half_duration=0.0)))
    m0 = float(moment.scalar_moment(moment.from_rtp(Quake().tensor)))
    assert found.function is not None
    assert found.function.support == pytest.approx(2 * 1.05e-8 * (1e7 * m0) ** (1 / 3))
    assert "has no duration of the source; the run uses a triangle" in found.warnings[0]


# --- what files lack ------------------------------------------------------------------------------


def test_focmec_needs_a_position_and_a_magnitude(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no longitude, latitude, depth or Mw; give long"):
        entry(tmp_path, focmec(), EventSection())
    place = {"x": 10e3, "y": 20e3, "depth": "8 km"}
    found = entry(tmp_path, focmec(), EventSection(), magnitude=5.0, **place)
    expected = moment.double_couple(30, 60, -80, 10 ** (1.5 * 5 + 9.1), GEOGRAPHY.true_azimuth)
    assert found.points[0].moment == pytest.approx(expected, rel=1e-9, abs=1e8)
    assert found.points[0].position == (10e3, 20e3, 8e3)
    assert found.start == 0.0


def test_a_nodal_plane_with_the_magnitude_of_the_event(tmp_path: Path) -> None:
    core = pytest.importorskip("obspy.core.event")
    event = obspy_event(Quake())
    planes = core.NodalPlanes(
        nodal_plane_1=core.NodalPlane(strike=10.0, dip=50.0, rake=60.0),
        nodal_plane_2=core.NodalPlane(strike=232.57, dip=48.43, rake=120.8),
        preferred_plane=2,
    )
    event.focal_mechanisms = [core.FocalMechanism(nodal_planes=planes)]
    event.magnitudes.insert(0, core.Magnitude(mag=7.9, magnitude_type="mb"))
    event.origins = event.origins[:1]
    found = entry(tmp_path, written([event], "QUAKEML"))
    size = 10 ** (1.5 * 5.4 + 9.1)
    expected = moment.double_couple(232.57, 48.43, 120.8, size, GEOGRAPHY.true_azimuth)
    assert found.points[0].moment == pytest.approx(expected, abs=1e-9 * size)
    assert found.points[0].position[2] == 9000.0  # the hypocentre
    assert found.start == 0.0  # it begins at the origin time


def test_the_magnitude_of_the_case_scales_the_tensor(tmp_path: Path) -> None:
    whole, scaled = (entry(tmp_path, ndk(), **more) for more in ({}, {"magnitude": 4.0}))
    assert SourceSummary.from_entries([scaled]).magnitude == 4.0
    ratio = scaled.points[0].moment / whole.points[0].moment  # type: ignore[operator]
    assert ratio == pytest.approx(ratio[0])


def test_a_depth_in_the_wrong_unit(tmp_path: Path) -> None:
    content = quakeml(Quake(centroid=(11.3, 44.55, 12.5)))
    assert "the event is 12.5 m deep; if the file has km" in entry(tmp_path, content).warnings[0]
    assert entry(tmp_path, content, depth="12.5 km").warnings == ()


def test_without_obspy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = quakeml()
    monkeypatch.setitem(sys.modules, "obspy", None)
    with pytest.raises(InputError, match=r"an earthquake needs ObsPy; .*pip install -e '.\[seismo"):
        entry(tmp_path, content)


def test_a_stated_moment_that_contradicts_the_tensor(tmp_path: Path) -> None:
    content = written([obspy_event(Quake(), scalar_moment=1e18)], "QUAKEML")
    assert "Mw 5.93, but the tensor has Mw 5.61" in entry(tmp_path, content).warnings[0]


@pytest.mark.parametrize(
    ("content", "keys", "message"),
    [
        (quakeml(), {"x": 1.0}, "give x and y, or longitude and latitude, or neither"),
        (quakeml(), {"select": -1}, "select = -1: must be at least 0"),
        (quakeml(), {"select": True}, "select = true: must be an index"),
        (quakeml(), {"select": 1}, "the choice of no event"),
        (quakeml(), {"mechanism": 1}, "has 1 focal mechanism; give mechanism"),
        (quakeml(Quake(half_duration=1e5)), {}, "the duration of the source is 200000 s"),
        (quakeml(Quake(tensor=(0.0,) * 6)), {}, "are all zero"),
        (quakeml(Quake(tensor=(1e28,) * 6)), {}, "gives Mw 1"),
        (quakeml().replace(b"Mrr>", b"Mqq>"), {}, "rr = nan: "),
    ],
)
def test_bad_events_are_refused(
    tmp_path: Path, content: bytes, keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        entry(tmp_path, content, **keys)


@pytest.mark.parametrize("count", [40, *long_variants([200])])
@pytest.mark.parametrize("kind", [*WRITERS, "focmec"])
def test_mutants(tmp_path: Path, kind: str, count: int) -> None:
    writer = {**WRITERS, "focmec": focmec}[kind]
    place = {"x": 1e3, "y": 1e3, "depth": 5e3, "magnitude": 5.0} if kind == "focmec" else {}

    def read(path: Path) -> None:
        section = EventFile(kind="event", file=path, select="largest", **place)
        event = complete_event(EventSection(), [section])
        for point in build_sources([section], context(), event)[0].points:
            assert point.moment is not None and np.isfinite(point.moment).all()
            assert np.isfinite(point.samples).all() and point.samples.size < 1e6
            assert np.isfinite([*point.position, point.start]).all()

    mutant, seeds = tmp_path / "mutant.file", range(count)
    assert count_refused(read, mutant, writer(), seeds, words=0.6, lines=12) > count / 10


def test_zero_is_in_utc() -> None:
    assert datetime.fromisoformat(str(ZERO.origin_time)).utcoffset() is not None
