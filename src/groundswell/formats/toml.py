"""Tables as TOML text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping


def toml_text(content: Mapping[str, object]) -> str:
    """A mapping as TOML: tables of the first level with headings, deeper ones on one line.

    Args:
        content: text, numbers, truth values, lists of these, tables, and lists of tables.
    """
    return "\n".join(_lines(content)) + "\n"


def _lines(content: Mapping[str, object]) -> Iterator[str]:
    plain = {key: value for key, value in content.items() if not _tables(value)}
    yield from (f"{key} = {_value(value)}" for key, value in plain.items())
    for key, value in content.items():
        heading = f"[{key}]" if isinstance(value, Mapping) else f"[[{key}]]"
        for table in _tables(value):
            yield from ("", heading)
            yield from (f"{name} = {_value(entry)}" for name, entry in table.items())


def _tables(value: object) -> list[Mapping[str, object]]:
    """The tables that a value consists of."""
    entries = value if isinstance(value, list) else [value]
    return [entry for entry in entries if isinstance(entry, Mapping)]


def _value(value: object) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)
