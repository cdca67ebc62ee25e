"""Forests against p4est: its files are read, and balance and neighbours agree with it.

Tests with the fixture `oracle` run p4est, and are skipped where it is not installed (Debian:
libp4est-dev).
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pytest
from dgwave_cases import build, setup
from numpy.typing import NDArray
from p4est_file import P8EST_FILE

from groundswell.errors import CaseError, InputError
from groundswell.meshes.octree import Forest
from groundswell.meshes.octree_faces import FaceKind, find_faces
from groundswell.meshes.octree_refinement import balance
from groundswell.meshes.p4est import read_p4est, read_saved

SOURCE = Path(__file__).parents[2] / "support" / "p4est_oracle.c"

Oracle = Callable[..., Path]


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    """A function that makes a random forest by p4est, in a process of its own, see the source."""
    program = tmp_path_factory.mktemp("p4est") / "oracle"
    compiler = which("mpicc") or "cc"
    command = [compiler, str(SOURCE), "-o", str(program), "-lp4est", "-lsc"]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("p4est is not installed")

    def run(
        seed: int, bricks: Any, periodic: Any = (0, 0, 0), shuffled: int = 0, data: int = 0
    ) -> Path:
        folder = tmp_path_factory.mktemp("forest")
        words = [program, folder, seed, *bricks, *periodic, shuffled, data]
        subprocess.run([str(word) for word in words], check=True, timeout=60)
        return folder

    return run


FORESTS = [
    (1, (1, 1, 1), (0, 0, 0), 0, 0),
    (2, (2, 3, 1), (0, 0, 0), 0, 0),
    (3, (3, 2, 2), (0, 0, 0), 1, 0),
    (4, (2, 2, 5), (1, 0, 0), 1, 12),
    (5, (3, 2, 2), (1, 1, 0), 0, 1),
    (6, (2, 2, 2), (1, 1, 1), 1, 0),
]


def read(path: Path, periodic: Any = (0, 0, 0)) -> Forest:
    found = read_p4est(path)
    x, y, z = map(bool, periodic)
    return Forest(found.edges, found.keys, found.levels, (x, y, z))


@pytest.mark.parametrize(("seed", "bricks", "periodic", "shuffled", "data"), FORESTS)
def test_balance_and_neighbours_agree_with_p4est(
    oracle: Oracle, seed: int, bricks: Any, periodic: Any, shuffled: int, data: int
) -> None:
    folder = oracle(seed, bricks, periodic, shuffled, data)
    forest = read(folder / "forest.p8est", periodic)
    assert forest.roots == bricks and np.ptp(forest.levels) >= 3
    balanced = read(folder / "balanced.p8est", periodic)
    ours = balance(forest)
    assert ours.count > forest.count
    assert np.array_equal(ours.keys, balanced.keys) and np.array_equal(ours.levels, balanced.levels)
    _, keys = read_saved((folder / "balanced.p8est").read_bytes()).place()
    _require_same_neighbours(ours, np.searchsorted(ours.keys, keys), folder / "faces", periodic)


def _require_same_neighbours(
    forest: Forest, leaves: NDArray[np.int64], faces: Path, periodic: Any
) -> None:
    """Compare `find_faces` with `p8est_mesh`.

    Args:
        leaves: our number of each leaf of p4est.
    """
    beyond, code, *finer = np.fromfile(faces, np.int32).reshape(-1, 6, 6).transpose(2, 0, 1)
    ours, numbers = find_faces(forest, leaves), np.arange(len(leaves))[:, None]
    itself = (beyond == numbers) & (code == np.arange(6))
    kinds = np.select(
        [itself, code < 0, code < 24],
        [FaceKind.BOUNDARY, FaceKind.FINER, FaceKind.SAME],
        FaceKind.COARSER,
    )
    assert np.array_equal(ours.kinds, kinds)
    assert {*kinds.ravel()} >= {FaceKind.SAME, FaceKind.COARSER, FaceKind.FINER}
    one = (kinds == FaceKind.SAME) | (kinds == FaceKind.COARSER)
    assert np.array_equal(ours.neighbours[..., 0][one], leaves[beyond[one]])
    four = kinds == FaceKind.FINER
    assert np.array_equal(ours.neighbours[four], leaves[np.stack(finer, axis=-1)[four]])
    coarser = kinds == FaceKind.COARSER
    assert np.array_equal(ours.quarters[coarser], (code[coarser] - 24) // 24)
    assert (kinds == FaceKind.BOUNDARY).any() or all(periodic)


# --- files ----------------------------------------------------------------------------------------


def written(folder: Path, content: bytes) -> Path:
    path = folder / "forest.p8est"
    path.write_bytes(content)
    return path


def boxes(forest: Forest) -> set[tuple[float, ...]]:
    return set(map(tuple, np.concatenate(forest.boxes(), axis=1).tolist()))


def expected_boxes() -> set[tuple[float, ...]]:
    """Those of the example: three bricks, and the parts of the one at high x and low y."""
    found = {(x, y, 0, x + 1, y + 1, 1) for x, y in ((0, 0), (0, 1), (1, 1))}
    for x, y, z in np.ndindex(2, 2, 2):
        low, parts = np.array([1 + x / 2, y / 2, z / 2]), 2 if x == z == 0 else 1
        for part in np.ndindex(*[parts] * 3):
            corner = low + np.array(part) / (2 * parts)
            found.add((*corner.tolist(), *(corner + 1 / (2 * parts)).tolist()))
    return found


def test_a_file_is_read_without_p4est(tmp_path: Path) -> None:
    forest = read_p4est(written(tmp_path, P8EST_FILE))
    assert forest.roots == (2, 2, 1) and forest.count == 25
    assert boxes(forest) == expected_boxes()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_forests_are_mirrored(tmp_path: Path, axis: int) -> None:
    mirrored = read_p4est(written(tmp_path, P8EST_FILE)).mirrored(axis)
    low, high = np.array(sorted(boxes(mirrored))).reshape(-1, 2, 3).swapaxes(0, 1)
    low[:, axis], high[:, axis] = -high[:, axis].copy(), -low[:, axis].copy()
    assert set(map(tuple, np.concatenate([low, high], axis=1).tolist())) == expected_boxes()


def test_units_of_other_versions_are_read(tmp_path: Path) -> None:
    """Later versions of p4est have finer coordinates."""
    leaves = np.frombuffer(P8EST_FILE[-25 * 16 :], "<i4").reshape(-1, 4) * [2**11, 2**11, 2**11, 1]
    content = P8EST_FILE[: -25 * 16] + leaves.astype("<i4").tobytes()
    assert boxes(read_p4est(written(tmp_path, content))) == expected_boxes()


def changed(at: int, value: Any, dtype: str) -> bytes:
    """The example with another value at a byte."""
    new = np.array([value], dtype).tobytes()
    return P8EST_FILE[:at] + new + P8EST_FILE[at + len(new) :]


DAMAGED = [
    (b"", "is truncated or damaged"),
    (P8EST_FILE[:-1], "is truncated or damaged"),
    (P8EST_FILE[:600], "is truncated or damaged"),
    (changed(0, b"hello", "S8"), "contains no forest; give a file written by p8est_save"),
    (changed(0, b"p4est", "S8"), "quadtrees, in two dimensions"),
    (changed(32, 0x3000008, "<u8"), "has the format 0x3000008; allowed: 0x3000009"),
    (changed(48, 2**62, "<u8"), "is truncated or damaged"),
    (changed(0x2E0, 18, "<i4"), "vertices beyond its 18"),
    (changed(0x2E0, 5, "<i4"), "not axis-aligned bricks that fill a box"),
    (changed(0x70, 0.5, "<f8"), "not axis-aligned bricks that fill a box"),
    (changed(0x438, 0, "<u8"), "trees without leaves"),
    (changed(0x46C, 21, "<i4"), "leaves of level 21; allowed: 0 to 19 for 4 trees"),
    (changed(0x460, 2**30, "<i4"), "leaves outside their trees"),
    (changed(0x470, -9, "<i4"), "leaves outside their trees"),
    (changed(0x480, 0, "<i4"), "do not fill the box"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), DAMAGED)
def test_damaged_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=f"forest.p8est: .*{message}"):
        read_p4est(written(tmp_path, content))


# --- cases ----------------------------------------------------------------------------------------

GRID = {"size": [400, 400, 200], "spacing": 200}
LAYERS = {
    "kind": "layered",
    "layers": [{"top": 0, "vp": 2000, "vs": 900, "rho": 2000},
               {"top": 50, "vp": 3000, "vs": 1700, "rho": 2500}],
}  # fmt: skip
PLACES = {"source__0__x": 250, "source__0__y": 50, "source__0__depth": 150}
CASE = {"grid": GRID, "medium": LAYERS, **PLACES}


@pytest.mark.parametrize("vertical", ["down", "up"])
def test_elements_are_halved_as_a_forest(tmp_path: Path, vertical: str) -> None:
    written(tmp_path, P8EST_FILE)
    found = setup(
        tmp_path,
        **CASE,
        refinement={"file": "forest.p8est", "vertical": vertical},
        boundary={"sides": "absorbing", "bottom": "absorbing"},
    )
    boxes_of_file = np.array(sorted(expected_boxes())) * 200
    if vertical == "up":
        boxes_of_file[:, [2, 5]] = 200 - boxes_of_file[:, [5, 2]]
    forest, fine = found.geometry.forest, {*map(tuple, boxes_of_file.tolist())}
    # One brick beside leaves of level 2 is divided to balance them.
    assert len(fine - boxes(forest)) == 2 and forest.count == 25 + 2 * 7
    material = found.materials.elements.average(np.arange(found.geometry.count))
    assert material.vs.max() == 1700 and (material.vs.min() == 900) == (vertical == "down")


def test_parts_of_fluid_elements_may_be_solid(tmp_path: Path) -> None:
    """Equations follow from the elements, not from those of the grid, which hold sea and rock."""
    written(tmp_path, P8EST_FILE)
    water, rock = {"top": 0, "vp": 1500, "vs": 0, "rho": 1000}, {**LAYERS["layers"][1], "top": 100}
    sea = {"kind": "layered", "layers": [water, rock]}
    shot = {"kind": "airgun", "volume": 1, "x": 250, "y": 50, "depth": 50}
    source = [shot | {"time_function": {"kind": "gaussian", "sigma": 0.1}}]
    whole = setup(tmp_path, grid=GRID, medium=sea, source=source)
    found = setup(
        tmp_path, grid=GRID, medium=sea, source=source, refinement={"file": "forest.p8est"}
    )
    assert found.materials.elements.average(np.arange(found.geometry.count)).vs.max() == 1700
    assert found.equations.elastic and not whole.equations.elastic
    with pytest.raises(InputError, match="but parts of the medium are solid"):
        setup(
            tmp_path,
            grid=GRID,
            medium=sea,
            source=source,
            method={"equations": "acoustic"},
            refinement={"file": "forest.p8est"},
        )


@pytest.mark.parametrize("vertical", ["down", "up"])
def test_trees_may_have_the_sizes_of_graded_elements(tmp_path: Path, vertical: str) -> None:
    """Or one size, and are then those of a box that is not graded."""
    written(tmp_path, with_uneven_trees())
    section = {"file": "forest.p8est", "vertical": vertical}
    graded = {**CASE, "grid": {"size": [400, 400, 200], "spacing": [[100, 300], [100, 300], 200]}}
    found = setup(tmp_path, **graded, refinement=section)
    written(tmp_path, P8EST_FILE)
    even, same = (setup(tmp_path, **case, refinement=section) for case in (CASE, graded))
    assert (
        np.array_equal(found.geometry.forest.keys, even.geometry.forest.keys)
        and found.geometry.count == same.geometry.count
    )
    assert {*np.diff(found.geometry.forest.edges[0]).tolist()} == {100, 300}
    with pytest.raises(InputError, match=r"or sizes in proportion to the elements of \[grid\]"):
        written(tmp_path, with_uneven_trees())
        uneven = {"grid__spacing": [[100, 300], [300, 100], 200]}
        setup(tmp_path, **{**CASE, **uneven}, refinement=section)


def with_uneven_trees() -> bytes:
    """The example with trees of edges 1 and 3 along x and y."""
    vertices = np.frombuffer(P8EST_FILE[0x70:0x220], "<f8")
    return P8EST_FILE[:0x70] + np.where(vertices == 2, 4.0, vertices).tobytes() + P8EST_FILE[0x220:]


def test_layers_are_halved_as_the_elements_beside_them(tmp_path: Path) -> None:
    written(tmp_path, P8EST_FILE)
    found = setup(tmp_path, **CASE, refinement={"file": "forest.p8est", "vertical": "down"})
    lower, _ = found.geometry.forest.boxes()
    beside = (lower[:, 0] >= 400) & (lower[:, 0] < 600) & (lower[:, 1] >= 0) & (lower[:, 1] < 200)
    assert (found.geometry.forest.levels[beside & (lower[:, 2] < 200)] == 1).all()
    assert found.geometry.count > found.geometry.grid.count


def test_mistakes_in_cases_with_forests(tmp_path: Path) -> None:
    written(tmp_path, P8EST_FILE)
    section = {"file": "forest.p8est"}
    with pytest.raises(InputError, match=r"has 2 x 2 x 1 trees, but \[grid\] has 4 x 4 x 3 elem"):
        setup(tmp_path, refinement=section)
    written(tmp_path, with_uneven_trees())
    with pytest.raises(InputError, match="trees have different sizes; allowed: equal sizes"):
        setup(tmp_path, **CASE, refinement=section)
    for wrong, key in (({"file": "none.p8est"}, "file"), (section | {"levels": 2}, "levels")):
        with pytest.raises(CaseError) as caught:
            build(tmp_path, refinement=wrong)
        assert caught.value.problems[0].key == f"refinement.{key}"
