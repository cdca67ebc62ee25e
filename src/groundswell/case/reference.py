"""Reference of the keys of a case: what the documentation, `groundswell new` and messages say.

All of it comes from the sections: types, bounds and defaults from the fields, and the meaning of a
key from the text below its field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from groundswell.case.meanings import meaning_of
from groundswell.case.problems import format_value
from groundswell.case.section import Section, TaggedUnion
from groundswell.case.value_text import accepted, stated, words

SELECTS = "Selects this kind."


@dataclass(frozen=True)
class Key:
    """A key of a table.

    Args:
        name: as in the case file.
        values: what is allowed, in words.
        unit: SI unit of numbers; "" if they have none.
        default: as in the case file; "" if there is none.
        bounds: of numbers, and of the lengths of lists.
        is_required: whether the key must be given.
        meaning: one or more sentences; "" if the section states none.
        tables: paths of the tables that are the value.
    """

    name: str
    values: str
    unit: str
    default: str
    bounds: str
    is_required: bool
    meaning: str
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table of a case file: a section, an inline table, or one kind of either.

    Args:
        path: keys that lead to it, as in "grid.geography"; "" for those before all sections.
        heading: as in the case file, such as `[[source]]`.
        text: what the section says of itself.
        keys: in the order of the section, the key that selects its kind first.
        kind: the condition under which the table is of this kind, such as `kind = "layered"`.
        also: paths of other tables with the same keys.
    """

    path: str
    heading: str
    text: str
    keys: tuple[Key, ...]
    kind: str = ""
    also: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """The stable name of its place in the documentation."""
        kind = self.kind.rpartition("= ")[2].split(" or ")[0].rpartition(" ")[2]
        parts = ["case", *self.path.lower().split("."), kind.strip('"')]
        return "-".join(part.replace("_", "-") for part in parts if part)

    def anchor_of(self, key: Key) -> str:
        """The stable name of the place of a key."""
        return f"{self.anchor}-{key.name.replace('_', '-')}"


@cache
def tables(case: type[Section]) -> tuple[Table, ...]:
    """All tables of a case in the order of its sections; those with the same keys are one."""
    first: dict[tuple[type[Section], str], Table] = {}
    paths: dict[Table, list[str]] = {}
    anchors: dict[str, type[Section]] = {}
    for place, table in _walk(_Place(case, "", "")):
        if anchors.setdefault(table.anchor, place.section) is not place.section:
            table = replace(table, kind=place.within)  # tables in tables of different kinds
        one = first.setdefault((place.section, place.kind), table)
        paths.setdefault(one, []).append(place.path)
    return tuple(
        replace(table, also=tuple(dict.fromkeys(p for p in found if p != table.path)))
        for table, found in paths.items()
    )


def anchors_of_rows(found: Iterable[Table]) -> frozenset[str]:
    """The anchors of keys, without those that are anchors of tables: links to these lead there."""
    found = tuple(found)
    headings = {each.anchor for table in found for each in (table, replace(table, kind=""))}
    return frozenset(table.anchor_of(key) for table in found for key in table.keys) - headings


class _Place(NamedTuple):
    """A section, and where it is."""

    section: type[Section]
    path: str
    heading: str
    kind: str = ""
    tag: str = ""
    within: str = ""  # the kind of the table that contains it


def _walk(place: _Place) -> Iterator[tuple[_Place, Table]]:
    fields = place.section._keys()
    inner = {name: [*_tables(place, name, fields[name])] for name in _order(place)}
    keys = tuple(_key(place, name, [each.path for each in found]) for name, found in inner.items())
    text = _text(place.section)
    yield place, Table(place.path, place.heading, text, keys, place.kind)
    for each in inner.values():
        for table in each:
            yield from _walk(table)


def _order(place: _Place) -> list[str]:
    """The keys of a section: first the one that selects its kind, last what every case has."""
    last = ("output", "run") if not place.path else ()
    return sorted(place.section._keys(), key=lambda name: (name in last, name != place.tag))


def _text(section: type[Section]) -> str:
    """The docstring of a section, without what is for Python only."""
    text = section.__doc__ or ""
    for part in ("Attributes:", "Raises:"):
        text = text.partition(f"\n    {part}")[0]
    paragraphs = (each for each in text.split("\n\n") if not each.lstrip().startswith(">>>"))
    return "\n".join(line.strip() for line in "\n\n".join(paragraphs).strip().splitlines())


# --- keys -----------------------------------------------------------------------------------------


def _key(place: _Place, name: str, inner: Sequence[str]) -> Key:
    key = key_of(place.section, name)
    if _selects(place.section, name) and not key.meaning:
        key = replace(key, meaning=SELECTS)
    return replace(key, tables=tuple(dict.fromkeys(inner)))


def _selects(section: type[Section], name: str) -> bool:
    """Whether a key has one or few fixed values, which select a kind of table."""
    field = section._keys()[name]
    return get_origin(field.annotation) is Literal and not meaning_of(section, name)


def key_of(section: type[Section], name: str) -> Key:
    """The key of a section, by its name in the case file."""
    field = section._keys()[name]
    found = accepted(field.annotation, field.metadata)
    return Key(
        name,
        found.text,
        found.unit,
        _default(field),
        found.bounds,
        field.is_required(),
        meaning_of(section, name),
    )


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is None or value is PydanticUndefined or value in ((), ""):
        return ""
    return format_value(str(value) if isinstance(value, Path) else value)


# --- tables within tables -------------------------------------------------------------------------


def _tables(place: _Place, name: str, field: FieldInfo) -> Iterator[_Place]:
    path = f"{place.path}.{name}" if place.path else name
    for found in _sections(field.annotation, field.metadata):
        inner = f"{path}.NAME" if found.is_named else path
        heading = _heading(place, inner, found)
        yield _Place(found.section, inner, heading, found.kind, found.tag, place.kind)


def _heading(place: _Place, path: str, found: _Found) -> str:
    """As in a case file; tables in tables of lists are inline."""
    if (place.path and not place.heading.startswith("[")) or place.heading.startswith("[["):
        return f"{path} = {'[{ ... }]' if found.is_listed else '{ ... }'}"
    return f"[[{path}]]" if found.is_listed else f"[{path}]"


class _Found(NamedTuple):
    """A section in the type of a field."""

    section: type[Section]
    kind: str = ""
    tag: str = ""
    is_listed: bool = False
    is_named: bool = False


def _sections(annotation: Any, metadata: Sequence[Any] = ()) -> Iterator[_Found]:
    """Yield the sections that a value may be."""
    tables = next((s.tables for s in map(stated, metadata) if s and s.tables), ())
    if tables:
        yield from (_Found(section, kind) for kind, section in tables)
        return
    tag = next((each.tag for each in metadata if isinstance(each, TaggedUnion)), "")
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _sections(arguments[0], arguments[1:])
    elif origin in (Union, UnionType, tuple, dict):
        for part in (part for part in arguments if part not in (NoneType, Ellipsis, str)):
            for found in _sections(part, metadata if origin in (Union, UnionType) else ()):
                yield found._replace(
                    is_listed=found.is_listed or origin is tuple,
                    is_named=found.is_named or origin is dict,
                )
    elif isinstance(annotation, type) and issubclass(annotation, Section):
        yield _Found(annotation, _kind(annotation, tag), tag)


def _kind(section: type[Section], tag: str) -> str:
    """The condition under which a table of several kinds is this one."""
    if not tag:
        return ""
    annotation = section.model_fields[tag].annotation
    assert get_origin(annotation) is Literal
    return f"{tag} = {words(get_args(annotation))}"
