"""The directive `case-reference:: earthquake`: all keys of the case file of a solver.

It shows what `groundswell.case.reference` finds in the sections of the case. Each table and each
key has an anchor, such as `#case-grid` and `#case-grid-spacing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

from groundswell import registry
from groundswell.case.reference import Key, Table, tables

COLUMNS = ("key", "values", "unit", "default", "range", "meaning")
WIDTHS = (14, 22, 8, 10, 10, 36)
_MARKED = re.compile(r"`([^`]+)`")


class CaseReference(Directive):
    """All tables of the case of a solver, each in a section of the page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The sections."""
        found = tables(registry.find(self.arguments[0]).load("case"))
        anchors: dict[str, str] = {}
        for table in found:
            for path in (table.path, *table.also):
                anchors.setdefault(path, table.anchor)
        return [section_of(table, anchors) for table in found]


def section_of(table: Table, anchors: dict[str, str]) -> nodes.section:
    """The section of a table.

    Args:
        anchors: the anchors of all tables, by path.
    """
    section = nodes.section(ids=[table.anchor], names=[table.anchor])
    section += nodes.title("", "", *_title(table))
    for paragraph in table.text.split("\n\n"):
        section += nodes.paragraph("", "", *marked(paragraph.replace("\n", " ")))
    if table.also:
        paths = ", ".join(f"`{path}`" for path in table.also)
        section += nodes.paragraph("", "", *marked(f"The same keys: {paths}."))
    section += _grid(table, anchors)
    return section


def _title(table: Table) -> Iterator[nodes.Node]:
    if not table.path:
        yield nodes.Text("The top of the file")
        return
    yield nodes.literal("", table.heading)
    if table.kind:
        yield nodes.Text(" with ")
        yield nodes.literal("", table.kind.removeprefix("with "))


def marked(text: str) -> Iterator[nodes.Node]:
    """Text in which backticks mark code."""
    for n, part in enumerate(_MARKED.split(text)):
        yield nodes.literal("", part) if n % 2 else nodes.Text(part)


# --- the keys -------------------------------------------------------------------------------------


def _grid(table: Table, anchors: dict[str, str]) -> nodes.table:
    group = nodes.tgroup("", *(nodes.colspec(colwidth=w) for w in WIDTHS), cols=len(COLUMNS))
    group += nodes.thead("", _row(nodes.paragraph("", name) for name in COLUMNS))
    body = nodes.tbody()
    for key in table.keys:
        body += _row(_cells(table, key, anchors))
    group += body
    return nodes.table("", group, classes=["case-reference"])


def _row(cells: Any) -> nodes.row:
    return nodes.row("", *(nodes.entry("", cell) for cell in cells))


def _cells(table: Table, key: Key, anchors: dict[str, str]) -> Iterator[nodes.paragraph]:
    name = nodes.literal("", key.name)
    yield nodes.paragraph("", "", nodes.inline("", "", name, ids=[table.anchor_of(key)]))
    yield nodes.paragraph("", "", *_values(key, anchors))
    yield nodes.paragraph("", key.unit)
    default = nodes.literal("", key.default) if key.default else nodes.Text("")
    yield nodes.paragraph("", "", nodes.strong("", "required") if key.is_required else default)
    yield nodes.paragraph("", key.bounds)
    yield nodes.paragraph("", "", *marked(key.meaning))


def _values(key: Key, anchors: dict[str, str]) -> Iterator[nodes.Node]:
    """What is allowed; tables are links."""
    yield nodes.Text(key.values)
    for path in key.tables:
        yield nodes.Text(": ")
        link = nodes.reference("", "", refid=anchors[path], internal=True)
        link += nodes.literal("", path)
        yield link


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("case-reference", CaseReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
