"""Damaged mesh files of every format: one message each, soon and in little memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bent_boxes import bent
from damage import count_refused
from mesh_files import write
from re2_files import Ring, write_re2
from variants import long_variants

from groundswell.errors import InputError
from groundswell.meshes.reading import read_mesh_groups

NAMES = {4: "inlet", 7: "the outlet", 2: "walls"}
TEXT = {".msh": {"binary": False, "version": "4.1"}, ".vtk": {"binary": False}}
TEXT |= {".vtu": {"binary": False}, ".inp": {}}
OTHER = {".e": {"version": 4}}
FILES = Path(__file__).parent / "files"
QUICK, ALL = 30, 150


def original(folder: Path, ending: str, how: dict[str, Any]) -> bytes:
    """A small file."""
    path = folder / f"sound{ending}"
    if ending == ".re2":
        ring = Ring()
        write_re2(path, ring.corners, ring.arcs, [ring.tags])
    else:
        mesh, tags = bent(2)
        write(path, mesh, tags, NAMES, 27, **how)
    return path.read_bytes()


def require_messages(folder: Path, ending: str, content: bytes, seeds: range, words: float) -> int:
    """Read mutants; the number that are refused."""

    def read(path: Path) -> None:
        try:
            read_mesh_groups(path, periodic=True)
        except InputError as error:
            assert str(error).startswith(f"{path}: ")
            raise

    return count_refused(read, folder / ending, content, seeds, words=words)


ENDINGS = (".msh", ".inp", ".e", ".med", ".vtk", ".vtu", ".re2")
COUNTS = [QUICK, *long_variants([ALL])]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_mutants(tmp_path: Path, capfd: Any, ending: str, count: int) -> None:
    content = original(tmp_path, ending, {})
    refused = require_messages(tmp_path, ending, content, range(count), 0.0)
    assert refused > count / 4
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("ending", TEXT)
def test_mutants_of_texts(tmp_path: Path, ending: str, count: int) -> None:
    """Words lost or replaced."""
    content = original(tmp_path, ending, TEXT[ending])
    refused = require_messages(tmp_path, ending, content, range(1000, 1000 + count), 1.0)
    assert refused > count / 4


@pytest.mark.full
@pytest.mark.parametrize("name", [path.name for path in sorted(FILES.iterdir())])
def test_mutants_of_files_of_other_programs(tmp_path: Path, name: str) -> None:
    path = FILES / name
    seeds = range(2000, 2000 + ALL)
    assert require_messages(tmp_path, path.suffix, path.read_bytes(), seeds, 0.0) > ALL / 4
