"""Reads the meshes of Abaqus's input files: nodes, elements, sets and surfaces.

Format: Abaqus Keywords Guide (*NODE, *ELEMENT, *ELSET, *SURFACE, *SOLID SECTION); faces S1 to S6 of
hexahedra as in "Three-dimensional solid element library".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError
from groundswell.meshes.content import CellBlock, MeshContent
from groundswell.meshes.node_orders import ABAQUS
from groundswell.meshes.readers.abaqus_sets import Elements, Sets, find_groups
from groundswell.meshes.readers.keywords import Section, read_sections

# Families of elements, with their kinds by the number of nodes.
_SOLID = {4: "tetra", 5: "pyramid", 6: "wedge", 8: "hexahedron", 10: "tetra10", 13: "pyramid13"}
_SOLID |= {15: "wedge15", 20: "hexahedron20", 27: "hexahedron27"}
_SHELL = {3: "triangle", 4: "quad", 6: "triangle6", 8: "quad8", 9: "quad9", 65: "triangle6"}
_FAMILIES = [
    (re.compile(r"(?:D|DC|C|AC|FC|Q|EC)3D(\d+)"), _SOLID),
    (re.compile(r"SC(\d+)"), {8: "hexahedron"}),
    (re.compile(r"(?:S|DS|STRI|CPS|CPE|CPEG|CAX|DC2D|M3D|R3D|SFM3D)(\d+)"), _SHELL),
]
_GENERATING = {"NGEN", "NFILL", "NCOPY", "ELGEN", "ELCOPY", "INCLUDE"}


@dataclass(eq=False)
class _Model:
    """What has been read so far."""

    nodes: list[tuple[Integers, Floats]] = field(default_factory=list)
    elements: list[Elements] = field(default_factory=list)
    sets: Sets = field(default_factory=Sets)
    instances: int = 0
    ignored: dict[str, int] = field(default_factory=dict)


def read_content(path: Path) -> MeshContent:
    """The content of an input file without generated nodes, with at most one instance of a part.

    Raises:
        InputError: the file is damaged, or uses what is not read.
    """
    model = _Model()
    for section in read_sections(path):
        try:
            _store(section, model)
        except (ValueError, OverflowError) as error:
            raise InputError(
                f"line {section.line}, *{section.keyword}: {error}; write the file again"
            ) from None
    if not sum(len(numbers) for numbers, _ in model.nodes) or not model.elements:
        raise InputError("has no *NODE or no *ELEMENT lines; it is incomplete or not of Abaqus")
    return _content(model)


def _store(section: Section, model: _Model) -> None:
    """Add a section to the model."""
    keyword = section.keyword
    if keyword in _GENERATING:
        raise InputError(
            f"line {section.line} has *{keyword}, which is not read; write a file with all nodes "
            "and elements"
        )
    if keyword == "NODE":
        model.nodes.append(_nodes(section))
    elif keyword == "ELEMENT":
        _store_elements(section, model)
    elif keyword == "INSTANCE":
        _require_in_place(section, model)
    else:
        model.sets.store(section)


def _nodes(section: Section) -> tuple[Integers, Floats]:
    """Numbers and positions of nodes; coordinates that are left out are 0."""
    values = ",".join(section.lines).upper().replace("D", "E").split(",")
    if len(values) != 4 * len(section.lines):
        values = [value for row in section.rows for value in [*row, "0", "0", "0"][:4]]
    table = np.array([float(value or 0) for value in values]).reshape(-1, 4)
    return _whole(table[:, 0]), table[:, 1:]


def _whole(values: Floats) -> Integers:
    if not (np.abs(values) < 2**53).all() or (values % 1 != 0).any():
        raise ValueError("numbers of nodes are not whole")
    return values.astype(np.int64)


def _store_elements(section: Section, model: _Model) -> None:
    kind_of, size = section.parameters.get("TYPE", "").upper(), 0
    for pattern, kinds in _FAMILIES:
        if (match := pattern.match(kind_of)) and int(match[1]) in kinds:
            kind, size = kinds[int(match[1])], int(match[1]) % 59  # STRI65 has 6 nodes
            break
    if not size:
        model.ignored[kind_of] = model.ignored.get(kind_of, 0) + len(section.lines)
        return
    numbers = section.integers
    if len(numbers) % (size + 1):
        raise ValueError(f"{len(numbers)} numbers are not elements of {size} nodes")
    table = numbers.reshape(-1, size + 1)
    found = Elements(kind, table[:, 0], table[:, 1:], section.parameters.get("ELSET", ""))
    model.elements.append(found)


def _require_in_place(section: Section, model: _Model) -> None:
    """Refuse several instances, and one that is moved."""
    model.instances += 1
    if model.instances > 1 or section.rows:
        raise InputError(
            f"line {section.line}: the assembly has several instances of parts, or one that is "
            "moved; write a file without parts and assemblies (Abaqus/CAE: Edit model attributes)"
        )


# --- the content ----------------------------------------------------------------------------------


def _content(model: _Model) -> MeshContent:
    numbers, points = (np.concatenate(parts) for parts in zip(*model.nodes, strict=True))
    groups = find_groups(model.elements, model.sets)
    index = _index_of(numbers)
    blocks = [
        CellBlock(of.kind, _ordered(of.kind, index(of.nodes)), tags)
        for of, tags in zip(model.elements, groups.tags, strict=True)
    ]
    if len(groups.faces):
        blocks.append(CellBlock("quad", index(groups.faces), groups.face_tags))
    notes = tuple(
        f"{n} lines of elements {kind or '?'} are ignored" for kind, n in model.ignored.items()
    )
    return MeshContent(points, blocks, groups.surfaces, groups.volumes, warnings=notes)


def _index_of(numbers: Integers) -> Callable[[Integers], Integers]:
    """The function from numbers of nodes to indices of points, -1 where there is none.

    Of nodes with one number, the last counts.
    """
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]

    def index(wanted: Integers) -> Integers:
        place = (np.searchsorted(ordered, wanted, side="right") - 1).clip(min=0)
        return np.where(ordered[place] == wanted, order[place], -1)

    return index


def _ordered(kind: str, nodes: Integers) -> Integers:
    size = nodes.shape[1]
    return nodes[:, ABAQUS[size]] if kind.startswith("hexahedron") and size in ABAQUS else nodes
