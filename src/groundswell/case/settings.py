"""Settings: values of keys of a case, by their paths in its tables."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from groundswell.errors import InputError, did_you_mean, quoted


def set_values(document: dict[str, Any], settings: Mapping[str, object]) -> dict[str, Any]:
    """A deep copy of a case's tables in which keys have other values.

    Args:
        document: the tables of a case file.
        settings: values by path, such as "source.0.depth"; missing tables are added.

    Raises:
        InputError: a path leads nowhere; the message names the nearest keys.
    """
    changed = deepcopy(document)
    for path, value in settings.items():
        _set(changed, path, value)
    return changed


def _set(content: Any, path: str, value: object) -> None:
    *parents, last = path.split(".")
    for part in parents:
        content = _entry(content, part, path)
    if isinstance(content, list):
        content[_index(content, last, path)] = value
    elif isinstance(content, dict):
        content[last] = value
    else:
        raise InputError(f"{path}: {quoted(last)} is inside a value; give the path of a table")


def _entry(content: Any, part: str, path: str) -> Any:
    if isinstance(content, list):
        return content[_index(content, part, path)]
    if not isinstance(content, dict):
        raise InputError(f"{path}: {quoted(part)} is inside a value; give the path of a table")
    if part not in content and (near := did_you_mean(part, content)):
        raise InputError(f"{path}: the case has no {quoted(part)}{near}")
    return content.setdefault(part, {})


def _index(entries: list[Any], part: str, path: str) -> int:
    if not part.isdigit() or int(part) >= len(entries):
        raise InputError(f"{path}: {quoted(part)} must be a number from 0 to {len(entries) - 1}")
    return int(part)
