"""Reads meshes of hexahedra from files of any format that there is a reader for."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from groundswell.errors import InputError
from groundswell.meshes.assembly import MeshGroups, assemble
from groundswell.meshes.content import MeshContent
from groundswell.meshes.mesh import Mesh

# Formats by the ending of the file's name, with the modules that read them.
FORMATS = {
    ".msh": ("Gmsh", "gmsh"),
    ".inp": ("Abaqus", "abaqus"),
    **dict.fromkeys((".e", ".exo", ".ex2", ".g"), ("Exodus II", "exodus")),
    ".med": ("MED", "med"),
    ".vtk": ("VTK", "vtk"),
    ".vtu": ("VTK", "vtu"),
    ".re2": ("nekRS", "re2"),
}


def read_mesh(path: Path | str) -> tuple[Mesh, dict[str, int]]:
    """Read hexahedra, and the tags of their sides by name; see `read_mesh_groups`.

    >>> import groundswell as gs
    >>> mesh, sides = gs.poisson.read_mesh("part.msh")
    >>> mesh.order, sorted(sides)
    (3, ['bottom', 'inner', 'outer', 'south', 'top', 'west'])

    Periodic links join the elements of linked sides. Warns of what is ignored in the file.
    """
    found = read_mesh_groups(path, periodic=True)
    for text in found.warnings:
        warnings.warn(text, stacklevel=2)
    return found.mesh, found.sides


read_gmsh = read_mesh  # its name when Gmsh's was the only format


def read_mesh_groups(
    path: Path | str, *, inner: bool = False, periodic: bool = False
) -> MeshGroups:
    """Read hexahedra of one order from 1 to 4 with their named surfaces and volumes.

    >>> import groundswell as gs
    >>> found = gs.poisson.read_mesh_groups("part.msh")
    >>> found.volume_names, sorted(found.sides)
    ({1: 'steel'}, ['bottom', 'inner', 'outer', 'south', 'top', 'west'])

    The ending of the file's name tells the format. Sides are the named surfaces of
    the file: physical surfaces of Gmsh, surfaces and element sets of Abaqus, side sets of Exodus,
    groups of MED, values of quadrilaterals in VTK's files, boundary tags of nekRS. Boundary faces
    in no surface form a side of their own with the lowest free number. Left-handed elements are
    mirrored. Lengths are in m.

    Args:
        path: of the file.
        inner: whether surfaces may lie inside the mesh.
        periodic: whether periodic links join elements; otherwise they are ignored.

    Returns:
        The `mesh`; `sides`, tags by name; `volumes`, the tag of each element, (elements,), and
        `volume_names` by tag; `inner` surfaces; `warnings` of what is ignored in the file.

    Raises:
        InputError: the file is missing or unreadable, or holds other cells than hexahedra of one
            order; elements are flat or folded; nodes are not merged; surfaces overlap, lie inside
            the mesh, are empty, or share a name; periodic links do not fit.
    """
    path = Path(path)
    try:
        found = assemble(_reader(path)(path), inner=inner, periodic=periodic)
    except InputError as error:
        text = str(error).removeprefix(f"{path} ")  # formats of arrays give it already
        raise InputError(f"{path}: {text}") from error
    except (MemoryError, OverflowError) as error:
        raise InputError(f"{path}: numbers in it are too large; write it again") from error
    return replace(found, warnings=tuple(f"{path}: {text}" for text in found.warnings))


def _reader(path: Path) -> Callable[[Path], MeshContent]:
    """The function that reads files of this format."""
    if not path.is_file():
        raise InputError("does not exist or is not a file; give a mesh file")
    if path.suffix.lower() not in FORMATS:
        known: dict[str, list[str]] = {}
        for ending, (name, _) in FORMATS.items():
            known.setdefault(name, []).append(ending)
        listed = ", ".join(f"{' '.join(endings)} ({name})" for name, endings in known.items())
        raise InputError(
            f"has an unknown format, {path.suffix or 'no ending'}; allowed: {listed}; convert it, "
            'for example with "meshio convert"'
        )
    module = import_module(f"groundswell.meshes.readers.{FORMATS[path.suffix.lower()][1]}")
    return module.read_content  # type: ignore[no-any-return]
