"""Reads MED files (Salome): meshes in HDF5, whose families of cells have names of groups.

Format: MED file documentation, https://docs.salome-platform.org (group ENS_MAA with the mesh, FAS
with families); order of nodes as in MEDCoupling.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError
from groundswell.meshes.content import CellBlock, MeshContent
from groundswell.meshes.node_orders import MED
from groundswell.meshes.readers.stored_arrays import open_hdf5, read_array, require_plausible

# Kinds of cells, and their numbers of nodes.
_CELLS = {
    "TR3": ("triangle", 3),
    "TR6": ("triangle6", 6),
    "TR7": ("triangle7", 7),
    "QU4": ("quad", 4),
    "QU8": ("quad8", 8),
    "QU9": ("quad9", 9),
    "TE4": ("tetra", 4),
    "T10": ("tetra10", 10),
    "PY5": ("pyramid", 5),
    "P13": ("pyramid13", 13),
    "PE6": ("wedge", 6),
    "P15": ("wedge15", 15),
    "P18": ("wedge18", 18),
    "HE8": ("hexahedron", 8),
    "H20": ("hexahedron20", 20),
    "H27": ("hexahedron27", 27),
}
_POLYHEDRA = ("POE", "POG", "PO2", "OCT")


def read_content(path: Path) -> MeshContent:
    """The content of a file with one mesh of one step; groups are its surfaces and volumes.

    Raises:
        InputError: the file is damaged, or has other than one mesh, or cells in several groups.
    """
    with open_hdf5(path, "MED") as file:
        name, mesh = _only(file["ENS_MAA"], "mesh")
        step = mesh if "NOE" in mesh else _only(mesh, "step")[1]
        points = _points(step["NOE/COO"], path)
        families = _families(file.get(f"FAS/{name}/ELEME", {}), path)
        found = list(_blocks(step["MAI"], path))
        names = {dimension: _names(families, found, dimension) for dimension in (2, 3)}
        blocks = [
            CellBlock(
                block.kind, block.nodes, _tags(family, families, names.get(block.dimension, []))
            )
            for block, family in found
        ]
    surfaces, volumes = (dict(enumerate(names[dimension], 1)) for dimension in (2, 3))
    return MeshContent(points, blocks, surfaces, volumes)


def _only(group: Any, kind: str) -> tuple[str, Any]:
    names = list(group)
    if len(names) != 1:
        raise InputError(f"has {len(names)} of a {kind}; save a file with only one")
    return names[0], group[names[0]]


def _points(dataset: Any, path: Path) -> Floats:
    """Positions; the file has all x first, then all y and z."""
    values = read_array(dataset, path).astype(float)
    if values.size != 3 * int(dataset.attrs["NBR"]):
        raise InputError("has points in other than 3 dimensions; mesh in 3 dimensions")
    return values.reshape(3, -1).T


def _blocks(cells: Any, path: Path) -> Iterator[tuple[CellBlock, Integers]]:
    """Yield cells, without tags, and their families."""
    for name, group in cells.items():
        if name in _POLYHEDRA:
            yield CellBlock.untagged("polyhedron", np.zeros((1, 1), int)), np.zeros(1, np.int64)
        if name not in _CELLS:  # points and lines
            continue
        kind, size = _CELLS[name]
        numbers = read_array(group["NOD"], path).astype(np.int64)
        count = int(group["NOD"].attrs["NBR"])
        require_plausible(count, path)
        family = read_array(group["FAM"], path) if "FAM" in group else np.zeros(count)
        if numbers.shape != (size * count,) or family.shape != (count,):
            raise InputError(f"has {len(numbers)} numbers of {count} cells {name}; save it again")
        nodes = numbers.reshape(size, count).T - 1
        nodes = nodes[:, MED[size]] if size in MED else nodes
        yield CellBlock.untagged(kind, nodes), family.astype(np.int64)


# --- groups ---------------------------------------------------------------------------------------


def _families(group: Any, path: Path) -> dict[int, list[str]]:
    """Names of the groups of each family by its number."""
    found = {}
    for family in group.values():
        names = read_array(family["GRO/NOM"], path) if "GRO" in family else ()
        found[int(family.attrs["NUM"])] = [_text(row) for row in names]
    return found


def _text(characters: Any) -> str:
    raw = (
        bytes(characters)
        if isinstance(characters, bytes)
        else np.asarray(characters, "i1").tobytes()
    )
    return raw.split(b"\0")[0].decode(errors="replace").strip()


def _names(
    families: Mapping[int, list[str]], found: list[tuple[CellBlock, Integers]], dimension: int
) -> list[str]:
    """Names of the groups of the cells of a dimension."""
    used = [np.unique(family) for block, family in found if block.dimension == dimension]
    numbers = np.unique(np.concatenate([np.empty(0, np.int64), *used])).tolist()
    every = [name for number in numbers for name in families.get(number, [])]
    return sorted(dict.fromkeys(every))


def _tags(family: Integers, families: Mapping[int, list[str]], names: list[str]) -> Integers:
    """Number of the group of each cell, 0 if it is in none."""
    numbers, index = np.unique(family, return_inverse=True)
    tags = np.zeros(len(numbers), np.int64)
    for n, number in enumerate(numbers.tolist()):
        groups = families.get(number, [])
        if len(groups) > 1:
            raise InputError(f"groups {groups} share cells; put each cell in only one")
        tags[n] = names.index(groups[0]) + 1 if groups and names else 0
    return tags[index.ravel()]
