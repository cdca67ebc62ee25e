"""Sets of elements and surfaces of Abaqus's input files, as named surfaces and volumes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from groundswell.arrays import Integers
from groundswell.errors import InputError
from groundswell.meshes.readers.keywords import Section

# Corners of the faces S1 to S6 of hexahedra, counted from 0.
_FACES = np.array(
    [(0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)]
)
_SHELL_SIDES = {"SPOS", "SNEG", ""}
MOST_GENERATED = 10**8  # numbers of a set that GENERATE may give


@dataclass(frozen=True, eq=False)
class Elements:
    """The elements of a section.

    Args:
        kind: see `CellBlock`.
        numbers: of the elements, (elements,).
        nodes: numbers of their nodes, (elements, nodes).
        name: of the set that contains them, or "".
    """

    kind: str
    numbers: Integers
    nodes: Integers
    name: str

    @property
    def is_solid(self) -> bool:
        """Whether they are hexahedra."""
        return self.kind.startswith("hexahedron")

    @property
    def is_shell(self) -> bool:
        """Whether they are faces."""
        return self.kind.startswith(("quad", "triangle"))


@dataclass(eq=False)
class Sets:
    """Sets and surfaces by name.

    Args:
        members: numbers of elements, and names of other sets.
        surfaces: pairs of a set or a number of an element, and a face.
        materials: sets that have a material.
    """

    members: dict[str, list[Integers | str]] = field(default_factory=dict)
    surfaces: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    materials: list[str] = field(default_factory=list)

    def store(self, section: Section) -> None:
        """Add a section, unless it is of another kind."""
        of = section.parameters
        if section.keyword == "ELSET":
            self.members.setdefault(of.get("ELSET", ""), []).extend(_members(section))
        elif section.keyword == "SOLID SECTION" and of.get("ELSET"):
            self.materials.append(of["ELSET"])
        elif section.keyword == "SURFACE" and of.get("TYPE", "ELEMENT").upper() == "ELEMENT":
            rows = [(row[0], (row[1] if len(row) > 1 else "").upper()) for row in section.rows]
            self.surfaces.setdefault(of.get("NAME", ""), []).extend(rows)


def _members(section: Section) -> Iterator[Integers | str]:
    if "GENERATE" in section.parameters:
        for row in section.rows:
            first, last, *step = (int(value) for value in row if value)
            if not 0 < (last - first) // (step or [1])[0] + 1 <= MOST_GENERATED:
                raise ValueError(f"{', '.join(row)} gives no set of elements")
            yield np.arange(first, last + 1, *step)
        return
    values = [value for row in section.rows for value in row if value]
    yield from (value for value in values if not value.isdigit())
    yield np.array([int(value) for value in values if value.isdigit()], np.int64)


@dataclass(frozen=True, eq=False)
class Groups:
    """Named surfaces and volumes.

    Args:
        tags: number of the volume or surface of each element, by section.
        faces: numbers of the nodes of faces of hexahedra in surfaces, (faces, 4).
        face_tags: numbers of these surfaces, (faces,).
        surfaces: names of the surfaces by number.
        volumes: names of the volumes by number.
    """

    tags: list[Integers]
    faces: Integers
    face_tags: Integers
    surfaces: dict[int, str]
    volumes: dict[int, str]


def find_groups(elements: list[Elements], sets: Sets) -> Groups:
    """The named surfaces and volumes.

    Surfaces are those of *SURFACE; if there are none, the sets of shell elements. Volumes are the
    sets with a *SOLID SECTION; if there are none, the sets of hexahedra unless they overlap.
    """
    finder = _Finder(elements, sets)
    volumes = finder.volumes()
    if sets.surfaces:
        names = list(sets.surfaces)
        found = [finder.surface(name) for name in names]
        faces = np.concatenate([*found, np.empty((0, 4), np.int64)])
        face_tags = np.repeat(np.arange(len(names)) + 1, [len(part) for part in found])
        shells: dict[str, Integers] = {}
    else:
        shells = finder.shells()
        names, faces, face_tags = list(shells), np.empty((0, 4), np.int64), np.empty(0, np.int64)
    tags = [
        finder.tags(of, volumes if of.is_solid else shells if of.is_shell else {})
        for of in elements
    ]
    return Groups(tags, faces, face_tags, dict(enumerate(names, 1)), dict(enumerate(volumes, 1)))


class _Finder:
    """Elements by number and sets by name, which does not depend on capitals."""

    def __init__(self, elements: list[Elements], sets: Sets) -> None:
        self._elements, self._sets = elements, sets
        self._members: dict[str, list[Integers | str]] = {}
        for of in elements:
            if of.name:
                self._members.setdefault(of.name.upper(), []).append(of.numbers)
        for name, members in sets.members.items():
            self._members.setdefault(name.upper(), []).extend(members)

    def numbers(self, name: str, above: frozenset[str] = frozenset()) -> Integers:
        """Numbers of the elements in a set, with those in sets within it."""
        key = name.upper()
        if key not in self._members or key in above:
            raise InputError(f"the set of elements {name!r} is missing or contains itself")
        parts = [
            self.numbers(part, above | {key}) if isinstance(part, str) else part
            for part in self._members[key]
        ]
        return np.unique(np.concatenate([np.empty(0, np.int64), *parts]))

    def volumes(self) -> dict[str, Integers]:
        """Numbers of the hexahedra of each volume by name."""
        if self._sets.materials:
            return {name: self.numbers(name) for name in dict.fromkeys(self._sets.materials)}
        sets = self._sets_of([of for of in self._elements if of.is_solid])
        every = np.concatenate([np.empty(0, np.int64), *sets.values()])
        return sets if len(np.unique(every)) == len(every) else {}

    def shells(self) -> dict[str, Integers]:
        """Numbers of the faces of each set of shell elements by name."""
        sets = self._sets_of([of for of in self._elements if of.is_shell])
        names = list(sets)
        for n, name in enumerate(names):
            for other in names[:n]:
                if len(np.intersect1d(sets[name], sets[other])):
                    both = f"{other!r} and {name!r}"
                    raise InputError(f"the sets of faces {both} share faces; put each face in one")
        return sets

    def _sets_of(self, elements: list[Elements]) -> dict[str, Integers]:
        """Sets of *ELSET that have only these elements; if there are none, those of *ELEMENT."""
        every = np.concatenate([np.empty(0, np.int64), *(of.numbers for of in elements)])
        chosen = {name: self.numbers(name) for name in self._sets.members}
        chosen = {n: of for n, of in chosen.items() if len(of) and np.isin(of, every).all()}
        names = dict.fromkeys(of.name for of in elements if of.name)
        return chosen or {name: self.numbers(name) for name in names}

    def tags(self, elements: Elements, groups: dict[str, Integers]) -> Integers:
        """Number of the group of each element, 0 if it is in none."""
        found = np.zeros(len(elements.numbers), np.int64)
        for tag, members in enumerate(groups.values(), 1):
            found[np.isin(elements.numbers, members)] = tag
        return found

    def surface(self, name: str) -> Integers:
        """Nodes of the faces of a surface, (faces, 4)."""
        parts = [self._faces(name, *row) for row in self._sets.surfaces[name]]
        return np.concatenate([np.empty((0, 4), np.int64), *parts])

    def _faces(self, surface: str, of: str, face: str) -> Integers:
        members = np.array([int(of)]) if of.isdigit() else self.numbers(of)
        is_numbered = face[:1] == "S" and face[1:] in {"1", "2", "3", "4", "5", "6"}
        if not is_numbered and face not in _SHELL_SIDES:
            raise InputError(f"the surface {surface!r} has a face {face!r}; allowed: S1 to S6")
        parts = [
            part.nodes[np.isin(part.numbers, members)][:, _corners(part, face, is_numbered)]
            for part in self._elements
            if part.is_solid == is_numbered and (part.is_solid or part.kind.startswith("quad"))
        ]
        found = np.concatenate([np.empty((0, 4), np.int64), *parts])
        if len(found) < len(members):
            raise InputError(
                f"the surface {surface!r} has elements without the face {face or 'given'!r}; name "
                "faces S1 to S6 of hexahedra, or sets of shell elements"
            )
        return found


def _corners(elements: Elements, face: str, is_numbered: bool) -> Integers:
    return _FACES[int(face[1:]) - 1] if is_numbered else np.arange(4)
