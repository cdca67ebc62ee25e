"""The base case of an ensemble, and the case of each row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundswell.case import Case
from groundswell.case.load import case_of
from groundswell.case.settings import set_values
from groundswell.ensembles.plan import Plan, tables_of
from groundswell.ensembles.rows import Row, Settings
from groundswell.errors import CaseError, GroundswellError, InputError, counted
from groundswell.simulation import preparation

NAMED = 4  # maximum number of rows in a message
PREPARED_SECONDS = 20.0  # for checking set-ups before the first run; others are checked when run


@dataclass(frozen=True)
class BaseCase:
    """The tables of the base case.

    Args:
        document: the tables.
        folder: folder of relative file names.
        source: name of the case in messages.
        backend: replaces that of the case.
    """

    document: Mapping[str, Any]
    folder: Path
    source: str
    backend: str | None = None

    @classmethod
    def of(cls, plan: Plan) -> BaseCase:
        """The base case of a plan.

        Raises:
            InputError: its file cannot be read, or the path of a setting is invalid.
        """
        document, folder, source = tables_of(plan)
        return cls(set_values(document, plan.settings), folder, source, plan.backend)

    def case(self, settings: Settings) -> Case:
        """The case with other values.

        Raises:
            InputError: a path does not exist in the case.
            CaseError: the case is invalid.
        """
        document = set_values(dict(self.document), settings)
        return case_of(document, self.folder, self.source).with_run(backend=self.backend)


def require_valid(base: BaseCase, rows: Sequence[Row], source: str) -> dict[str, Case]:
    """The case of each row, by name.

    Args:
        source: name of the plan in messages.

    Raises:
        InputError: some cases are invalid; one message lists the rows by problem.
    """
    cases, problems = {}, {}
    for row in rows:
        try:
            cases[row.name] = base.case(row.settings)
        except InputError as error:
            problems[row.name] = _text(error)
    _require_none(problems, source)
    return cases


def require_set_ups(cases: Mapping[str, Case], source: str) -> None:
    """Check the set-up of as many cases as PREPARED_SECONDS allow.

    Args:
        source: name of the plan in messages.

    Raises:
        InputError: some cases cannot run; one message lists the rows by problem.
    """
    ends, problems = time.monotonic() + PREPARED_SECONDS, {}
    for name, case in cases.items():
        if text := _failure(lambda case=case: preparation.prepare(case)):  # type: ignore[misc]
            problems[name] = text
        if time.monotonic() > ends:
            break
    _require_none(problems, source)


def _require_none(problems: Mapping[str, str], source: str) -> None:
    """Raise InputError for the problems of rows, if there are any."""
    if problems:
        raise InputError("\n".join([f"{source} has rows that cannot run:", *_by_text(problems)]))


def _failure(act: Callable[[], object]) -> str:
    """The message of the error that the function raises; empty without an error."""
    try:
        act()
    except GroundswellError as error:
        return _text(error)
    return ""


def _text(error: GroundswellError) -> str:
    if isinstance(error, CaseError):
        return "\n".join(map(str, error.problems))
    return str(error)


def _by_text(problems: Mapping[str, str]) -> Iterator[str]:
    """Lines with each problem below the rows that have it."""
    names: dict[str, list[str]] = {}
    for name, text in problems.items():
        names.setdefault(text, []).append(name)
    for text, rows in names.items():
        more = len(rows) - NAMED
        rest = f" and {counted(more, 'more row', 'more rows')}" if more > 0 else ""
        yield f"  {', '.join(rows[:NAMED])}{rest}:"
        yield from (f"    {line}" for line in text.splitlines())
