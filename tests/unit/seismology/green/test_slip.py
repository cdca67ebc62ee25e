"""Slip of files as point sources at the points of a tensor, and tables of variations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from green_tensors import DIP, DT, STRIKE, make_sources, make_subfaults, make_tensor

from groundswell.errors import InputError
from groundswell.formats.netcdf import TIME
from groundswell.grids.geography import Geography
from groundswell.seismology.faults.subfaults import rupture_source
from groundswell.seismology.formats.fault_series import open_history
from groundswell.seismology.green.slip import PointFinder, SlipRows, read_slip
from groundswell.seismology.green.table import read_variations
from groundswell.seismology.sources.moment import double_couple
from groundswell.seismology.sources.point_sources import final_moments

HEADER = "x,y,depth,strike,dip,rake,area,slip,rise_time,onset\n"
ROWS = "1000,800,500,30,70,10,1e6,0.5,0.4,0.1\n1500,800,500,30,70,-20,2e6,0.3,0.5,0.2\n"


def finder(**options: Any) -> PointFinder:
    return PointFinder(make_tensor(**options))


def table(folder: Path, text: str) -> Path:
    path = folder / "slip.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("slip_rate", ["cosine", "brune", "triangle"])
def test_a_table_gives_moments_and_times(slip_rate: str, tmp_path: Path) -> None:
    sources = read_slip(table(tmp_path, HEADER + ROWS), finder(), slip_rate)
    exact = np.array(
        [
            double_couple(30.0, 70.0, 10.0, 3e10 * 1e6 * 0.5),
            double_couple(30.0, 70.0, -20.0, 2e10 * 2e6 * 0.3),
        ]
    )
    assert final_moments(sources) == pytest.approx(exact, rel=1e-3, abs=1e9)
    assert [source.start for source in sources] == pytest.approx([0.1, 0.2])
    assert {source.step for source in sources} == {DT}


def test_a_table_may_give_the_rigidity(tmp_path: Path) -> None:
    text = HEADER.replace("onset", "onset,mu") + ROWS.replace("0.1\n", "0.1,1e9\n")
    sources = read_slip(table(tmp_path, text.replace("0.2\n", "0.2,1e9\n")), finder())
    ratio = np.linalg.norm(final_moments(sources)[0]) / np.linalg.norm(
        double_couple(30.0, 70.0, 10.0, 1e9 * 1e6 * 0.5)
    )
    assert ratio == pytest.approx(1, rel=1e-3)


def test_the_history_of_a_dynamic_rupture_is_slip(tmp_path: Path) -> None:
    times = 0.2 + 0.05 * np.arange(9)
    slip = np.cumsum(np.hanning(9))[:, None] * [1.0, 0.5, 0.0]
    with open_history(tmp_path / "rupture.nc", make_subfaults(), {}, None) as writer:
        none = np.zeros_like(slip)
        writer.append(
            times, {"slip_strike": slip, "slip_updip": -slip, "work": none, "released": none}
        )
    sources = read_slip(tmp_path / "rupture.nc", finder())
    assert [source.number for source in sources] == [1, 2, 1, 2]
    total = final_moments(sources)
    gained = slip[-1] - slip[0]
    assert total[0] == pytest.approx(double_couple(STRIKE, DIP, 0.0, 2e14 * gained[0]))
    assert total[3] == pytest.approx(double_couple(STRIKE, DIP, 90.0, -2e14 * gained[1]))
    first = sources[0]
    middle = first.start + first.step * np.arange(first.samples.size)
    assert middle[1:-1] == pytest.approx((times[1:] + times[:-1]) / 2)
    assert TIME.attrs["units"] == "s"


def test_the_history_of_a_rupture_is_the_slip_of_its_srf_file(tmp_path: Path) -> None:
    """Also if the slip is the mean of points on either side of each subfault."""
    beside = np.array([[[0, 0, 1], [1, 2, 2]], [[0, 1, 2], [0, 1, 2]]])
    subfaults = replace(make_subfaults(), beside=beside)
    rng, times = np.random.default_rng(5), 0.05 * np.arange(12)
    slip = np.cumsum(rng.random((12, 2, 3)), axis=0)
    with open_history(tmp_path / "rupture.nc", subfaults, {}, None) as writer:
        fields = {"slip_strike": slip[:, 0], "slip_updip": slip[:, 1]}
        writer.append(times, fields | dict.fromkeys(("work", "released"), 0 * slip[:, 0]))
    sources = read_slip(tmp_path / "rupture.nc", finder())
    srf = rupture_source(subfaults, slip, times, Geography.from_point((0.0, 0.0), (0.0, 0.0)))
    along, across = srf.rates.reshape(3, 2, -1).swapaxes(0, 1)
    cos, sin = (f(np.radians(srf.rake))[:, None] for f in (np.cos, np.sin))
    expected = [*(cos * along - sin * across), *(sin * along + cos * across)]
    for source, rates in zip(sources, expected, strict=True):
        assert source.samples[1:-1] == pytest.approx(rates, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEADER.replace("rake,", "") + "1000,800,500,30,70,1e6,0.5,0.4,0.1\n", "lacks the columns"),
        (HEADER + ROWS.replace("0.4", "0"), "rise_time must be positive"),
        (HEADER + ROWS.replace("1e6", "-1e6"), "area must be positive"),
        (HEADER + ROWS.replace(",70,", ",270,"), "dip must be between 0 and 180 degrees"),
        (
            HEADER.replace("onset", "onsets") + ROWS,
            'column onsets (did you mean "onset"?); allowed',
        ),
        (HEADER.replace("onset", "slip") + ROWS, "has a column twice"),
        (HEADER + ROWS.replace("1500", "1510"), "is 10 m from the nearest"),
        ("longitude,latitude" + HEADER[3:] + ROWS, "need [grid.geography]"),
    ],
)
def test_tables_are_checked(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_slip(table(tmp_path, text), finder())
    assert words in str(caught.value)


def test_the_tolerance_allows_subfaults_beside_points(tmp_path: Path) -> None:
    path = table(tmp_path, HEADER + ROWS.replace("1500", "1510"))
    found = PointFinder(make_tensor(), tolerance=10.0)
    assert SlipRows.of(read_slip(path, found), found).points.tolist() == [0, 1]


def test_an_srf_file_needs_a_map(tmp_path: Path) -> None:
    (tmp_path / "rupture.srf").write_text("1.0\n")
    with pytest.raises(InputError, match="without"):
        read_slip(tmp_path / "rupture.srf", finder())


def test_shear_strains_are_of_their_plane_only() -> None:
    with pytest.raises(InputError, match="subfault 1 has slip that is not on the plane"):
        SlipRows.of(make_sources((0.0,)), finder(shear=True))


# --- variations -----------------------------------------------------------------------------------


def rows() -> SlipRows:
    return SlipRows.of(make_sources((0.1, 0.2, 0.3)), finder())


def variations(folder: Path, text: str) -> Any:
    path = folder / "variations.csv"
    path.write_text(text)
    return read_variations(path, rows(), "brune")


def test_slip_spreads_from_a_hypocentre(tmp_path: Path) -> None:
    header = "hypocentre_x,hypocentre_y,hypocentre_depth,rupture_speed,rise_time,slip_scale\n"
    found = variations(tmp_path, header + "1000,800,500,2500,0.4,2\n1500,800,900,1000,0.5,1\n")
    distances = [[0, 500, 400], [np.hypot(500, 400), 400, 500]]
    assert found.onset == pytest.approx(np.array(distances) / [[2500], [1000]])
    assert found.amplitude.ravel().tolist() == [2, 1]
    assert found.rise.ravel().tolist() == [0.4, 0.5]
    assert found.shape == "brune"


def test_without_a_hypocentre_times_are_those_of_the_rupture(tmp_path: Path) -> None:
    found = variations(tmp_path, "slip_scale,onset\n2,0\n1,0.5\n")
    assert found.onset == pytest.approx(np.array([[0.1, 0.2, 0.3], [0.6, 0.7, 0.8]]))
    assert found.shape == "own"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("slip\n1\n", "has the column slip"),
        ("hypocentre_x,rupture_speed\n1,2\n", "give all four"),
        ("rise_time\n0\n", "rise_time of variation 1 must be positive"),
        ("slip_scale\nnone\n", "not all cells are numbers"),
    ],
)
def test_tables_of_variations_are_checked(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        variations(tmp_path, text)
    assert words in str(caught.value)
