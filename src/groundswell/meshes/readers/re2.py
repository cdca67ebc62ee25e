"""Reads the binary meshes of Nek5000 and nekRS (.re2), with curved sides and boundary tags.

Format: Nek5000's documentation, "Mesh file (.re2)": a header of 80 characters and a number that
tells the order of bytes; for each element its group and the x, y and z of its corners; curved
sides; then a set of boundary tags for each field. Version 1 is in single, later ones are in double
precision. Elements that share a corner have it at the same place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Floats, HostArray, Integers
from groundswell.errors import InputError
from groundswell.formats.damage import read_errors_reported
from groundswell.meshes.content import CellBlock, MeshContent
from groundswell.meshes.mesh import CORNERS
from groundswell.meshes.node_orders import SIDES
from groundswell.meshes.readers.nek_curves import CurvedSides, element_nodes
from groundswell.meshes.readers.nek_vertices import merge, periodic_links

_HEADER = re.compile(rb"#v(\d\d\d)\s*(\d{1,16})\s+(\d)\s*(\d{1,16})")
_START, _TEST = 80, 6.54321  # where the test of the order of bytes is, and its value
_WORDS = 8  # of a curved side or a boundary tag: element, side, 5 values, characters
_INSIDE, _PERIODIC, _BY_NUMBER = {"", "E"}, {"P"}, {"MSH", "EXO"}
_NONCONFORMING = {"J", "SP"}
FLUID, SOLID = 1, 2


def read_content(path: Path) -> MeshContent:
    """The content of a file in 3 dimensions.

    Boundary tags name surfaces; those that only have a number, "MSH" and "EXO", are called by it.

    Raises:
        InputError: the file is damaged or in 2 dimensions, or uses what is not read.
    """
    with read_errors_reported("the file", "nekRS", "write it again"):
        return _content(_Stream.of(path.read_bytes()))


@dataclass(frozen=True)
class _Tags:
    """The boundary tags of a field: elements and sides, counted from 0, characters and 5 values."""

    elements: Integers
    sides: Integers
    characters: list[str]
    values: Floats


class _Stream:
    """The words of a file, read from front to back."""

    def __init__(self, data: bytes, order: str, size: int, at: int) -> None:
        self.data, self.at, self.size = data, at, size
        self.real = np.dtype(f"{order}f{size}")
        self.integer = np.dtype(f"{order}i4") if size == 4 else self.real

    @classmethod
    def of(cls, data: bytes) -> _Stream:
        """The words after the header."""
        test = data[_START : _START + 4]
        orders = [o for o in "<>" if np.allclose(np.frombuffer(test, f"{o}f4"), _TEST, rtol=1e-4)]
        if not _HEADER.match(data) or not orders or len(test) < 4:
            raise InputError("does not start like a .re2 file; write it again")
        return cls(data, orders[0], 4 if data[:5] == b"#v001" else 8, _START + 4)

    @property
    def is_at_end(self) -> bool:
        """Whether nothing follows but padding."""
        return len(self.data) - self.at < self.size

    def words(self, count: int, dtype: np.dtype[Any]) -> HostArray:
        """The next words."""
        if not 0 <= count * self.size <= len(self.data) - self.at:
            raise InputError("is shorter than it says; it is incomplete: write or copy it again")
        found = np.frombuffer(self.data, dtype, count, self.at)
        self.at += count * self.size
        return found

    def records(self) -> tuple[Integers, Integers, Floats, list[str]]:
        """Elements and sides, counted from 0, values and characters of curved sides or tags."""
        count = int(self.words(1, self.integer)[0])
        start = self.at
        words = self.words(_WORDS * count, self.real).reshape(-1, _WORDS)
        ends = start + self.size * _WORDS * np.arange(1, count + 1) - self.size
        characters = [self.data[end : end + 3].decode("latin-1") for end in ends]
        numbers = np.frombuffer(self.data, self.integer, _WORDS * count, start).reshape(-1, _WORDS)
        places = np.nan_to_num(numbers[:, :2], nan=-1, posinf=-1, neginf=-1).clip(-1, 2**40)
        elements, sides = places.astype(np.int64).T - 1
        return elements, sides, words[:, 2:7].astype(float), characters


def _content(stream: _Stream) -> MeshContent:
    match = _HEADER.match(stream.data)
    assert match is not None
    count, dimensions, fluid = int(match[2]), int(match[3]), int(match[4])
    if dimensions != 3:
        raise InputError(f"is in {dimensions} dimensions; extrude it, for example by n2to3")
    table = stream.words((1 + 3 * CORNERS) * count, stream.real).reshape(count, -1)
    corners = table[:, 1:].reshape(count, 3, CORNERS).transpose(0, 2, 1).astype(float)
    elements, edges, values, characters = stream.records()
    curved = CurvedSides(elements, edges, values, [text[:1] for text in characters])
    fitted = element_nodes(corners, curved)
    points, numbers = merge(corners)
    tags, notes = _chosen_tags([*_tag_sets(stream, count)], has_solid=fluid < count)
    volumes = np.where(np.arange(count) < fluid, FLUID, SOLID) * (fluid < count)
    faces, names = _surfaces(tags, numbers)
    return MeshContent(
        points,
        [CellBlock("hexahedron", numbers, volumes), faces],
        names,
        {FLUID: "fluid", SOLID: "solid"},
        _links(tags, numbers, points),
        notes,
        fitted,
    )


def _chosen_tags(sets: list[_Tags], *, has_solid: bool) -> tuple[_Tags, tuple[str, ...]]:
    """The tags of the first field, or of the second one if there are solids, and warnings."""
    if not sets:
        none = np.empty(0, np.int64)
        return _Tags(none, none, [], np.empty((0, 5))), ()
    if len(sets) == 1:
        return sets[0], ()
    number = 1 if has_solid else 0
    of = f"field {number + 1} of {len(sets)}"
    return sets[number], (f"boundary tags are those of {of}; the others are ignored",)


def _tag_sets(stream: _Stream, count: int) -> Iterator[_Tags]:
    """Yield the boundary tags of each field."""
    while not stream.is_at_end:
        elements, sides, values, characters = stream.records()
        tags = [text.replace("\0", " ").strip() for text in characters]
        if not (_are_below(elements, count) and _are_below(sides, len(SIDES))):
            raise InputError("has boundary tags of elements or sides that it lacks; write it again")
        if unread := sorted(_NONCONFORMING & set(tags)):
            raise InputError(
                f"has sides {unread[0]!r}, which do not conform; use a conforming mesh"
            )
        yield _Tags(elements, sides, tags, values)


def _are_below(numbers: Integers, end: int) -> bool:
    return bool(((numbers >= 0) & (numbers < end)).all())


def _surfaces(tags: _Tags, numbers: Integers) -> tuple[CellBlock, dict[int, str]]:
    """The tagged faces, and names of their surfaces by number."""
    names = [
        str(int(value[4])) if tag in _BY_NUMBER else tag
        for tag, value in zip(tags.characters, tags.values, strict=True)
    ]
    named = np.array([tag not in _INSIDE for tag in tags.characters], bool)
    called = sorted({name for name, is_named in zip(names, named, strict=True) if is_named})
    number_of = {name: n for n, name in enumerate(called, 1)}
    faces = numbers[tags.elements[named, None], SIDES[tags.sides[named]]]
    chosen = [number_of[name] for name, is_named in zip(names, named, strict=True) if is_named]
    return CellBlock("quad", faces, np.array(chosen, np.int64)), dict(enumerate(called, 1))


def _links(tags: _Tags, numbers: Integers, points: Floats) -> tuple[Integers, ...]:
    """See `MeshContent`."""
    linked = np.flatnonzero(np.array([tag in _PERIODIC for tag in tags.characters], bool))
    others = np.nan_to_num(tags.values[linked, :2], nan=0, posinf=0, neginf=0).astype(np.int64) - 1
    if not (_are_below(others[:, 0], len(numbers)) and _are_below(others[:, 1], len(SIDES))):
        raise InputError("has periodic sides without the other side; write it again")
    own = numbers[tags.elements[linked, None], SIDES[tags.sides[linked]]]
    return tuple(periodic_links(own, numbers[others[:, :1], SIDES[others[:, 1]]], points))
