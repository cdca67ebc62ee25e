"""A rupture placed by x and y is the one placed by its longitudes and latitudes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter
from ruptures import make_rupture

from groundswell.errors import CaseError
from groundswell.grids.geography import Geography
from groundswell.seismology.case.sources import Source
from groundswell.seismology.formats.srf import Plane, Srf, write_srf
from groundswell.seismology.sources.build import build_sources
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.point_sources import SourceContext
from groundswell.solvers.earthquake import EarthquakeCase

SIZE = (40e3, 50e3)
SECTION: TypeAdapter[Any] = TypeAdapter(Source)
FIRST = 13  # the subfault that slips first


def rupture(**more: Any) -> Srf:
    """30 subfaults within 20 km of each other, around 118 W, 34 N."""
    rng = np.random.default_rng(11)
    onset = rng.uniform(1, 5, 30)
    onset[FIRST] = 0.7
    place = {
        "longitude": -118 + rng.uniform(-0.1, 0.1, 30),
        "latitude": 34 + rng.uniform(-0.1, 0.1, 30),
        "planes": (Plane(-118.02, 34.01, 6, 5, 12e3, 9e3, 122, 40, 2e3, 1e3, 4e3),),
    }
    return make_rupture(rng, 30, [5, 4, 0], **({"onset": onset} | place | more))


def entry_of(path: Path, geography: Geography | None, **place: Any) -> SourceEntry:
    def everywhere(x: Any, y: Any, z: Any) -> Any:
        return np.full(np.shape(x), 3e10)

    context = SourceContext(geography, 0.01, 10.0, (100.0,) * 3, *[everywhere] * 3)
    section = SECTION.validate_python({"kind": "srf", "file": path, **place})
    (entry,) = build_sources([section], context)
    return entry


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_srf(tmp_path / "r.srf", rupture())
    return tmp_path / "r.srf"


@pytest.mark.parametrize("azimuth", [0.0, 37.0, -120.0])
def test_x_and_y_of_the_first_subfault_replace_a_geography(path: Path, azimuth: float) -> None:
    """North at the rupture differs from north at the centre, 8 km away, by 0.05 degrees."""
    geography = Geography.from_center((-118.08, 34.02), SIZE, azimuth)
    there = entry_of(path, geography)
    x, y, depth = there.fault.hypocentre
    assert there.fault.start == pytest.approx(0.7)
    here = entry_of(path, None, x=x, y=y, azimuth=geography.true_azimuth)
    assert here.fault.hypocentre == pytest.approx((x, y, depth), abs=1e-3)
    assert len(here.points) == len(there.points) == 60
    reach = 20e3 * np.radians(0.05)
    for moved, kept in zip(here.points, there.points, strict=True):
        assert moved.position == pytest.approx(kept.position, abs=reach)
        np.testing.assert_allclose(moved.moment, kept.moment, rtol=1e-6, atol=1e-6 * 1e15)
        np.testing.assert_array_equal(moved.samples, kept.samples)
        assert (moved.start, moved.number) == (kept.start, kept.number)
    farthest = max(np.hypot(p.position[0] - x, p.position[1] - y) for p in here.points)
    assert farthest > 10e3  # so that a wrong direction would show


def test_a_geography_gives_the_direction_of_a_rupture_that_is_moved(path: Path) -> None:
    geography = Geography.from_center((-118.08, 34.02), SIZE, 37.0)
    there = entry_of(path, geography)
    x, y, _ = there.fault.hypocentre
    here = entry_of(path, geography, x=x + 3e3, y=y - 5e3)
    for moved, kept in zip(here.points, there.points, strict=True):
        shift = np.subtract(moved.position, kept.position)
        assert shift == pytest.approx([3e3, -5e3, 0], abs=20e3 * np.radians(0.05))


def test_the_depth_moves_all_subfaults(path: Path) -> None:
    plain, moved = (entry_of(path, None, x=2e4, y=2e4, **more) for more in ({}, {"depth": 9e3}))
    assert moved.fault.hypocentre[2] == 9e3
    shift = 9e3 - plain.fault.hypocentre[2]
    for a, b in zip(plain.points, moved.points, strict=True):
        assert np.subtract(b.position, a.position) == pytest.approx([0, 0, shift])


def test_histories_with_leading_zeros_have_their_first_subfault(tmp_path: Path) -> None:
    """Files of dynamic ruptures start all histories at 0 s, and some have noise before slip."""
    rates = np.zeros((30, 20))
    rates[:, 12:15] = 1.0
    rates[4, :15] = 1e-7
    rates[4, 9:15] = 0.5
    more = {"onset": np.zeros(30), "step": np.full(30, 0.1), "rates": rates.ravel()}
    noisy = make_rupture(np.random.default_rng(1), 30, [20, 0, 0], **more)
    write_srf(tmp_path / "d.srf", noisy)
    entry = entry_of(tmp_path / "d.srf", None, x=7e3, y=8e3)
    (first, *_) = [point for point in entry.points if point.number == 5]
    assert first.position == pytest.approx((7e3, 8e3, noisy.depth[4]))
    assert entry.start == pytest.approx(0.9)


def case(source: dict[str, Any], **grid: Any) -> EarthquakeCase:
    return EarthquakeCase(
        grid={"size": [40e3, 50e3, 20e3], "spacing": 1e3, **grid},
        time={"duration": 10},
        medium={"kind": "homogeneous", "vp": 6000, "vs": 3400, "rho": 2700},
        source=[source],
    )


@pytest.mark.parametrize(
    ("keys", "grid", "problem"),
    [
        ({}, {}, r"has longitudes and latitudes; give x and y of the subfault that slips first"),
        ({"x": 1}, {}, r"source\[0\]\.y: is required: give both x and y"),
        ({"depth": 1}, {}, r"depth = 1: requires x and y"),
        ({"azimuth": 1}, {}, r"azimuth = 1: requires x and y"),
        ({"x": -5, "y": 1}, {}, r"x = -5: lies outside the region"),
        ({"x": 5, "y": 1, "depth": 3e4}, {}, r"depth = 30000.0: lies below the region"),
        (
            {"x": 5, "y": 1, "azimuth": 30},
            {"geography": {"center": [-118, 34]}},
            r"azimuth = 30: is given by \[grid.geography\]; leave it out",
        ),
    ],
)
def test_unclear_places_are_refused(
    path: Path, keys: dict[str, Any], grid: dict[str, Any], problem: str
) -> None:
    with pytest.raises(CaseError, match=problem):
        case({"kind": "srf", "file": path, **keys}, **grid)
