"""The content of Gmsh's .msh files, read by meshio, and what is wrong with it.

The format is described in Gmsh's reference manual, section "MSH file format".
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Integers
from groundswell.errors import InputError, reason_of

VERSIONS = (b"2", b"2.2", b"4.1")  # of the format
_LEAST_TABLE, _MOST_SPARSE = 10**7, 100


def read_bytes(path: Path) -> bytes:
    """The file's content, after a check that it is complete."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}); give a .msh file") from None
    if not content.lstrip().startswith((b"$MeshFormat", b"$Comments")):
        raise InputError("is not a .msh file, which starts with $MeshFormat; export it from Gmsh")
    if b"$EndElements" not in content:
        raise InputError("is incomplete or has no elements; save or copy it again")
    if b"$PartitionedEntities" in content:
        raise InputError(
            "is partitioned, and parts of it have no groups; remove the partition in Gmsh (Mesh, "
            "Unpartition) and save it again; runs distribute the elements themselves"
        )
    return content


def read_meshio(path: Path, content: bytes) -> Any:
    """The mesh as meshio reads it."""
    import meshio

    _require_dense_numbers(content)
    try:
        # It warns on stderr about tags that it skips.
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return meshio.gmsh.read(path)
    except (Exception, SystemExit) as error:  # meshio raises anything on damaged files
        raise InputError(f"meshio cannot read it{_why_unreadable(content, error)}") from error


def _require_dense_numbers(content: bytes) -> None:
    """Refuse numbers of nodes that are far above their count: meshio has a table of all numbers."""
    version = content.partition(b"$MeshFormat")[2].split(maxsplit=1)[:1]
    if not version or version[0] not in VERSIONS or b"$Nodes" not in content:
        return  # which meshio refuses
    numbers = node_numbers(content)
    if len(numbers) and numbers.max() > max(_LEAST_TABLE, _MOST_SPARSE * len(numbers)):
        raise InputError(
            f"meshio cannot read it, as its {len(numbers):,} nodes have numbers of up to "
            f"{numbers.max():,}; renumber nodes and elements in Gmsh (Mesh.Renumber = 1), and save "
            "it again"
        )


def _why_unreadable(content: bytes, error: BaseException) -> str:
    """What meshio cannot read in a file, and the remedy in Gmsh."""
    version = content.partition(b"$MeshFormat")[2].split(maxsplit=1)[:1]
    if version and version[0] not in VERSIONS:
        found = version[0].decode(errors="replace")
        return f", as it is of version {found}; save it as 4.1 or 2.2 (Mesh.MshFileVersion = 4.1)"
    if b"$ParametricNodes" in content or "parametric" in str(error):
        return ", as it holds parametric coordinates of nodes; save it with Mesh.SaveParametric = 0"
    numbers = re.findall(rb"^(\d{10,})\s", content, re.MULTILINE)
    if isinstance(error, OverflowError) or any(int(number) >= 2**31 for number in numbers):
        return (
            ", as nodes, elements or physical groups have numbers of 2^31 or more; give groups "
            "smaller numbers, renumber nodes and elements in Gmsh (Mesh.Renumber = 1), and save it"
        )
    return (
        f" ({type(error).__name__}: {reason_of(error)}); save it from Gmsh as "
        "one file of version 4.1 or 2.2, with Mesh.SaveAll = 0"
    )


def node_numbers(content: bytes) -> Integers:
    """Gmsh's numbers of the nodes in the order of meshio's points.

    Raises:
        InputError: the nodes are damaged.
    """
    try:
        return _node_numbers(content)
    except (ValueError, IndexError, OverflowError):
        raise InputError("has damaged nodes; save it again") from None


def _node_numbers(content: bytes) -> Integers:
    section = content.partition(b"$Nodes")[2].partition(b"$EndNodes")[0].split(b"\n", 1)[1]
    version, kind, *_ = content.partition(b"$MeshFormat")[2].split(maxsplit=3)
    if version.startswith(b"2"):
        if kind == b"1":  # meshio refuses other numbers in binary files
            return np.arange(int(section.split(maxsplit=1)[0])) + 1
        return np.array([int(row.split()[0]) for row in section.splitlines()[1:] if row.strip()])
    numbers = _binary_numbers(section) if kind == b"1" else _text_numbers(section.split())
    return np.concatenate([np.empty(0, np.int64), *numbers])


def _text_numbers(words: list[bytes]) -> Iterator[Integers]:
    """Yield the numbers of the nodes of each entity of version 4.1."""
    at = 4
    while at + 4 <= len(words):
        count = int(words[at + 3])
        if words[at + 2] != b"0" or count < 0:
            return  # with parametric coordinates, which meshio refuses
        yield np.array(words[at + 4 : at + 4 + count], np.int64)
        at += 4 + 4 * count  # numbers, then three coordinates each


def _binary_numbers(section: bytes) -> Iterator[Integers]:
    """The same for binary files, whose sizes have 64 bits."""
    at = 32
    while at + 20 <= len(section):
        count = int.from_bytes(section[at + 12 : at + 20], "little")
        if section[at + 8 : at + 12] != bytes(4):
            return
        yield np.frombuffer(section, "<i8", count, at + 20)
        at += 20 + 32 * count


def group_names(content: bytes, dimension: int) -> dict[int, str]:
    """Names of physical groups; meshio drops those that another dimension has too."""
    section = re.search(rb"\$PhysicalNames(.*?)\$EndPhysicalNames", content, re.DOTALL)
    lines = section[1].decode(errors="replace") if section else ""
    named = re.findall(r'^\s*(\d)\s+(-?\d+)\s+"(.+)"\s*$', lines, re.MULTILINE)
    return {abs(int(tag)): name for of, tag, name in named if int(of) == dimension}
