"""XML files of unknown origin: parsed without entities, and with a limited size and depth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers.expat import ExpatError, ParserCreate

from groundswell.errors import InputError, reason_of

_MAX_BYTES = 256 * 2**20
_MAX_DEPTH = 50


@dataclass
class Element:
    """An element: its name without a namespace, attributes, text, children and line."""

    name: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def find(self, *names: str) -> Element | None:
        """The first child of one of these names."""
        return next((child for child in self.children if child.name in names), None)

    def all(self, name: str) -> list[Element]:
        """The children of a name."""
        return [child for child in self.children if child.name == name]

    def walk(self) -> Iterator[Element]:
        """Yield the element and all elements below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def read_xml(path: Path) -> Element:
    """The root element of a file.

    Documents with a document type are refused, because it may define entities that grow without
    limit or read other files (OWASP: "XML external entity").

    Raises:
        InputError: the file cannot be read, or is not plain XML.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path} is larger than 256 MiB; divide the model into several files")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}") from None
    return parse_xml(data, path)


def parse_xml(data: bytes, source: object) -> Element:
    """The root element of a document; `source` names it in messages. Raises as `read_xml`."""
    builder = _Builder(source)
    try:
        builder.parser.Parse(data, True)
    except ExpatError as error:
        raise InputError(f"{source} is not XML: {error}") from None
    except (LookupError, ValueError) as error:  # unknown or multi-byte encodings
        raise InputError(f"{source} is not XML: {reason_of(error)}") from None
    return builder.root


class _Builder:
    """Builds a tree of elements while expat parses."""

    def __init__(self, source: object) -> None:
        self._source = source
        self._open: list[Element] = []
        self.parser = parser = ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._add_text
        parser.StartDoctypeDeclHandler = self._refuse

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) > _MAX_DEPTH:
            raise InputError(f"{self._source}: elements are nested more than {_MAX_DEPTH} deep")
        local = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        line = self.parser.CurrentLineNumber
        element = Element(name.rpartition(" ")[2], local, line)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, name: str) -> None:
        self._open.pop()

    def _add_text(self, text: str) -> None:
        self._open[-1].text += text

    def _refuse(self, *_: object) -> None:
        raise InputError(
            f"{self._source} has a document type (<!DOCTYPE>), which may define harmful entities; "
            "remove it"
        )
