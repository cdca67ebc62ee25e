"""Reads VTK's XML files of unstructured grids (.vtu), as ParaView writes them.

Format: "VTK XML file formats", https://docs.vtk.org/en/latest/vtk_file_formats.
"""

from __future__ import annotations

import base64
import lzma
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import numpy as np

from groundswell.arrays import HostArray
from groundswell.errors import InputError
from groundswell.formats.damage import read_errors_reported
from groundswell.meshes.content import MeshContent
from groundswell.meshes.readers.stored_arrays import require_plausible
from groundswell.meshes.readers.vtk_cells import content_of

_TYPES = {
    f"{name}{bits}": f"{name.lower()}{bits}" for name in ("Int", "UInt") for bits in (8, 16, 32, 64)
}
_TYPES |= {"Float32": "float32", "Float64": "float64"}
_COMPRESSORS = ("vtkZLibDataCompressor", "vtkLZMADataCompressor")


def read_content(path: Path) -> MeshContent:
    """The content of a file; arrays of whole numbers on cells number surfaces and volumes.

    Raises:
        InputError: the file is damaged or not of an unstructured grid, or compressed by LZ4.
    """
    with read_errors_reported("the file", "VTK XML", "save it again"):
        document = _Document.read(path)
        pieces = [_piece(document, piece) for piece in document.root.iter("Piece")]
        if not pieces:
            raise InputError("has no pieces of a grid; it is incomplete: save it again")
        return content_of(*_joined(pieces))


@dataclass(frozen=True, eq=False)
class _Document:
    """The XML of a file, and the data that are appended to it."""

    path: Path
    root: Any
    appended: bytes
    is_base64: bool

    @classmethod
    def read(cls, path: Path) -> _Document:
        """The document of a file."""
        head, tag, tail = path.read_bytes().partition(b"<AppendedData")
        root = ElementTree.fromstring(head + b"</VTKFile>" if tag else head)
        if root.tag != "VTKFile" or root.get("type") != "UnstructuredGrid":
            raise InputError("is not an unstructured grid of VTK; save it as UnstructuredGrid")
        if root.get("compressor", _COMPRESSORS[0]) not in _COMPRESSORS:
            name = root.get("compressor")
            raise InputError(f"is compressed by {name}; save it with ZLib or none")
        options, _, data = tail.partition(b">")
        data = data.partition(b"_")[2]
        return cls(path, root, data, re.search(rb'encoding\s*=\s*"base64"', options) is not None)

    @cached_property
    def header(self) -> np.dtype[Any]:
        """Type of the sizes before data."""
        return np.dtype(_TYPES[self.root.get("header_type", "UInt32")]).newbyteorder(self.order)

    @property
    def order(self) -> Literal["<", ">"]:
        """Order of bytes."""
        return ">" if self.root.get("byte_order") == "BigEndian" else "<"

    def array(self, element: Any) -> HostArray:
        """The values of a DataArray, (tuples, components) or (tuples,)."""
        dtype = np.dtype(_TYPES[element.get("type")])
        kind = element.get("format", "ascii")
        if kind == "ascii":
            values = np.array((element.text or "").split(), dtype)
        elif kind == "binary":
            values = self._decode((element.text or "").strip().encode(), True, dtype)
        else:
            start = int(element.get("offset"))
            values = self._decode(self.appended[start:], self.is_base64, dtype)
        components = int(element.get("NumberOfComponents") or 1)
        return values.reshape(-1, components) if components != 1 else values

    def _decode(self, data: bytes, is_base64: bool, dtype: np.dtype[Any]) -> HostArray:
        stream = _Stream(data, is_base64)
        compressed = self.root.get("compressor")
        content = self._inflate(stream, compressed) if compressed else self._copy(stream)
        return np.frombuffer(content, dtype.newbyteorder(self.order)).astype(dtype)

    def _copy(self, stream: _Stream) -> bytes:
        size = int(np.frombuffer(stream.peek(self.header.itemsize), self.header)[0])
        require_plausible(size, self.path)
        return stream.after(self.header.itemsize, size)

    def _inflate(self, stream: _Stream, compressor: str) -> bytes:
        item = self.header.itemsize
        count = int(np.frombuffer(stream.peek(item), self.header)[0])
        require_plausible(count * item, self.path)
        sizes = np.frombuffer(stream.peek((3 + count) * item), self.header).astype(np.int64)
        require_plausible(int(sizes[1]) * count, self.path)
        require_plausible(int(sizes[3:].sum()), self.path)
        data = stream.after((3 + count) * item, int(sizes[3:].sum()), separate=True)
        ends = np.cumsum(sizes[3:])
        parts = zip(ends - sizes[3:], ends, strict=True)
        return b"".join(_decompress(data[a:b], compressor, int(sizes[1])) for a, b in parts)


