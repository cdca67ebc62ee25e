"""Files of ruptures as point sources of a tensor: the same as those of a run with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from event_files import Quake, quakeml
from fsp_files import Model, random_segment
from numpy.typing import NDArray

from groundswell import registry
from groundswell.errors import InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.case.events import EventFile, EventSection
from groundswell.seismology.case.sources import FspRupture
from groundswell.seismology.green.frames import FRAME, SHIFT, write_frame
from groundswell.seismology.green.slip import PointFinder, read_slip
from groundswell.seismology.green.source_files import RuptureWarning
from groundswell.seismology.sources.build import build_sources
from groundswell.seismology.sources.event_files import complete_event
from groundswell.seismology.sources.moment import double_couple, to_rtp
from groundswell.seismology.sources.point_sources import PointSource, SourceContext

GEOGRAPHY = Geography.from_center((-118.0, 34.0), (60e3, 60e3), 20.0)
DT, MU, SHIFT_DOWN = 0.01, 3e10, 250.0
CASE = """\
solver = "earthquake"
grid = { size = ["4 km", "4 km", "4 km"], spacing = "100 m" }
time = { duration = "2 s" }
medium = { kind = "homogeneous", vp = 5000, vs = 3000, rho = 2700 }

[[source]]
kind = "double-couple"
x = 1000
y = 800
depth = 500
strike = 30
dip = 70
rake = 10
magnitude = 4
time_function = { kind = "cosine", rise = 0.4, onset = 0.1 }
"""
FORCE = """
[[source]]
kind = "force"
x = 1000
y = 800
depth = 500
force = [1e9, 0, 0]
time_function = { kind = "cosine", rise = 0.4 }
"""


def context() -> SourceContext:
    rock = [lambda *at: np.full(np.shape(at[0]), MU)] * 3
    return SourceContext(GEOGRAPHY, DT, 1e6, (1.0,) * 3, *rock)


def finder(positions: Any, geography: Geography | None = GEOGRAPHY) -> PointFinder:
    """The points of a tensor in a uniform medium; depths of files grow by SHIFT_DOWN."""
    columns = dict(zip(("x", "y", "depth"), np.array(positions, float).T, strict=True))
    moduli = dict.fromkeys(("lam", "mu"), np.full(len(positions), MU))
    content = {name: ("point", of) for name, of in (columns | moduli).items()}
    frame = {FRAME: write_frame(geography), SHIFT: SHIFT_DOWN} if geography else {}
    return PointFinder(xarray.Dataset(content, attrs={"time_step": DT, **frame}))


def places(points: list[PointSource], deeper: float = 0.0) -> NDArray[Any]:
    return np.array([point.position for point in points]) + np.array([0, 0, deeper])


def require_same(found: list[PointSource], expected: list[PointSource], deeper: float) -> None:
    np.testing.assert_allclose(places(found), places(expected, deeper), atol=1e-6)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.moment, other.moment, rtol=1e-12)
        np.testing.assert_array_equal(one.samples, other.samples)
        assert (one.start, one.step) == (other.start, other.step)


@pytest.mark.parametrize("has_structure", [True, False])
def test_a_slip_model(has_structure: bool, tmp_path: Path) -> None:
    path = tmp_path / "model.fsp"
    segment = random_segment(np.random.default_rng(3), "SLIP", "RAKE", "TRUP", "RISE")
    rock = ((0.0, 6.0, (MU / 2800) ** 0.5 / 1e3, 2.8),) if has_structure else ()
    path.write_text(Model([segment], structure=rock).text())
    (entry,) = build_sources([FspRupture(kind="fsp", file=path)], context())
    there = finder(places(entry.points, SHIFT_DOWN))
    require_same(read_slip(path, there), entry.points, SHIFT_DOWN)


@pytest.mark.parametrize("name", ["FFM.xml", "CMTSOLUTION"])
def test_all_events_of_a_file(name: str, tmp_path: Path) -> None:
    pytest.importorskip("obspy")
    path, tensor = tmp_path / name, to_rtp(double_couple(90.0, 85.0, 20.0, 1e17))
    quakes = [
        Quake(
            name=f"E{n}",
            centroid=(-118 + 0.02 * (n % 4), 34.0, 5e3 + 2e3 * (n // 4)),
            shift=1.0 + n,
            tensor=(*tensor,),
        )
        for n in range(8)
    ]
    path.write_bytes(quakeml(*quakes))
    section = EventFile(kind="event", file=path, select="all")
    event = complete_event(EventSection(), [section])
    (entry,) = build_sources([section], context(), event)
    assert [point.start for point in entry.points] == pytest.approx(np.arange(8) - 1)
    there = finder(places(entry.points, SHIFT_DOWN))
    require_same(read_slip(path, there), entry.points, SHIFT_DOWN)
    case = tmp_path / "case.toml"
    text = CASE.replace('"4 km", "4 km", "4 km"', '"60 km", "60 km", "10 km"')
    text = text.replace('"100 m" }', '"1 km", geography = { center = [-118, 34], azimuth = 20 } }')
    text = text.partition("[[source]]")[0]
    case.write_text(f'{text}[[source]]\nkind = "event"\nfile = "{name}"\nselect = "all"\n')
    require_same(read_slip(case, finder(places(entry.points))), entry.points, 0.0)


def test_the_only_event_of_a_file_and_what_it_lacks(tmp_path: Path) -> None:
    pytest.importorskip("obspy")
    path = tmp_path / "quake.xml"
    path.write_bytes(quakeml(Quake(centroid=(-118.0, 34.0, 5e3), half_duration=0.0)))
    with pytest.warns(RuptureWarning, match=r"quake\.xml has no duration of the source"):
        (point,) = read_slip(path, finder([[0, 0, 0]]))
    assert point.position == pytest.approx((30e3, 30e3, 5e3 + SHIFT_DOWN), abs=1)


def test_the_sources_of_a_case(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text(CASE)
    (point,) = read_slip(path, finder([[1000, 800, 500]], None))
    assert point.position == (1000, 800, 500) and point.start == pytest.approx(0.1)
    path.write_text(CASE + FORCE)
    with pytest.raises(InputError, match="forces are no earthquakes"):
        read_slip(path, finder([[1000, 800, 500]], None))
    path.write_text(registry.find("cavity").read_template())
    with pytest.raises(InputError, match="the solver cavity has no earthquakes"):
        read_slip(path, finder([[1000, 800, 500]], None))


@pytest.mark.parametrize("name", ["model.fsp", "case.toml"])
def test_longitudes_need_a_map(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(CASE.replace('"100 m" }', '"100 m", geography = { center = [-118, 34] } }'))
    with pytest.raises(InputError, match="recorded without"):
        read_slip(path, finder([[0, 0, 0]], None))
