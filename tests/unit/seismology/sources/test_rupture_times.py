"""Slip models without rupture times: the rupture spreads at the mean velocity of the header."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyproj
import pytest
from damage import count_refused
from fsp_files import Model, Segment, random_segment

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.sources.slip_models import SlipModel, read_slip_model

STILL = ("SLIP", "RAKE", "RISE")
LOC = "LAT  =  34.0000   LON = -118.0000  DEP = 8.0"
VELOCITY = 2.7  # km/s, in the header

# In the form of the oldest models of SRCMOD: tabs, numbers without %, a damaged structure, and
# neither rakes nor times of the subfaults.
OLD = """\
% ---------------------------------- FINITE-SOURCE RUPTURE MODEL ---------------------------------
%
% Event : Nowhere (Calif.) \t\t01/02/1990 \t\t[Nobody (1994) ]
% EventTAG: s1990NOWHER01NOBO
%
% Loc  : LAT  = 35.0 \t\tLON = -117.0\t\tDEP = 4.5
% Size : LEN  = 8.0 km \tWID =  6.0 km\t\tMw = 6.1\tMo = 1.9e+018 Nm
% Mech : STRK = 0.0\t\tDIP = 90.0\t\tRAKE = 180.0\tHtop = 0.0 km
% Rupt : HypX = 2.00 km \tHypZ = 4.50 km \t\tavTr = 1.2 s\tavVr = 2.5 km/s
%
% Invs :  Nx  =  2 \tNz  = 2 \tFmin = 0.05 Hz \tFmax = 0.25 Hz
% Invs :  Dx  =  4.0 km \tDz  = 3.00 km
% Invs :  Ntw =  1\tNsg =  1 \t\t\t(# of time-windows,# of fault segments)
% Invs :  LEN =  3.0 s\tSHF =  0.0 s \t\t(time-window length and time-shift)
% SVF  :  triang \t\t\t\t\t(type of slip-velocity function used)
%
% Data : \tSGM\tTELE\tTRIL\tLEVEL\tGPS\tINSAR\tSURF\tOTHER
% Data : \t18\t0\t0\t0\t0\t0\t0\t0
% PHImx: \t60\t0\t0\t0\t0\t0\t0\t0
% Rmin : \t60\t0\t0\t0\t0\t0\t0\t0
\t10.0\t0.0\t0.0\t0.0\t0.0\t0.0\t0.0\t0.0
%
% VELOCITY-DENSITY STRUCTURE
% No.  of layers =  3
%\tDEPTH\tP-VEL\tS-VEL\tDENS\tQP\tQS
%\t[km]\t[km/s]\t[km/s]\t[g/cm^3]
% % %      40.00      8.00      4.60      3.30    600.00    300.00
%
% SOURCE MODEL PARAMETERS
% \tNsbfs = 4 subfaults
%   Coordinates are given for top-center of each subfault or segment: |'|
%    LAT     LON     X==EW     Y==NS     Z     SLIP
% ------------------------------------------------------------------------------------------------
   35.0000 -117.0000    0.0000    0.0000    0.0000    0.5000
   35.0361 -117.0000    0.0000    4.0000    0.0000    1.5000
   35.0000 -117.0000    0.0000    0.0000    3.0000    0.7000
   35.0361 -117.0000    0.0000    4.0000    3.0000    0.0000
"""


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(47)


def read(folder: Path, content: str) -> SlipModel:
    path = folder / "model.fsp"
    path.write_text(content)
    return read_slip_model(path, None)


def onsets(model: SlipModel) -> Floats:
    return np.asarray(model.content.onset - model.content.step / 2)


def place(segment: Segment, along: float, down: float, off: float = 0.0) -> tuple[float, ...]:
    """Longitude, latitude and depth at distances (km) from the first subfault.

    Args:
        off: distance at right angles to the plane, on the side of the hanging wall.
    """
    angle, dip = np.radians(segment.strike), np.radians(segment.dip)
    across, deeper = down * np.cos(dip) + off * np.sin(dip), down * np.sin(dip) - off * np.cos(dip)
    east = along * np.sin(angle) + across * np.cos(angle)
    north = along * np.cos(angle) - across * np.sin(angle)
    longitude, latitude, depth = segment.corner
    scale = 111.19 * np.cos(np.radians(latitude))
    return longitude + east / scale, latitude + north / 111.19, depth + deeper


def loc(longitude: float, latitude: float, depth: float) -> dict[str, str]:
    """The line of the header with this hypocentre."""
    return {LOC: f"LAT = {latitude:.8f}  LON = {longitude:.8f} DEP = {depth:.6f}"}


def straight(segment: Segment, hypocentre: tuple[float, ...]) -> Floats:
    """Distances (km) of the subfaults, along geodesics of the ellipsoid and down."""
    table, count = segment.table, len(segment.columns["SLIP"])
    longitude, latitude, depth = (np.full(count, of) for of in hypocentre)
    geod = pyproj.Geod(ellps="WGS84")
    far = geod.inv(longitude, latitude, table["LON"], table["LAT"])[2]
    return np.hypot(1e-3 * np.asarray(far), table["Z"] - depth)


@pytest.mark.parametrize("at_top", [False, True])
@pytest.mark.parametrize("off", [0.0, 0.4])
def test_the_rupture_spreads_in_the_plane(
    tmp_path: Path, rng: np.random.Generator, off: float, at_top: bool
) -> None:
    segment = random_segment(rng, *STILL, strike=rng.uniform(0, 360), dip=rng.uniform(20, 90))
    along, down = rng.uniform(-0.5, 4.0), rng.uniform(-0.5, 2.0)
    model = Model([segment], texts=loc(*place(segment, along, down, off)), at_top=at_top)
    found = read(tmp_path, model.text())
    exact = straight(segment, place(segment, along, down)) / VELOCITY
    np.testing.assert_allclose(onsets(found), exact, rtol=2e-3, atol=2e-3)  # of the test's map
    flat = np.hypot(2.0 * np.tile(np.arange(3), 2) - along, 1.5 * np.repeat(np.arange(2), 3) - down)
    np.testing.assert_allclose(onsets(found), flat / VELOCITY, rtol=5e-3, atol=2e-3)
    (note,) = found.warnings
    assert "model.fsp: the file has no rupture times (TRUP)" in note and "2.7 km/s" in note


def test_segments_share_the_hypocentre_of_the_first_line(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    first, second = (random_segment(rng, *STILL) for _ in range(2))
    second = replace(second, strike=210.0, dip=80.0, corner=(-117.9, 34.05, 3.0))
    hypocentre = place(first, 1.0, 0.7)
    found = read(tmp_path, Model([first, second], texts=loc(*hypocentre)).text())
    exact = np.concatenate([straight(each, hypocentre) for each in (first, second)]) / VELOCITY
    np.testing.assert_allclose(onsets(found), exact, rtol=2e-3)


def test_models_with_times_keep_them(tmp_path: Path, rng: np.random.Generator) -> None:
    segment = random_segment(rng, *STILL, "TRUP")
    found = read(tmp_path, Model([segment]).text())
    assert onsets(found) == pytest.approx(segment.columns["TRUP"])
    assert not found.warnings


def test_the_oldest_form(tmp_path: Path) -> None:
    found = read(tmp_path, OLD)
    depths, north = np.array([1.5, 1.5, 4.5, 4.5]), np.array([0, 4, 0, 4])
    times = np.hypot(depths - 4.5, north) / 2.5
    np.testing.assert_allclose(onsets(found), times, atol=3e-3)  # s; LAT has four digits
    assert found.content.slip[:, 0] == pytest.approx([0.5, 1.5, 0.7, 0.0])
    assert np.isnan(found.content.vs).all()  # the rigidity is that of the medium
    assert len(found.content.planes) == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("avVr = 2.7", "avVr = 999.0", r"no mean rupture velocity \(avVr = 999\); add one of both"),
        ("avVr = 2.7", "avVr = -99.0", r"no mean rupture velocity \(avVr = -99\)"),
        ("avVr = 2.7", "avVr = 0.0", r"no mean rupture velocity \(avVr = 0\)"),
        ("avVr = 2.7 km/s", "avVr =  km/s", "no mean rupture velocity; add one of both"),
        ("avVr = 2.7", "avVr = 2700", "must be at most 10 km/s; if it is in m/s"),
        (LOC, "LAT = 34.0 LON = -118.0 DEP = 999.0", "the header has no hypocentre; add"),
        ("% Loc ", "% Lok ", "the header has no hypocentre"),
        (LOC, "LAT = 94.0 LON = -118.0 DEP = 9.0", "the header has no hypocentre"),
        (LOC, "LAT = 34.0 LON = -117.0 DEP = 8.0", r"LON = -117, DEP = 8 km\) is 8\d.\d km from"),
        (LOC, "LAT = 34.0 LON = -118.0 DEP = 8000", r"DEP = 8000 km\) is 8e\+03 km from the fault"),
    ],
)
def test_models_without_a_velocity_or_a_hypocentre_are_refused(
    tmp_path: Path, rng: np.random.Generator, old: str, new: str, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, Model([random_segment(rng, *STILL)], texts={old: new}).text())
    assert str(tmp_path / "model.fsp") in str(caught.value)


def test_times_of_a_part_of_the_segments_are_refused(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    segments = [random_segment(rng, *STILL, "TRUP"), random_segment(rng, *STILL)]
    with pytest.raises(InputError, match="segment 2 has no column TRUP, but others have; add it"):
        read(tmp_path, Model(segments).text())


def test_damaged_files_are_refused_or_read(tmp_path: Path, rng: np.random.Generator) -> None:
    def read_it(path: Path) -> None:
        assert np.isfinite(read_slip_model(path, None).content.onset).all()

    content = Model([random_segment(rng, *STILL)] * 2).text().encode()
    mutant = tmp_path / "mutant.fsp"
    assert count_refused(read_it, mutant, content, range(60), words=0.6, lines=12) > 12
