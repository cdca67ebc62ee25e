"""What the value of a key may be, in words, from the type of its field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from groundswell.case.section import NotEmpty, Section, is_data_file
from groundswell.case.units import LARGEST_COUNT, Accepts
from groundswell.errors import listed, quoted

_BOUNDS = {"gt": "> {:g}", "ge": "≥ {:g}", "lt": "< {:g}", "le": "≤ {:g}"}
_PLAIN: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    dict: "a table",
}


def accepted(annotation: Any, metadata: Sequence[Any] = ()) -> Accepts:
    """The values of a type: words, unit and bounds.

    Args:
        annotation: the type; types within it may be annotated.
        metadata: annotations of the type itself.
    """
    flat = [*_flat(metadata)]
    found = next(filter(None, map(stated, flat)), None) or _of_type(annotation, flat)
    bounds = [*_bounds(flat), *filter(None, [found.bounds])]
    return replace(found, bounds=", ".join(dict.fromkeys(bounds)))


def _flat(metadata: Sequence[Any]) -> Iterator[Any]:
    """The annotations, including those in pydantic's `Field(...)`."""
    for each in metadata:
        yield from each.metadata if isinstance(each, FieldInfo) else [each]


def stated(annotation: Any) -> Accepts | None:
    """What an annotation says of the values, if it does."""
    if isinstance(annotation, Accepts):
        return annotation
    stated = getattr(annotation, "accepts", None)
    return stated if isinstance(stated, Accepts) else None


def _of_type(annotation: Any, metadata: Sequence[Any]) -> Accepts:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return accepted(arguments[0], (*arguments[1:],))
    if origin in (Union, UnionType):
        return _either(arguments)
    if origin is Literal:
        return Accepts(words(arguments))
    if origin is tuple:
        return _listed(arguments)
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return Accepts("a table")
    if annotation is Path:
        return Accepts("an existing file" if is_data_file(metadata) else "the name of a file")
    return Accepts(_PLAIN.get(origin or annotation, ""))


def words(values: Sequence[object]) -> str:
    """Values as in a case file, one of which is allowed."""
    return listed(quoted(value) if isinstance(value, str) else str(value) for value in values)


def _either(types: Sequence[Any]) -> Accepts:
    """One of several types; tables of several kinds count once."""
    each = [accepted(one) for one in types if one is not NoneType]
    texts = dict.fromkeys(one.text for one in each if one.text)
    return _joined(" or ".join(texts), each)


def _listed(entries: Sequence[Any]) -> Accepts:
    """A list of any length, or with a given number of entries."""
    if entries[-1:] == (Ellipsis,):
        one = accepted(entries[0])
        return replace(one, text=f"a list, each entry {one.text}")
    each = [accepted(entry) for entry in entries]
    texts = list(dict.fromkeys(one.text for one in each))
    entries_text = f"each {texts[0]}" if len(texts) == 1 else ", ".join(texts)
    return _joined(f"a list of {len(each)}, {entries_text}", each)


def _joined(text: str, each: Sequence[Accepts]) -> Accepts:
    units = dict.fromkeys(one.unit for one in each if one.unit)
    bounds = dict.fromkeys(one.bounds for one in each if one.bounds)
    return Accepts(text, ", ".join(units), "; ".join(bounds))


def _bounds(metadata: Sequence[Any]) -> Iterator[str]:
    """The bounds that annotations set."""
    for each in metadata:
        for name, text in _BOUNDS.items():
            if (bound := getattr(each, name, None)) not in (None, LARGEST_COUNT):
                yield text.format(bound)
        if each is NotEmpty or getattr(each, "min_length", None) == 1:
            yield "not empty"
        elif (least := getattr(each, "min_length", None)) is not None:
            yield f"at least {least} entries"
