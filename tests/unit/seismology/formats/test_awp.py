"""AWP-ODC sources and meshes: bytes written by hand, round trips, damaged files."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from awp_files import write_awp_mesh, write_awp_source
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundswell.errors import InputError
from groundswell.seismology.formats.awp import AwpMesh, AwpSource, read_awp_source

QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
rng = np.random.default_rng(2010)


# --- sources -------------------------------------------------------------------------------------


def by_hand(order: str = "<") -> bytes:
    """Two points with two steps each."""
    first = struct.pack(f"{order}3i12f", 1, 2, 3, *range(1, 13))
    return first + struct.pack(f"{order}3i12f", 40, 5, 1, *range(21, 33))


def test_a_binary_source_by_hand(tmp_path: Path) -> None:
    (tmp_path / "s.bin").write_bytes(by_hand())
    source = read_awp_source(tmp_path / "s.bin", points=2, steps=2)
    np.testing.assert_array_equal(source.points, [[1, 2, 3], [40, 5, 1]])
    np.testing.assert_array_equal(source.rates[0, 1], [7, 8, 9, 10, 11, 12])
    # xx, yy, zz, xz, yz, xy with z up becomes xx, yy, zz, xy, xz, yz with z down.
    np.testing.assert_array_equal(source.moment_rates()[0, 0], [1, 2, 3, 6, -4, -5])
    # The centre of cell (i - 1, j - 1, k - 1).
    np.testing.assert_allclose(source.positions((100, 50, 20)), [[50, 75, 50], [3950, 225, 10]])
    graded = (100, (20, 30, 50, 60, 70), (5, 10, 40))
    np.testing.assert_allclose(source.positions(graded), [[50, 35, 35], [3950, 195, 2.5]])


def test_turning_z_round_is_a_change_of_frame() -> None:
    """v^T M v is the same number in both frames."""
    rates = rng.normal(size=(1, 1, 6)).astype(np.float32)
    xx, yy, zz, xz, yz, xy = rates[0, 0].astype(float)
    up = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    xx, yy, zz, xy, xz, yz = AwpSource(np.ones((1, 3), int), rates).moment_rates()[0, 0].tolist()
    down = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    v = rng.normal(size=3)
    flipped = v * [1, 1, -1]
    np.testing.assert_allclose(v @ up @ v, flipped @ down @ flipped, rtol=1e-6)


def test_a_text_source_by_hand(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("1 2 3\n1 2 3 4 5 6\n7 8 9 10 11 12\n40 5 1\n" + "0 " * 12)
    source = read_awp_source(tmp_path / "s.txt", 2, 2, "text")
    np.testing.assert_array_equal(source.points, [[1, 2, 3], [40, 5, 1]])
    np.testing.assert_array_equal(source.rates[0].ravel(), range(1, 13))
    assert not source.rates[1].any()


@QUICK
@given(
    seed=st.integers(0, 2**32 - 1),
    points=st.integers(1, 5),
    steps=st.integers(1, 5),
    format=st.sampled_from(["binary", "text"]),
)
def test_round_trip(tmp_path: Path, seed: int, points: int, steps: int, format: str) -> None:
    rng = np.random.default_rng(seed)
    rates = (1e18 * rng.normal(size=(points, steps, 6))).astype(np.float32)
    source = AwpSource(rng.integers(1, 5000, (points, 3)), rates)
    write_awp_source(tmp_path / "s", source, format)
    found = read_awp_source(tmp_path / "s", points, steps, format)
    np.testing.assert_array_equal(found.points, source.points)
    np.testing.assert_array_equal(found.rates, source.rates)  # nine digits hold any float32


@QUICK
@given(cut=st.integers(1, 60), more=st.binary(min_size=1, max_size=9))
def test_a_source_of_another_size_is_refused(tmp_path: Path, cut: int, more: bytes) -> None:
    for raw in (by_hand()[:-cut], by_hand() + more):
        (tmp_path / "s").write_bytes(raw)
        with pytest.raises(InputError, match=f"need 120 bytes; the file has {len(raw)}"):
            read_awp_source(tmp_path / "s", 2, 2)


@QUICK
@given(raw=st.binary(max_size=300), format=st.sampled_from(["binary", "text"]))
def test_any_bytes_are_read_or_refused(tmp_path: Path, raw: bytes, format: str) -> None:
    (tmp_path / "s").write_bytes(raw)
    try:
        read_awp_source(tmp_path / "s", max(1, len(raw) // 36), 1, format)
    except InputError as error:
        assert str(tmp_path) in str(error)


@QUICK
@given(place=st.integers(0, 59), junk=st.sampled_from(["x", "-", "nan ", "1e99", " ", "."]))
def test_damaged_text_is_read_or_refused(tmp_path: Path, place: int, junk: str) -> None:
    text = "1 2 3\n1 2 3 4 5 6\n7 8 9 10 11 12\n40 5 1\n" + "0 " * 12
    (tmp_path / "s").write_text(text[:place] + junk + text[place + 1 :])
    try:
        read_awp_source(tmp_path / "s", 2, 2, "text")
    except InputError as error:
        assert str(tmp_path) in str(error)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (by_hand(">"), "other byte order"),
        (struct.pack("<3i", 0, 1, 1) + by_hand()[12:], "point 1 has indices"),
        (by_hand()[:60] + struct.pack("<3i", 1, -7, 1) + by_hand()[72:], "point 2 has indices"),
        (by_hand()[:116] + struct.pack("<f", np.nan), "point 2, step 2: a moment rate"),
        (by_hand()[:36] + struct.pack("<f", np.inf) + by_hand()[40:], "point 1, step 2"),
    ],
)
def test_bad_sources_are_refused(tmp_path: Path, raw: bytes, message: str) -> None:
    (tmp_path / "s").write_bytes(raw)
    with pytest.raises(InputError, match=message):
        read_awp_source(tmp_path / "s", 2, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10**12, 10**6), "need 24000012000000000000 bytes"),
        ((2, 2, "text"), "need 30 numbers; found 5"),
    ],
)
def test_bad_requests_are_refused(tmp_path: Path, arguments: tuple, message: str) -> None:
    (tmp_path / "s").write_text("1 2 3 4 5")
    with pytest.raises(InputError, match=message):
        read_awp_source(tmp_path / "s", *arguments)


def test_indices_in_text_must_be_whole(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("1 2.5 3 " + "0 " * 6)
    with pytest.raises(InputError, match=r"point 1 has indices .* must be whole"):
        read_awp_source(tmp_path / "s", 1, 1, "text")


# --- meshes --------------------------------------------------------------------------------------


def planes(cells: tuple[int, int, int], names: tuple[str, ...]) -> list[dict[str, np.ndarray]]:
    nx, ny, nz = cells
    return [
        {name: rng.uniform(100, 7000, (ny, nx)).astype(np.float32) for name in names}
        for _ in range(nz)
    ]


NAMES = ("vp", "vs", "rho", "qp", "qs")


@pytest.mark.parametrize("variables", [3, 5, 8])
def test_a_mesh_round_trip(tmp_path: Path, variables: int) -> None:
    cells = (4, 3, 2)
    original = planes(cells, NAMES[: min(variables, 5)])
    write_awp_mesh(tmp_path / "m", original, variables)
    mesh = AwpMesh(tmp_path / "m", cells, variables)
    for k, plane in enumerate(original):
        found = mesh.plane(k)
        assert set(found) == set(plane)
        for name, field in plane.items():
            np.testing.assert_array_equal(found[name], field)


def test_a_mesh_runs_x_first_then_y_then_down(tmp_path: Path) -> None:
    values = np.arange(1, 2 * 3 * 4 * 3 + 1, dtype="<f4")  # vp, vs, rho of cell after cell
    values.tofile(tmp_path / "m")
    plane = AwpMesh(tmp_path / "m", (2, 3, 4)).plane(2)
    assert plane["vp"].shape == (3, 2)
    cell = 2 * 3 * 2 + 1 * 2 + 1  # k = 2, j = 1, i = 1
    assert [plane[name][1, 1] for name in ("vp", "vs", "rho")] == [
        3 * cell + 1,
        3 * cell + 2,
        3 * cell + 3,
    ]


def test_the_coordinates_of_an_8_variable_mesh_are_ignored(tmp_path: Path) -> None:
    values = np.full((6, 8), 1000, dtype="<f4")
    values[:, :3] = np.nan
    values.tofile(tmp_path / "m")
    assert set(AwpMesh(tmp_path / "m", (3, 2, 1), 8).plane(0)) == set(NAMES)


def test_a_mesh_is_not_loaded(tmp_path: Path) -> None:
    """A sparse file of 96 GiB opens at once, and its planes are read one by one."""
    cells = (2048, 2048, 2048)
    with (tmp_path / "m").open("wb") as file:
        file.truncate(4 * 3 * 2048**3)
    with pytest.raises(InputError, match=r"vp = 0.0 in cell \(0, 0, 2047\)"):
        AwpMesh(tmp_path / "m", cells).plane(2047)


@pytest.mark.parametrize("bad", [0.0, -1500.0, np.nan, np.inf, 1e30, 1e-20])
def test_a_bad_value_is_refused_with_its_cell(tmp_path: Path, bad: float) -> None:
    original = planes((4, 3, 2), NAMES[:3])
    original[1]["vs"][2, 3] = bad
    write_awp_mesh(tmp_path / "m", original)
    mesh = AwpMesh(tmp_path / "m", (4, 3, 2))
    mesh.plane(0)
    with pytest.raises(InputError, match=r"vs = .* in cell \(3, 2, 1\)"):
        mesh.plane(1)


def test_the_other_byte_order_is_recognised(tmp_path: Path) -> None:
    rng.uniform(500, 7000, 4 * 3 * 2 * 3).astype(">f4").tofile(tmp_path / "m")
    with pytest.raises(InputError, match="other byte order"):
        AwpMesh(tmp_path / "m", (4, 3, 2)).plane(0)


@pytest.mark.parametrize(
    ("cells", "variables", "message"),
    [
        ((4, 3, 2), 3, "4 x 3 x 2 cells of 3 float32 need 288 bytes; the file has 100"),
        ((10**9, 10**9, 10**9), 3, "bytes; the file has 100"),
    ],
)
def test_bad_meshes_are_refused(
    tmp_path: Path, cells: tuple[int, int, int], variables: int, message: str
) -> None:
    (tmp_path / "m").write_bytes(b"\0" * 100)
    with pytest.raises(InputError, match=message):
        AwpMesh(tmp_path / "m", cells, variables)


def test_a_missing_mesh_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        AwpMesh(tmp_path / "none", (2, 2, 2))
