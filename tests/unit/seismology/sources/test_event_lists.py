"""Files of many point sources: finite faults in Global CMT's convention and in that of the USGS."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import count_refused
from event_files import ORIGIN, Quake, cmtsolution, obspy_event, quakeml, written
from variants import long_variants

from groundswell.errors import InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.case.events import EventFile, EventSection
from groundswell.seismology.case.green import StrainGreenTensorOutput
from groundswell.seismology.green.point_files import placed_points
from groundswell.seismology.sources import moment
from groundswell.seismology.sources.build import build_sources
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.event_files import complete_event
from groundswell.seismology.sources.point_sources import SourceContext
from groundswell.seismology.sources.quantities import source_quantities
from groundswell.seismology.sources.summary import SourceSummary

pytest.importorskip("obspy")

GEOGRAPHY = Geography.from_center((11.3, 44.5), (80e3, 80e3), 25.0)
MOMENTS = np.random.default_rng(5).uniform(1, 3, 20) * 1e16
NO_EVENT = EventSection()
STARTS = np.random.default_rng(6).uniform(1.0, 4.0, 20)


def fault(
    usgs: bool, strike: float = 40.0, dip: float = 35.0, rake: float = 80.0, flat: bool = True
) -> list[Quake]:
    """5 x 4 subfaults on a plane (or in a cloud), as the files of one of the conventions."""
    rng = np.random.default_rng(3)
    along, down = (n.ravel() for n in np.meshgrid(3e3 * np.arange(5), 2e3 * np.arange(4)))
    phi, delta = np.radians(strike), np.radians(dip)
    east = along * np.sin(phi) + down * np.cos(delta) * np.cos(phi)
    north = along * np.cos(phi) - down * np.cos(delta) * np.sin(phi)
    depth = 4e3 + down * np.sin(delta)
    if not flat:
        east, north, depth = (rng.uniform(0, 1e4, 20) for _ in range(3))
    ned = moment.double_couple(strike, dip, rake, MOMENTS)  # x east, y north, z down
    xx, yy, zz, xy, xz, yz = ned.T
    tensors = np.stack([yy, xx, zz, xy, yz, xz] if usgs else [zz, yy, xx, yz, -xz, -xy], axis=1)
    shifts = STARTS if usgs else STARTS + 0.75
    return [
        Quake(
            name="FFM",
            centroid=(11.25 + x / 79.3e3, 44.45 + y / 111.2e3, z),
            shift=float(round(shift, 4)),
            tensor=tuple(tensor),
            half_duration=0.75,
        )
        for x, y, z, shift, tensor in zip(east, north, depth, shifts, tensors, strict=True)
    ]


def entry(folder: Path, content: bytes, geography: Any = GEOGRAPHY, **keys: Any) -> SourceEntry:
    path = folder / "CMTSOLUTION"
    path.write_bytes(content)
    return read_entry(path, geography, **keys)


def read_entry(
    path: Path, geography: Any = GEOGRAPHY, event: Any = NO_EVENT, **keys: Any
) -> SourceEntry:
    section = EventFile(kind="event", file=path, **{"select": "all", **keys})
    completed = complete_event(event, [section])
    (found,) = build_sources([section], context_of(geography), completed)
    return found


def context_of(geography: Any = GEOGRAPHY) -> SourceContext:
    rock = [lambda *at: np.full(np.shape(at[0]), 3e10)] * 3
    return SourceContext(geography, 0.01, 20.0, (100.0,) * 3, *rock)


def check(found: SourceEntry, strike: float = 40.0, dip: float = 35.0, rake: float = 80.0) -> None:
    """The tensors, and the times at which slip begins."""
    azimuth = GEOGRAPHY.true_azimuth
    expected = moment.double_couple(strike, dip, rake, MOMENTS, azimuth)
    given = np.array([point.moment for point in found.points])
    np.testing.assert_allclose(given, expected, atol=2e-6 * MOMENTS.max())
    starts = [point.start for point in found.points]
    np.testing.assert_allclose(starts, STARTS, atol=0.011)
    assert [point.number for point in found.points] == [*range(1, 21)]


@pytest.mark.parametrize("usgs", [False, True], ids=["global-cmt", "usgs"])
@pytest.mark.parametrize(("strike", "dip", "rake"), [(40, 35, 80), (200, 85, 5), (310, 20, -60)])
def test_the_plane_of_the_subfaults_tells_the_conventions_apart(
    tmp_path: Path, usgs: bool, strike: float, dip: float, rake: float
) -> None:
    found = entry(tmp_path, cmtsolution(*fault(usgs, strike, dip, rake)))
    check(found, strike, dip, rake)
    (quantity,) = (
        q
        for q in source_quantities([found], SourceSummary.from_entries([found]), "")
        if q.key == "sources"
    )
    assert "1 event of 20 point sources (CMTSOLUTION)" in quantity.text
    assert ("usgs-finite-fault" if usgs else "global-cmt") in quantity.text


def test_a_cloud_of_sources_needs_a_convention(tmp_path: Path) -> None:
    for usgs, name in ((False, "global-cmt"), (True, "usgs-finite-fault")):
        content = cmtsolution(*fault(usgs, flat=False))
        with pytest.raises(InputError, match=r'give convention = "global-cmt" .* or "usgs-fin'):
            entry(tmp_path, content)
        check(entry(tmp_path, content, convention=name))


def test_one_of_a_list_can_have_a_convention(tmp_path: Path) -> None:
    quakes = fault(True)
    found = entry(tmp_path, cmtsolution(*quakes), select=7, convention="usgs-finite-fault")
    expected = moment.double_couple(40, 35, 80, MOMENTS[7], GEOGRAPHY.true_azimuth)
    assert found.points[0].moment == pytest.approx(expected, abs=2e-6 * MOMENTS.max())
    assert found.centroid_time == pytest.approx(STARTS[7] + 0.75, abs=1e-3)


def test_a_list_is_moved_so_that_its_first_source_is_there(tmp_path: Path) -> None:
    first = int(STARTS.argmin())
    there = entry(tmp_path, cmtsolution(*fault(True)))
    moved = entry(tmp_path, cmtsolution(*fault(True)), None, x=9e3, y=8e3, azimuth=25.0)
    assert moved.points[first].position[:2] == pytest.approx((9e3, 8e3), abs=1e-3)
    assert moved.hypocentre == moved.points[first].position
    offsets = [np.array([p.position for p in e.points]) for e in (there, moved)]
    relative = [of - of[first] for of in offsets]
    np.testing.assert_allclose(relative[1], relative[0], atol=30)  # two projections


def test_still_subfaults_are_left_out(tmp_path: Path) -> None:
    quakes = fault(False)
    quakes[3] = Quake(**{**vars(quakes[3]), "tensor": (0.0,) * 6})
    assert len(entry(tmp_path, quakeml(*quakes)).points) == 19
    with pytest.raises(InputError, match="all moment tensors are zero"):
        still = [Quake(**{**vars(quake), "tensor": (0.0,) * 6}) for quake in quakes]
        entry(tmp_path, quakeml(*still), convention="global-cmt")


def test_the_net_moment_and_the_origin_time(tmp_path: Path) -> None:
    found = entry(tmp_path, cmtsolution(*fault(True)))
    summary = SourceSummary.from_entries([found])
    assert summary.scalar_moment == pytest.approx(MOMENTS.sum(), rel=1e-3)
    assert summary.centroid_time == pytest.approx(np.average(STARTS + 0.75, weights=MOMENTS), 1e-3)
    assert found.released_by(20.0) == pytest.approx(1.0)
    event = complete_event(EventSection(), [found.section])
    assert (event.origin_time, event.centroid_time) == (f"{ORIGIN}Z", None)


def centroids(folder: Path, quakes: list[Quake], **keys: Any) -> EventFile:
    """Events of which the file has the centroids, but not the origins."""
    events = [obspy_event(quake) for quake in quakes]
    for event in events:
        event.origins = event.origins[1:]
    path = folder / "centroids.xml"
    path.write_bytes(written(events, "QUAKEML"))
    return EventFile(kind="event", file=path, **{"select": "all", **keys})


@pytest.mark.parametrize("event", [{}, {"centroid_time": ORIGIN}], ids=["no-date", "centroid"])
def test_centroids_without_origin_time_need_the_date_of_time_0(
    tmp_path: Path, event: dict[str, str]
) -> None:
    section, first = centroids(tmp_path, fault(False)), STARTS.min() + 0.75
    date = datetime.fromisoformat(ORIGIN) + timedelta(seconds=float(first.round(4)))
    with pytest.raises(InputError, match=r"the events have no origin time; give the date of") as e:
        complete_event(EventSection(**event), [section])
    assert f"event.origin_time of the case, such as {date.isoformat()}Z, the first" in str(e.value)
    check(read_entry(section.file, event=EventSection(origin_time=ORIGIN)))


def test_all_of_one_event_are_that_event(tmp_path: Path) -> None:
    """Without an origin time, time 0 is its centroid time."""
    found = [centroids(tmp_path, fault(False)[:1], select=each) for each in ("all", None)]
    events = [complete_event(EventSection(), [section]) for section in found]
    assert events[0] == events[1] and events[0].centroid_time is not None
    points = [read_entry(each.file, select=each.select).points for each in found]
    assert points[0][0].start == points[1][0].start == pytest.approx(-0.75, abs=0.01)


def test_positions_need_no_date(tmp_path: Path) -> None:
    section = centroids(tmp_path, fault(False), x=9e3, y=8e3)
    points = StrainGreenTensorOutput(station="A", rupture=section)
    found = placed_points(points, context_of())
    first = int(STARTS.argmin())
    assert tuple(found.positions[first, :2]) == pytest.approx((9e3, 8e3), abs=1e-3)


@pytest.mark.parametrize("key", ["depth", "magnitude", "mechanism"])
def test_keys_of_one_event_are_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(InputError, match=f'{key} = 1.*: is for one event, not for select = "all"'):
        entry(tmp_path, cmtsolution(*fault(True)), **{key: 1})


@pytest.mark.parametrize("count", [15, *long_variants([200])])
def test_mutants(tmp_path: Path, count: int) -> None:
    content = cmtsolution(*fault(True))

    def read(path: Path) -> None:
        found = read_entry(path)
        assert np.isfinite([point.moment for point in found.points]).all()

    mutant, seeds = tmp_path / "CMTSOLUTION", range(count)
    assert count_refused(read, mutant, content, seeds, words=0.6, lines=12) > 0
