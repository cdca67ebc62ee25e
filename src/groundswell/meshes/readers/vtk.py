"""Reads VTK's legacy files of unstructured grids (.vtk), of text or binary.

Format: "VTK legacy file format", https://docs.vtk.org/en/latest/vtk_file_formats, up to version
5.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from groundswell.arrays import HostArray, Integers
from groundswell.errors import InputError
from groundswell.formats.damage import read_errors_reported
from groundswell.meshes.content import MeshContent
from groundswell.meshes.readers.vtk_cells import content_of

_TYPES = {"bit": "u1", "unsigned_char": "u1", "char": "i1", "unsigned_short": "u2", "short": "i2"}
_TYPES |= {"unsigned_int": "u4", "int": "i4", "unsigned_long": "u8", "long": "i8", "float": "f4"}
_TYPES |= {"double": "f8", "vtktypeint64": "i8", "vtktypeint32": "i4", "vtkidtype": "i8"}
_SHAPES = {"VECTORS": 3, "NORMALS": 3, "TENSORS": 9, "TENSORS6": 6}
_SHAPES |= {"GLOBAL_IDS": 1, "PEDIGREE_IDS": 1}
_REQUIRED = ("points", "connectivity", "offsets", "types")


def read_content(path: Path) -> MeshContent:
    """The content of a file; arrays of whole numbers on cells number surfaces and volumes.

    Raises:
        InputError: the file is damaged or not of an unstructured grid.
    """
    with read_errors_reported("the file", "VTK", "save it again"):
        grid = _Grid(_Text(path.read_bytes()))
        grid.read()
        points, connectivity, offsets, types = (grid.arrays[name] for name in _REQUIRED)
        return content_of(points, connectivity, offsets, types, grid.data)


class _Text:
    """The bytes of a file, read from front to back."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at, self.is_binary = data, 0, False

    def line(self) -> list[str] | None:
        """The words of the next line that is not empty, or None at the end."""
        while self._at < len(self._data):
            end = self._data.find(b"\n", self._at)
            end = len(self._data) if end < 0 else end
            words, self._at = self._data[self._at : end].decode("latin-1").split(), end + 1
            if words:
                return words
        return None

    def skip_line(self) -> None:
        """Skip the next line, which may be empty."""
        end = self._data.find(b"\n", self._at)
        self._at = len(self._data) if end < 0 else end + 1

    def skip_paragraph(self) -> None:
        """Skip all lines until an empty one."""
        while self._at < len(self._data):
            start = self._at
            self.skip_line()
            if not self._data[start : self._at].strip():
                return

    def values(self, count: int, of_type: str) -> HostArray:
        """The next values."""
        dtype = np.dtype(_TYPES[of_type.lower()])
        if not 0 <= count <= len(self._data):
            raise InputError(f"has an array of {count:,} values; it is damaged: save it again")
        if self.is_binary:
            found = np.frombuffer(self._data, dtype.newbyteorder(">"), count, self._at)
            self._at += count * dtype.itemsize
            return found.astype(dtype)
        return np.array(list(self._words(count)), dtype)

    def _words(self, count: int) -> Iterator[str]:
        while count > 0:
            words = self.line()
            if words is None or len(words) > count:
                raise InputError("has fewer values than it says; it is damaged: save it again")
            count -= len(words)
            yield from words


