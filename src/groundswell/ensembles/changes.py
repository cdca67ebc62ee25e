"""Detects cases that have changed since their runs were stored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from groundswell.case import Case
from groundswell.errors import InputError, counted
from groundswell.simulation.preparation import case_digest

SHOWN = 3  # maximum number of runs, and of keys of each run, in a message


def require_unchanged(present: Mapping[str, Mapping[str, Any]], cases: Mapping[str, Case]) -> None:
    """Check that stored runs are those of their cases.

    Args:
        present: attributes of the stored runs, by name.
        cases: the cases of the plan, by name.

    Raises:
        InputError: some cases have changed; the message lists the changes.
    """
    changed = {
        name: about
        for name, about in present.items()
        if about["digest"] != case_digest(cases[name])
    }
    if not changed:
        return
    shown = [f"  {name}: {_difference(changed[name], cases[name])}" for name in [*changed][:SHOWN]]
    rest = len(changed) - SHOWN
    more = [f"  and {counted(rest, 'more run')}"] if rest > 0 else []
    raise InputError(
        "\n".join(
            [
                f"the store has {counted(len(changed), 'run')} of cases that differ from the plan:",
                *shown,
                *more,
                "Undo the change, choose another store, or remove these groups from the store",
            ]
        )
    )


def _difference(about: Mapping[str, Any], case: Case) -> str:
    """The differences, as text."""
    old = dict(_leaves(about["case"]))
    new = dict(_leaves(json.loads(case.canonical(without=("run",)))))
    keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    if not keys:
        return "a data file, the backend, the precision or the version of Groundswell has changed"
    texts = [f"{key} was {old.get(key, 'absent')} and is {new.get(key, 'absent')}" for key in keys]
    rest = len(texts) - SHOWN
    return ", ".join(texts[:SHOWN]) + (f" and {counted(rest, 'more key')}" if rest > 0 else "")


def _leaves(content: Any, path: str = "") -> Iterator[tuple[str, object]]:
    """Values by path in nested tables and lists."""
    if isinstance(content, dict | list) and content:
        entries = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in entries:
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    else:
        yield path, content
