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

from groundswell.errors import InputError, reason_of

VERSIONS = (b"2", b"2.2", b"4.1")  # of the format


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

    try:
        # It warns on stderr about tags that it skips.
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return meshio.gmsh.read(path)
    except (Exception, SystemExit) as error:  # meshio raises anything on damaged files
        raise InputError(f"meshio cannot read it{_why_unreadable(content, error)}") from error


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


def find_ignored(path: Path, content: bytes) -> Iterator[str]:
    """Yield warnings about contents of the file that are ignored: periodic links."""
    links = content.partition(b"$Periodic")[2].split(maxsplit=1)[:1]
    if links and links[0] != b"0":
        yield (
            f"{path} has periodic links between sides, which are ignored; use a box for a periodic "
            "domain"
        )


def group_names(content: bytes, dimension: int) -> dict[int, str]:
    """Names of physical groups; meshio drops those that another dimension has too."""
    section = re.search(rb"\$PhysicalNames(.*?)\$EndPhysicalNames", content, re.DOTALL)
    lines = section[1].decode(errors="replace") if section else ""
    named = re.findall(r'^\s*(\d)\s+(-?\d+)\s+"(.+)"\s*$', lines, re.MULTILINE)
    return {abs(int(tag)): name for of, tag, name in named if int(of) == dimension}
