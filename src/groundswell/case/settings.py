"""Settings: values that replace those of a case file, by paths such as `source.0.x`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from groundswell.errors import InputError, counted, did_you_mean, quoted

Settings = Mapping[str, object]  # values by path

# A key of TOML, bare or quoted, or an index as in messages: source[0].
_STEP = re.compile(r'\.?(?:(?P<bare>[A-Za-z0-9_-]+)|"(?P<quoted>[^"]*)"|\[(?P<index>[0-9]+)\])')
_PATH = re.compile(rf"(?!\.)(?:{re.sub('[?]P<[a-z]+>', '?:', _STEP.pattern)})+")


def set_values(document: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """A copy of the tables of a case file in which some values are replaced.

    Keys of a path are joined by dots. Entries of lists are numbered from 0, as in `source.0.x` or
    `source[0].x`. The last key may be missing in its table. Missing tables, such as `[run]`, are
    added.

    Args:
        document: the tables, as `tomllib` reads them.
        settings: values by path, set in this order.

    Raises:
        InputError: a path is invalid: it contains a misspelt key, a value that is not a table, or
            an entry that its list does not have.
    """
    changed = deepcopy(document)
    for path, value in settings.items():
        _set_value(changed, path, deepcopy(value))
    return changed


def parse_settings(texts: Iterable[str]) -> dict[str, object]:
    """The settings in texts such as `time.duration=2.0`; of several for one path, the last is used.

    Values are written in TOML. Anything that is not valid TOML is text, so that shells need no
    second pair of quotes: `source.0.x=300 m`.

    Raises:
        InputError: a text has no path or no value.
    """
    return dict(map(_parse, texts))


def _parse(text: str) -> tuple[str, object]:
    path, equals, value = text.partition("=")
    if not equals or not path.strip() or not value.strip():
        raise InputError(f"{quoted(text)} sets nothing; give PATH=VALUE, such as time.duration=2.0")
    return path.strip(), _value(value.strip())


def _value(text: str) -> object:
    # In an inline table, neither a comment nor a second key can follow the value.
    try:
        found = tomllib.loads(f"table = {{ value = {text} }}")["table"]
    except (ValueError, RecursionError):
        return text
    return found["value"] if len(found) == 1 else text


def _set_value(document: dict[str, Any], path: str, value: object) -> None:
    *keys, last = _steps(path)
    place: Any = document
    for n, key in enumerate(keys):
        place = _entry(place, keys[:n], key, path)
    if isinstance(place, list):
        place[_index(place, keys, last, path)] = value
    else:
        _require_table(place, keys, path)
        place[last] = value


def _steps(path: str) -> list[str]:
    """The keys and indices of a path."""
    if not isinstance(path, str) or not _PATH.fullmatch(path):
        raise InputError(
            f"{quoted(str(path))} is not the path of a value; give keys joined by dots, and "
            "entries of lists by number, such as source.0.x"
        )
    return ["".join(filter(None, found.groups())) for found in _STEP.finditer(path)]


def _entry(place: Any, before: list[str], key: str, path: str) -> Any:
    """The table or list at a key of `place`; a table that is missing is added."""
    if isinstance(place, list):
        return place[_index(place, before, key, path)]
    _require_table(place, before, path)
    if key not in place:
        _require_new(key, place, before, path)
        place[key] = {}
    return place[key]


def _require_new(key: str, table: Mapping[str, object], before: list[str], path: str) -> None:
    """Raise `InputError` if the key looks like a misspelt key of the table."""
    if found := did_you_mean(key, table):
        raise _wrong(path, f"{_name(before)} has no key {quoted(key)}{found}")


def _require_table(place: object, before: list[str], path: str) -> None:
    if not isinstance(place, dict):
        raise _wrong(path, f"{_name(before)} is neither a table nor a list")


def _index(entries: list[Any], before: list[str], key: str, path: str) -> int:
    if key.isdecimal() and int(key) < len(entries):
        return int(key)
    has = f"{_name(before)} is a list of {counted(len(entries), 'entry', 'entries')}"
    raise _wrong(path, f"{has}; give {_numbers(len(entries))}, not {quoted(key)}")


def _numbers(count: int) -> str:
    return {0: "none of them", 1: "0"}.get(count, f"a number from 0 to {count - 1}")


def _name(before: list[str]) -> str:
    return ".".join(before) or "the case"


def _wrong(path: str, reason: str) -> InputError:
    return InputError(f"{path} cannot be set: {reason}")
