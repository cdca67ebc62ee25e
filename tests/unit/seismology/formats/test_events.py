"""Events of files: as ObsPy and other programs write them, the choice among several, mutants."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from event_files import ORIGIN, Quake, cmtsolution, focmec, ndk, obspy_event, quakeml, written

from groundswell.errors import InputError
from groundswell.seismology.formats.event_choice import choose_event, choose_mechanism
from groundswell.seismology.formats.events import CatalogueEvent, read_catalogue
from groundswell.seismology.sources.moment import from_rtp, magnitude_from_moment, scalar_moment

pytest.importorskip("obspy")

WRITERS: dict[str, Callable[..., bytes]] = {"quakeml": quakeml, "cmt": cmtsolution, "ndk": ndk}
formats = pytest.mark.parametrize("kind", WRITERS)


def read(folder: Path, content: bytes) -> tuple[CatalogueEvent, ...]:
    path = folder / "events"
    path.write_bytes(content)
    return read_catalogue(path).events


@formats
def test_an_event_in_si_units(tmp_path: Path, kind: str) -> None:
    quake = Quake()
    (event,) = read(tmp_path, WRITERS[kind](quake))
    (mechanism,) = event.mechanisms
    hypocentre, centroid = event.hypocentre, mechanism.centroid
    assert hypocentre and centroid
    assert hypocentre.time == datetime.fromisoformat(ORIGIN)
    assert centroid.time == hypocentre.time + timedelta(seconds=3.5)
    for place, expected in ((hypocentre, quake.hypocentre), (centroid, quake.centroid)):
        assert (place.longitude, place.latitude, place.depth) == pytest.approx(expected)
    assert mechanism.tensor == pytest.approx(quake.tensor, rel=1e-6)
    assert (mechanism.shape, mechanism.duration) == ("triangle", 4.0)


@formats
def test_the_tensor_is_that_of_obspy(tmp_path: Path, kind: str) -> None:
    """Also through a file that ObsPy wrote itself from what it read."""
    obspy = pytest.importorskip("obspy")
    path = tmp_path / "events"
    path.write_bytes(WRITERS[kind]())
    tensor = obspy.read_events(str(path))[0].focal_mechanisms[0].moment_tensor.tensor
    names = ("m_rr", "m_tt", "m_pp", "m_rt", "m_rp", "m_tp")
    expected = [tensor[name] for name in names]
    for ours in ("QUAKEML", "CMTSOLUTION"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            content = written(list(obspy.read_events(str(path))), ours)
        (event,) = read(tmp_path, content)
        assert event.mechanisms[0].tensor == pytest.approx(expected, rel=1e-5)


def test_an_origin_without_a_type_is_a_centroid_if_the_tensor_names_it(tmp_path: Path) -> None:
    event = obspy_event(Quake())
    for origin in event.origins:
        origin.origin_type = None
    (found,) = read(tmp_path, written([event], "QUAKEML"))
    assert found.hypocentre and found.hypocentre.depth == 9000.0
    centroid = found.mechanisms[0].centroid
    assert centroid and centroid.depth == 12500.0


def test_a_single_origin_without_a_type_is_the_hypocentre(tmp_path: Path) -> None:
    event = obspy_event(Quake())
    event.origins = event.origins[1:]
    event.origins[0].origin_type = None
    (found,) = read(tmp_path, written([event], "QUAKEML"))
    assert found.hypocentre and found.hypocentre.depth == 12500.0
    assert found.mechanisms[0].centroid is None


def test_a_box_car_of_global_cmt(tmp_path: Path) -> None:
    (event,) = read(tmp_path, ndk(Quake(half_duration=1.5), rate="BOXHD"))
    assert (event.mechanisms[0].shape, event.mechanisms[0].duration) == ("box car", 3.0)


@pytest.mark.parametrize(("first", "second"), [("Mrr", "Mtp"), ("time shift", "half duration")])
def test_lines_of_a_cmtsolution_have_an_order(tmp_path: Path, first: str, second: str) -> None:
    """ObsPy would take the value of one for that of the other."""
    good = b"\n\n".join([cmtsolution(), cmtsolution(Quake(name="B"))])
    assert len(read(tmp_path, good)) == 2
    lines = good.decode().split("\n")
    starts = [n for n, line in enumerate(lines) if line.startswith((f"{first}:", f"{second}:"))]
    one, other = starts[2:]  # of the second event
    lines[one], lines[other] = lines[other], lines[one]
    with pytest.raises(InputError, match=f'line {one + 1}: "{second}.*" must begin with'):
        read(tmp_path, "\n".join(lines).encode())
    with pytest.raises(InputError, match="line 1 has 10 numbers; give 11: year, month"):
        read(tmp_path, cmtsolution().replace(b"  1.50 ", b"  "))


def test_focmec_has_planes_only(tmp_path: Path) -> None:
    (event,) = read(tmp_path, focmec((60.0, 30.0, -80.0)))
    assert event.mechanisms[0].plane == (30.0, 60.0, -80.0)
    assert (event.hypocentre, event.magnitudes, event.preferred) == (None, {}, 0)
    (event,) = read(tmp_path, focmec((60.0, 30.0, -80.0), (50.0, 20.0, 0.0)))
    with pytest.raises(InputError, match=r"2 focal mechanisms; give mechanism.*\n  0: strike 30"):
        choose_mechanism(event, None, tmp_path)
    assert choose_mechanism(event, 1, tmp_path).plane == (20.0, 50.0, 0.0)
    with pytest.raises(InputError, match="one of these indices"):
        choose_mechanism(event, 2, tmp_path)


# --- several events -------------------------------------------------------------------------------


def several(count: int = 12) -> list[Quake]:
    scales = np.random.default_rng(3).permutation(count) + 1.0
    return [
        Quake(name=f"Q{n:02}", tensor=tuple(scale * c for c in Quake().tensor))
        for n, scale in enumerate(scales)
    ]


@formats
def test_one_of_several_events(tmp_path: Path, kind: str) -> None:
    quakes = several()
    events = read(tmp_path, WRITERS[kind](*quakes))
    largest = int(np.argmax([quake.tensor[0] for quake in quakes]))
    for select, index in ((4, 4), ("q07", 7), ("largest", largest)):
        assert choose_event(events, select, tmp_path) is events[index]
    assert choose_event(events, events[3].identifier, tmp_path) is events[3]


@pytest.mark.parametrize(
    ("select", "message"),
    [
        (None, 'has 12 events; give select: an index, an identifier, a name, "largest" or "all":'),
        (12, "select = 12 is the choice of no event:"),
        ("Q99", 'select = "Q99" is the choice of no event:'),
        ("NORTHERN ITALY", 'select = "NORTHERN ITALY" is the choice of several events:'),
    ],
)
def test_the_message_lists_the_events(tmp_path: Path, select: Any, message: str) -> None:
    events = read(tmp_path, ndk(*several()))
    with pytest.raises(InputError) as caught:
        choose_event(events, select, Path("file"))
    first, *lines = str(caught.value).splitlines()
    assert message in first and len(lines) == 9 and lines[-1] == "  and 4 more"
    assert lines[0].startswith("  0: 2021-05-04T03:02:01, Mw ") and "Q00" in lines[0]


def test_the_largest_is_that_with_the_largest_tensor(tmp_path: Path) -> None:
    events = read(tmp_path, quakeml(*several()))
    sizes = [magnitude_from_moment(scalar_moment(from_rtp(e.mechanisms[0].tensor))) for e in events]  # type: ignore[arg-type]
    assert choose_event(events, "largest", tmp_path) is events[int(np.argmax(sizes))]


def test_a_damaged_event_among_others_is_skipped_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "events.ndk"
    lines = ndk(*several(3)).decode().splitlines(keepends=True)
    lines[7] = lines[7].replace("3.5", "abc")
    path.write_text("".join(lines))
    catalogue = read_catalogue(path)
    assert [event.names[-1] for event in catalogue.events] == ["Q00", "Q02"]
    assert "Could not parse event 2" in catalogue.warnings[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot be read as an earthquake"),
        (b"hello\n", "ObsPy does not know the format"),
        (b"\x00\xff" * 600, "cannot be read as an earthquake"),
        (cmtsolution().replace(b" 5  4 ", b" 5 44 "), "the origin time cannot be read"),
        (quakeml().replace(b"<event ", b"<evant ").replace(b"</event>", b"</evant>"), "no events"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "events"))