@dataclass(eq=False)
class _Grid:
    """The arrays of a grid, read section by section.

    Args:
        arrays: by name: points, connectivity, offsets and types.
        data: whole numbers on cells by name.
        tuples: values of each array that follow.
        is_of_cells: whether these are values of cells.
    """

    text: _Text
    arrays: dict[str, HostArray] = field(default_factory=dict)
    data: dict[str, HostArray] = field(default_factory=dict)
    tuples: int = 0
    is_of_cells: bool = False

    def read(self) -> None:
        """Read the whole file."""
        *start, version = (self.text.line() or [""])[:5]
        if start != ["#", "vtk", "DataFile", "Version"]:
            raise InputError("does not start like a file of VTK; save it again")
        self.text.skip_line()  # the title
        self.text.is_binary = (self.text.line() or [""])[0].upper() == "BINARY"
        has_offsets = float(version) >= 5
        while (words := self.text.line()) is not None:
            self._section(words[0].upper(), words[1:], has_offsets)
        if lost := [name for name in _REQUIRED if name not in self.arrays]:
            raise InputError(f"lacks {', '.join(lost)}; it is incomplete: save it again")

    def _section(self, name: str, words: list[str], has_offsets: bool) -> None:
        if name == "DATASET" and words[0].upper() != "UNSTRUCTURED_GRID":
            raise InputError(f"is a {words[0]}; save it as an unstructured grid")
        if name == "POINTS":
            self.arrays["points"] = self.text.values(3 * int(words[0]), words[1]).reshape(-1, 3)
        elif name == "CELLS":
            read = self._cells_with_offsets if has_offsets else self._cells_with_sizes
            read(int(words[0]), int(words[1]))
        elif name == "CELL_TYPES":
            self.arrays["types"] = self._integers(int(words[0]), "int")
        elif name in ("CELL_DATA", "POINT_DATA"):
            self.is_of_cells, self.tuples = name == "CELL_DATA", int(words[0])
        elif name == "METADATA":
            self.text.skip_paragraph()
        elif name == "FIELD":
            self._field(int(words[1]))
        elif name != "DATASET":
            self._attribute(name, words)

    def _integers(self, count: int, of_type: str) -> Integers:
        return self.text.values(count, of_type).astype(np.int64)

    def _cells_with_offsets(self, offsets: int, size: int) -> None:
        """Read cells from version 5.1 on."""
        for name, count in (("offsets", offsets), ("connectivity", size)):
            found, of_type = (self.text.line() or ["", ""])[:2]
            if found.lower() != name:
                raise InputError(f"lacks the {name} of cells; it is damaged: save it again")
            self.arrays[name] = self._integers(count, of_type)
        self.arrays["offsets"] = self.arrays["offsets"][1:]

    def _cells_with_sizes(self, count: int, size: int) -> None:
        """Read cells of earlier versions, which have their number of points before them."""
        values = self._integers(size, "int")
        places = np.zeros(max(count, 0), np.int64)  # of the sizes
        at = 0
        for n in range(count):
            places[n] = at
            at += 1 + max(int(values[at]), 0)
        is_point = np.ones(len(values), bool)
        is_point[places] = False
        self.arrays["connectivity"] = values[is_point]
        self.arrays["offsets"] = np.cumsum(values[places])

    def _attribute(self, name: str, words: list[str]) -> None:
        """Read values at points or of cells."""
        if name == "SCALARS":
            components = int(words[2]) if len(words) > 2 else 1
            if (self.text.line() or [""])[0].upper() != "LOOKUP_TABLE":
                raise InputError(f"lacks the table of {words[0]}; it is damaged: save it again")
            self._store(words[0], self.text.values(self.tuples * components, words[1]))
        elif name == "LOOKUP_TABLE":
            self.text.values(4 * int(words[1]), self._colour)
        elif name == "COLOR_SCALARS":
            self.text.values(self.tuples * int(words[1]), self._colour)
        elif name == "TEXTURE_COORDINATES":
            self.text.values(self.tuples * int(words[1]), words[2])
        else:
            self._store(words[0], self.text.values(self.tuples * _SHAPES[name], words[1]))

    def _field(self, arrays: int) -> None:
        """Read arrays of any names, each with its number of components, tuples and type."""
        while arrays > 0:
            name, *words = self.text.line() or [""]
            if name == "METADATA":
                self.text.skip_paragraph()
                continue
            count = int(words[0]) * int(words[1])
            self._store(name, self.text.values(count, words[2]))
            arrays -= 1

    @property
    def _colour(self) -> str:
        return "unsigned_char" if self.text.is_binary else "float"

    def _store(self, name: str, values: HostArray) -> None:
        if self.is_of_cells and values.dtype.kind in "iu" and len(values) == self.tuples:
            self.data[name] = values
