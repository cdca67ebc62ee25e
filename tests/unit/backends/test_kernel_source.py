"""Kernel sources: constants, inlined includes, line numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from groundswell.backends import Source
from groundswell.backends.cpu import CpuBackend
from groundswell.backends.source import digest
from groundswell.errors import BackendError, GroundswellError


def write(folder: Path, **files: str) -> Path:
    """Write each file as NAME.h; the path of the last one."""
    for name, text in files.items():
        (folder / f"{name}.h").write_text(text)
    return folder / f"{name}.h"


def code(text: str) -> list[str]:
    """The lines that a compiler acts on."""
    return [line for line in text.splitlines() if line and not line.startswith("#line")]


def test_constants_come_first_and_by_type(tmp_path: Path) -> None:
    path = write(tmp_path, main="int x;\n")
    constants = {"N": 5, "ON": True, "OFF": False, "H": 0.1, "EXACT": repr(0.1)}
    assert code(Source(path, constants).text()) == [
        "#define N 5",
        "#define ON 1",
        "#define OFF 0",
        "#define H (static_cast<real>(0.1))",
        "#define EXACT 0.1",
        "int x;",
    ]


@pytest.mark.parametrize("value", [1 / 3, 1e-300, 6.02214076e23, -0.0, 5e-324])
def test_a_floating_constant_keeps_every_digit(tmp_path: Path, value: float) -> None:
    text = Source(write(tmp_path, main=""), {"H": value}).text()
    literal = re.search(r"static_cast<real>\((.*?)\)\)", text)
    assert literal and float(literal[1]) == value


def test_includes_are_inlined_once_and_in_place(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        deep="int deep;\n",
        left='#pragma once\n#include "deep.h"\nint left;\n',
        right='#include "deep.h"\nint right;\n',
        main='#include "left.h"\n  #  include "right.h"\n#include <cmath>\nint main_;\n',
    )
    lines = ["int deep;", "int left;", "int right;", "#include <cmath>", "int main_;"]
    assert code(Source(path, {}).text()) == lines


def test_own_folder_comes_before_the_shared_one(tmp_path: Path) -> None:
    path = write(tmp_path, portable="int mine;\n", main='#include "portable.h"\n')
    assert code(Source(path, {}).text()) == ["int mine;"]
    path = write(tmp_path, other='#include "triad.h"\n')
    assert "KERNEL triad(" in Source(path, {}).text()


def test_a_missing_include_is_named(tmp_path: Path) -> None:
    with pytest.raises(GroundswellError, match=r"'absent\.h' is not in"):
        Source(write(tmp_path, main='#include "absent.h"\n'), {}).text()


def test_compilers_report_the_lines_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, part="int a;\n\n", main='\n#include "part.h"\nint b;\noops;\n')
    with pytest.raises(BackendError, match=r"main\.h:4:"):
        CpuBackend().build(Source(path, {}))
    path = write(tmp_path, part="int a;\n\noops;\n", other='#include "part.h"\n')
    with pytest.raises(BackendError, match=r"part\.h:3:"):
        CpuBackend().build(Source(path, {}))


def test_digests_tell_every_part_apart() -> None:
    parts = [("a", "b"), ("ab",), ("a", "", "b"), ("b", "a"), ("a", "b", "")]
    digests = {digest(*p) for p in parts}
    assert len(digests) == len(parts)
    assert digest("a", "b") in digests
    assert all(re.fullmatch(r"[0-9a-f]{32}", d) for d in digests)
