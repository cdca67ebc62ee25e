"""Comments of the commented cases that `groundswell new` writes: the meanings of their keys."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from groundswell.case.problems import short
from groundswell.case.reference import SELECTS, Key, Table, tables
from groundswell.case.section import Section

COLUMN, WIDTH = 40, 110  # where comments begin, and where lines end at most
_HEADING = re.compile(r"(?:# )?\[\[?(?P<path>[A-Za-z0-9_.-]+)\]\]?(?:[ ]+#.*)?$", re.MULTILINE)
_KEY = re.compile(r"(?:# )?(?P<key>[a-z_]+) = (?P<value>\S.*)$")
_NAMED = "NAME"  # in the path of a table whose name the user chooses


class Line(NamedTuple):
    """A line of a case: the key that it gives, also within a comment, and its possible tables."""

    text: str
    key: str
    tables: tuple[Table, ...]

    @property
    def found(self) -> Key | None:
        """The key in the reference; None if no table has it."""
        keys = (key for table in self.tables for key in table.keys if key.name == self.key)
        return next(keys, None)


def annotated(text: str, case: type[Section]) -> str:
    """A commented case in which each key has a comment: its own, or else its meaning.

    Args:
        text: the case; keys within comments count, too.
        case: its schema.
    """
    commented: set[tuple[str, str]] = set()
    body = "\n".join(_commented(line, commented) for line in lines(text, case))
    return f"{body}\n"


def lines(text: str, case: type[Section]) -> Iterator[Line]:
    """Yield all lines of a case."""
    starts = [0, *(match.start() for match in _HEADING.finditer(text)), len(text)]
    for block in (text[start:end] for start, end in pairwise(dict.fromkeys(starts))):
        inside = _tables_of(block, tables(case))
        for line in block.removesuffix("\n").split("\n"):
            match = _KEY.match(line)
            is_key = match and _is_toml(match["key"], match["value"])
            yield Line(line, match["key"] if match and is_key else "", inside)


def _tables_of(block: str, found: Sequence[Table]) -> tuple[Table, ...]:
    """The tables that a block of lines below one heading may be."""
    match = _HEADING.match(block.partition("\n")[0])
    path = match["path"] if match else ""
    named = f"{path.rpartition('.')[0]}.{_NAMED}"
    inside = [table for table in found if {path, named} & {table.path, *table.also}]
    return tuple(table for table in inside if _is_kind(table, block)) or tuple(inside)


def _is_kind(table: Table, block: str) -> bool:
    """Whether a block of lines gives the key that selects this kind of table."""
    tag, _, kinds = table.kind.partition(" = ")
    given = re.search(rf'(?m)^(?:# )?{tag} = ("[^"]*")', block) if kinds else None
    return given is not None and given[1] in kinds


def _is_toml(key: str, value: str) -> bool:
    """Whether a line gives a key its value, and is no prose."""
    try:
        tomllib.loads(f"{key} = {value}")
    except tomllib.TOMLDecodeError:
        return False
    return True


def _commented(line: Line, commented: set[tuple[str, str]]) -> str:
    """A line with a comment, if it has none and its key is the first of its kind."""
    key = line.found
    if key is None or not _needs_comment(line, key):
        return line.text
    place = (line.tables[0].anchor, key.name)
    comment = f"{line.text:<{COLUMN - 1}} # {short(key.meaning)}"
    if place in commented or len(comment) > WIDTH:
        return line.text
    commented.add(place)
    return comment


def _needs_comment(line: Line, key: Key) -> bool:
    has_own = re.search(r"\s#\s", line.text.removeprefix("# "))
    is_plain = key.meaning in ("", SELECTS) or not line.tables[0].path
    return not has_own and not is_plain and len(line.text) < COLUMN
