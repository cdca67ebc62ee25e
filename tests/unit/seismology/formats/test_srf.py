"""Standard Rupture Format: a file by hand, round trips, and files that are not quite right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundswell.errors import InputError
from groundswell.seismology.formats.srf import Plane, Srf, read_srf, write_srf

QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

BY_HAND = """2.0
# written by hand
PLANE 2
  -118.5  34.2   1 2  10.0  4.0
    122   40   5.0  6.0  19.4
  -118.4  34.3   1 1  3.0  4.0
    130   50   5.0  -2.0  1.5
POINTS 2
# the first has two components
-118.50 34.20 7.5 122 40 4.0e+08 1.25 0.1 3.2e+05 2.7
101 125.0 3 -10.0 2 0 0
0.0 1250.0
0.0
-50.0 -50.0
-118.49 34.19 8.5 122 40 4.0e+08 2.5 0.2 -1 -1
90 0 0 0 0 7.0 1
35.0
POINTS 1
-118.40 34.30 6.0 130 50 1.0e+08 0 0 3.0e+05 2.6
80 0.0 0 0 0 0 0
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def rupture(rng: np.random.Generator, points: int, version: str = "1.0") -> Srf:
    counts = rng.integers(0, 6, (points, 3)) * (rng.random((points, 3)) < 0.5)
    unknown = np.full(points, np.nan)
    known = rng.random(points) < (0.5 if version == "2.0" else 0.0)
    return Srf(
        longitude=rng.uniform(-180, 180, points),
        latitude=rng.uniform(-90, 90, points),
        depth=rng.uniform(0, 2e4, points),
        strike=rng.uniform(0, 360, points),
        dip=rng.uniform(0, 90, points),
        rake=rng.uniform(-180, 180, points),
        area=rng.uniform(1e2, 1e6, points),
        onset=rng.uniform(0, 60, points),
        step=rng.uniform(1e-3, 1, points),
        slip=np.where(counts > 0, rng.normal(size=(points, 3)), 0.0),
        counts=counts,
        rates=rng.normal(size=int(counts.sum())),
        vs=np.where(known, rng.uniform(500, 4000, points), unknown),
        density=np.where(known, rng.uniform(1500, 3300, points), unknown),
        planes=(Plane(-118.5, 34.2, points, 1, 1e4, 4e3, 122, 40, 5e3, 6e3, 1.94e4),),
        version=version,
    )


def assert_same(a: Srf, b: Srf) -> None:
    assert (a.version, len(a)) == (b.version, len(b))
    np.testing.assert_array_equal(a.counts, b.counts)
    for name, value in vars(a).items():
        if isinstance(value, np.ndarray):
            # nine digits are written
            np.testing.assert_allclose(
                value, getattr(b, name), rtol=1e-8, atol=1e-300, err_msg=name
            )
    for plane, other in zip(a.planes, b.planes, strict=True):
        np.testing.assert_allclose(
            list(vars(plane).values()), list(vars(other).values()), rtol=1e-8
        )


