"""Reads Exodus II files: blocks of elements are volumes, side sets are surfaces.

Format: Schoof & Yarberry, EXODUS II: A finite element data model, Sandia report SAND92-2137 (2006
version): names of NetCDF's variables, order of the nodes and sides of elements.
"""

from __future__ import annotations

import re
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.netcdf import open_dataset
from groundswell.meshes.content import CellBlock, MeshContent
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.node_orders import EXODUS, KINDS, SIDES
from groundswell.meshes.readers.stored_arrays import require_plausible

_SHAPES = {"TET": "tetra", "WED": "wedge", "PYR": "pyramid", "TRI": "triangle"}
_SHAPES |= {"QUA": "quad", "SHE": "quad", "NSI": "polygon", "NFA": "polyhedron"}


def read_content(path: Path) -> MeshContent:
    """The content of a file, in NetCDF of version 3 or 4.

    Raises:
        InputError: the file is damaged, or side sets are of other elements than hexahedra.
    """
    with (
        read_errors_reported("the file", "Exodus II", "save it again"),
        open_dataset(path) as dataset,
    ):
        return _content(_Variables(dataset, path))


class _Variables:
    """The variables of a file."""

    def __init__(self, dataset: Any, path: Path) -> None:
        self._variables, self._path = dataset.variables, path

    def get(self, name: str) -> Any:
        """Values of a variable, or None."""
        if name not in self._variables:
            return None
        require_plausible(prod(self._variables[name].shape), self._path)
        return self._variables[name].values

    def integers(self, name: str) -> Integers:
        """Whole numbers of a variable, which must be there."""
        values = self.get(name)
        if values is None:
            raise InputError(f"lacks the variable {name}; save it again")
        return np.asarray(values).astype(np.int64)

    def numbered(self, name: str) -> list[int]:
        """Numbers of the variables called `name` with a number, in rising order."""
        matches = (re.fullmatch(name + r"(\d{1,9})", str(found)) for found in self._variables)
        return sorted(int(match[1]) for match in matches if match)

    def names(self, variable: str, ids: str, numbers: list[int]) -> dict[int, str]:
        """Names of blocks or sets; those without one are named by their id."""
        texts, known = self.get(variable), self.get(ids)
        found = {}
        for n in numbers:
            text = _text(texts[n - 1]) if texts is not None and n <= len(texts) else ""
            number = int(known[n - 1]) if known is not None and n <= len(known) else n
            found[n] = text or str(number)
        return found

    def element_type(self, block: int) -> str:
        """Type of the elements of a block, in capitals."""
        return str(self._variables[f"connect{block}"].attrs.get("elem_type", "")).upper()


def _text(characters: Any) -> str:
    raw = characters if isinstance(characters, bytes) else b"".join(np.ravel(characters).tolist())
    return raw.split(b"\0")[0].decode(errors="replace").strip()


def _content(file: _Variables) -> MeshContent:
    numbers, sets = file.numbered("connect"), file.numbered("elem_ss")
    blocks = [_block(file, n) for n in numbers]
    if any(block.dimension == AXES and block.kind not in KINDS.values() for block in blocks):
        return MeshContent(_points(file), blocks)  # which is refused later
    faces = [_faces(file, n, blocks) for n in sets]
    blocks += [
        CellBlock("quad", found, np.full(len(found), n))
        for n, found in zip(sets, faces, strict=True)
    ]
    surfaces = file.names("ss_names", "ss_prop1", sets)
    return MeshContent(_points(file), blocks, surfaces, file.names("eb_names", "eb_prop1", numbers))


def _points(file: _Variables) -> Floats:
    whole = file.get("coord")
    parts = [file.get(f"coord{axis}") for axis in "xyz"] if whole is None else list(whole)
    if len(parts) != 3 or any(part is None for part in parts):
        raise InputError("has points in other than 3 dimensions; mesh in 3 dimensions")
    return np.stack(parts, axis=1).astype(float)


def _block(file: _Variables, number: int) -> CellBlock:
    nodes, of_type = file.integers(f"connect{number}") - 1, file.element_type(number)
    size = nodes.shape[1]
    kind = _SHAPES.get(of_type[:3], "vertex")
    if of_type.startswith("HEX"):
        kind = KINDS.get(size, f"hexahedron{size}")
        nodes = nodes[:, EXODUS[size]] if size in EXODUS else nodes
    return CellBlock(kind, nodes, np.full(len(nodes), number))


def _faces(file: _Variables, number: int, blocks: list[CellBlock]) -> Integers:
    """Points of the corners of the faces in a side set, (faces, 4)."""
    elements, sides = (file.integers(f"{of}_ss{number}") - 1 for of in ("elem", "side"))
    found = np.full((len(elements), 4), -1)
    if elements.shape != sides.shape or not np.isin(sides, np.arange(len(SIDES))).all():
        raise InputError("has side sets with sides other than 1 to 6 of hexahedra; save it again")
    first = 0
    for block in blocks:
        here = (elements >= first) & (elements < first + len(block.nodes))
        if block.kind in KINDS.values():
            nodes = block.nodes[elements[here] - first]
            found[here] = np.take_along_axis(nodes, SIDES[sides[here]], axis=1)
        first += len(block.nodes)
    if (found < 0).any():
        raise InputError(
            "has side sets of elements that are not hexahedra, or that the file lacks; make side "
            "sets of the faces of hexahedra"
        )
    return found