def _decompress(data: bytes, compressor: str, size: int) -> bytes:
    """At most `size` bytes of a compressed block."""
    if compressor == _COMPRESSORS[0]:
        return zlib.decompressobj().decompress(data, max(size, 1))
    return lzma.LZMADecompressor().decompress(data, max(size, 1))


@dataclass(frozen=True)
class _Stream:
    """Bytes that may be written in base64."""

    data: bytes
    is_base64: bool

    def peek(self, size: int) -> bytes:
        """The first bytes."""
        return self._decoded(self.data, size)

    def after(self, start: int, size: int, *, separate: bool = False) -> bytes:
        """Bytes after those of a header.

        Args:
            separate: whether the header is encoded on its own; it also is if it ends by padding.
        """
        if not self.is_base64:
            return self.data[start : start + size]
        characters = _base64_characters(start)
        if separate or self.data[:characters].endswith(b"="):
            return self._decoded(self.data[characters:], size)
        return self._decoded(self.data, start + size)[start:]

    def _decoded(self, data: bytes, size: int) -> bytes:
        return (
            base64.b64decode(data[: _base64_characters(size)])[:size]
            if self.is_base64
            else data[:size]
        )


def _base64_characters(size: int) -> int:
    """Number of characters for so many bytes in base64."""
    return -(-size // 3) * 4


def _piece(document: _Document, piece: Any) -> tuple[HostArray, dict[str, Any], dict[str, Any]]:
    """Points, arrays of cells, and whole numbers on cells of a piece."""
    points = document.array(next(piece.iter("Points"))[0])
    cells = {of.get("Name"): document.array(of) for of in next(piece.iter("Cells"))}
    data = {of.get("Name"): document.array(of) for of in _integers(piece)}
    if points.ndim != 2 or points.shape[1] != 3:
        raise InputError("has points without 3 coordinates; save it again")
    return points, cells, data


def _integers(piece: Any) -> Iterator[Any]:
    for section in piece.iter("CellData"):
        yield from (of for of in section if "Int" in of.get("type", ""))


def _joined(pieces: list[Any]) -> tuple[Any, ...]:
    """The arguments of `content_of`."""
    points = np.concatenate([piece[0] for piece in pieces])
    first = np.cumsum([0, *(len(piece[0]) for piece in pieces)])
    cells = [piece[1] for piece in pieces]
    ends = np.cumsum([0, *(len(of["connectivity"]) for of in cells)])
    connectivity = [
        of["connectivity"].ravel().astype(np.int64) + n for of, n in zip(cells, first, strict=False)
    ]
    offsets = [
        of["offsets"].ravel().astype(np.int64) + n for of, n in zip(cells, ends, strict=False)
    ]
    types = [of["types"].ravel().astype(np.int64) for of in cells]
    common = set.intersection(*(set(piece[2]) for piece in pieces))
    data = {name: np.concatenate([piece[2][name] for piece in pieces]) for name in sorted(common)}
    return points, *(np.concatenate(parts) for parts in (connectivity, offsets, types)), data