def test_a_file_by_hand_comes_out_in_si(tmp_path: Path) -> None:
    srf = read_srf(write(tmp_path / "r.srf", BY_HAND))
    assert len(srf) == 3
    np.testing.assert_allclose(srf.depth, [7500, 8500, 6000])
    np.testing.assert_allclose(srf.area, [4e4, 4e4, 1e4])
    np.testing.assert_allclose(srf.onset, [1.25, 2.5, 0])
    np.testing.assert_allclose(srf.rake, [101, 90, 80])
    np.testing.assert_allclose(srf.slip, [[1.25, -0.1, 0], [0, 0, 0.07], [0, 0, 0]])
    np.testing.assert_array_equal(srf.counts, [[3, 2, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_allclose(srf.vs, [3200, np.nan, 3000])
    np.testing.assert_allclose(srf.density, [2700, np.nan, 2600])
    np.testing.assert_allclose(srf.rate(0, 0), [0, 12.5, 0])
    np.testing.assert_allclose(srf.rate(0, 1), [-0.5, -0.5])
    np.testing.assert_allclose(srf.rate(1, 2), [0.35])
    assert srf.rate(2, 0).size == 0
    assert srf.planes[0] == Plane(-118.5, 34.2, 1, 2, 10e3, 4e3, 122, 40, 5e3, 6e3, 19.4e3)


def test_version_1_says_nothing_about_the_medium(tmp_path: Path) -> None:
    text = "1.0\nPOINTS 1\n10 20 5 0 90 1e8 0 .1\n0 1 1 0 0 0 0\n10\n"
    srf = read_srf(write(tmp_path / "r.srf", text))
    assert np.isnan(srf.vs).all()
    assert np.isnan(srf.density).all()
    assert srf.planes == ()


@QUICK
@given(
    seed=st.integers(0, 2**32 - 1),
    points=st.integers(1, 8),
    version=st.sampled_from(["1.0", "2.0"]),
)
def test_round_trip(tmp_path: Path, seed: int, points: int, version: str) -> None:
    original = rupture(np.random.default_rng(seed), points, version)
    write_srf(tmp_path / "r.srf", original)
    assert_same(original, read_srf(tmp_path / "r.srf"))
    assert [path.name for path in tmp_path.iterdir()] == ["r.srf"]


def test_windows_line_ends_make_no_difference(tmp_path: Path) -> None:
    (tmp_path / "a.srf").write_bytes(BY_HAND.encode())
    (tmp_path / "b.srf").write_bytes(BY_HAND.replace("\n", "\r\n").encode())
    assert_same(read_srf(tmp_path / "a.srf"), read_srf(tmp_path / "b.srf"))


@QUICK
@given(data=st.data())
def test_a_truncated_file_is_refused(tmp_path: Path, data: Any) -> None:
    """Cut inside the last point; within its last number the file would still be a valid one."""
    text = BY_HAND[: BY_HAND.rindex("POINTS 1")].rstrip().removesuffix("35.0").rstrip()
    text = text.split("PLANE")[0] + text[text.index("POINTS") :]
    cut = data.draw(st.integers(0, len(text)))
    with pytest.raises(InputError):
        read_srf(write(tmp_path / "r.srf", text[:cut]))


@QUICK
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, data: Any) -> None:
    raw = bytearray(BY_HAND.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(raw) - 1))
        junk = data.draw(
            st.sampled_from([b"-", b"9", b"e9", b"nan", b" ", b"\n", b"#", b"\xff", b""])
        )
        raw[place : place + data.draw(st.integers(0, 3))] = junk
    (tmp_path / "r.srf").write_bytes(raw)
    try:
        read_srf(tmp_path / "r.srf")
    except InputError as error:
        assert str(tmp_path) in str(error)


@QUICK
@given(raw=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8")))
def test_any_other_file_is_refused(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "r.srf").write_bytes(b"1.0\nPOINTS 1\n" + raw)
    with pytest.raises(InputError):
        read_srf(tmp_path / "r.srf")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2.0\n", "3.0\n", "starts with its version"),
        ("2.0\n", "", "starts with its version"),
        ("2.0\n", "2.0\nPLAN\n", "line 2: expected PLANE n"),
        ("POINTS 2", "POINTS 3", "line 17: POINTS 3 needs 51 numbers.*truncated"),
        ("POINTS 2", "POINTS 99999999999999999999", "line 8: .* whole number"),
        ("POINTS 2", "POINTS 999999999999999", "needs 16999999999999983 numbers, found 40"),
        ("POINTS 2", "POINTS -2", "line 8: .* whole number"),
        ("POINTS 2", "POINTS 0", "at least one"),
        ("POINTS 2", "POINTS 1", "line 15: POINTS 1 is followed by more"),
        ("POINTS 2", "POINTS", "line 8: 'POINTS' is not a finite number"),
        ("PLANE 2", "PLANE 3", "line 3: PLANE 3 needs"),
        ("1 2  10.0", "1 3  10.0", "PLANE announces 4 subfaults, POINTS has 3"),
        ("1 2  10.0", "1 2.5  10.0", "whole and positive"),
        ("125.0 3", "125.0 4", "point 2"),
        ("125.0 3", "125.0 3000000000", "line 10: point 1 of 2.*truncated; copy it again"),
        ("125.0 3", "125.0 -3", "not counts of samples"),
        ("125.0 3", "125.0 2.5", "not counts of samples"),
        ("125.0 3", "125.0 1e300", "line 10"),
        ("1250.0", "fast", "line 12: 'fast' is not a finite number"),
        ("1250.0", "nan", "line 12: 'nan'"),
        ("1250.0", "1_0", "line 12: '1_0'"),
        ("4.0e+08 2.5", "-4.0e+08 2.5", "subfault 2: area = -40000"),
        ("34.19", "134.19", "subfault 2: latitude = 134.19"),
        ("122 40 4.0e+08 2.5", "122 95 4.0e+08 2.5", "subfault 2: dip = 95"),
        ("1.25 0.1", "1.25 0", "subfault 1: step = 0"),
        ("1.25 0.1", "-1.25 0.1", "subfault 1: onset = -1.25"),
        ("3.2e+05 2.7", "0 2.7", "subfault 1: vs = 0"),
        (
            "3.2e+05 2.7",
            "3.2 2.7",
            "vs = 0.032 m/s; .* the file has 3.2, and the unit in SRF is cm/s",
        ),
        (
            "3.2e+05 2.7",
            "3.2e+05 2700",
            "density = 2.7e.06 kg/m.3; .*file has 2700, and the unit in SRF is g/cm",
        ),
        ("80 0.0 0", "80 3.0 0", "subfault 3: slip1 = 0.03 m; .* with slip rates"),
    ],
)
def test_messages_name_the_line_or_the_point(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in BY_HAND
    with pytest.raises(InputError, match=message):
        read_srf(write(tmp_path / "r.srf", BY_HAND.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("version", "columns", "name"),
    [("2.0", "1.0", "8 numbers .* without"), ("1.0", "2.0", "10 numbers .* with")],
)
def test_a_version_with_the_columns_of_the_other_is_named(
    tmp_path: Path, version: str, columns: str, name: str
) -> None:
    for seed in range(20):
        write_srf(tmp_path / "r.srf", rupture(np.random.default_rng(seed), 6, columns))
        text = (tmp_path / "r.srf").read_text()
        write(tmp_path / "w.srf", text.replace(columns, version, 1))
        with pytest.raises(InputError, match=rf"its version is {version}.* of {columns} \({name}"):
            read_srf(tmp_path / "w.srf")


def test_rates_integrate_to_slip(tmp_path: Path) -> None:
    """Every rate lasts for one step, in every component and block."""
    srf = read_srf(write(tmp_path / "r.srf", BY_HAND))
    np.testing.assert_allclose(srf.integrated_slip, [[1.25, -0.1, 0], [0, 0, 0.07], [0, 0, 0]])
    for seed in range(5):
        srf = rupture(np.random.default_rng(seed), 9)
        by_loop = [[h * srf.rate(n, c).sum() for c in range(3)] for n, h in enumerate(srf.step)]
        np.testing.assert_allclose(srf.integrated_slip, by_loop, rtol=1e-12, atol=1e-12)


def test_slip_begins_and_ends_with_rates_that_matter() -> None:
    """Leading zeros, rounding errors and points that hardly slip do not count."""
    good = vars(rupture(np.random.default_rng(4), 4)).copy()
    rates = [[0, 0, 1e-9, 2.0, 1.0, 1e-9], [0.5, 0.5], [1e-5, 1e-5], []]
    counts = np.array([[4, 2, 0], [0, 0, 2], [2, 0, 0], [0, 0, 0]])
    times = {"onset": np.array([1.0, 2, 0, 0]), "step": np.array([0.1, 0.2, 0.1, 0.1])}
    srf = Srf(
        **good | times | {"counts": counts, "rates": np.concatenate(rates), "slip": 0 * counts}
    )
    expected = [[1.0, 1.3], [2.0, 2.2], [np.nan, np.nan], [np.nan, np.nan]]
    np.testing.assert_allclose(srf.slip_times, expected)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read a rupture"):
        read_srf(tmp_path / "none.srf")
    with pytest.raises(InputError, match="cannot read a rupture"):
        read_srf(tmp_path)


def test_arrays_of_the_wrong_shape_are_refused() -> None:
    good = vars(rupture(np.random.default_rng(3), 4)).copy()
    with pytest.raises(InputError, match="depth has shape"):
        Srf(**{**good, "depth": np.zeros(3)})
    with pytest.raises(InputError, match="rates has shape"):
        Srf(**{**good, "rates": np.zeros(1)})
