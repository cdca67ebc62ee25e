"""The directive `case-reference:: earthquake`: all keys of the case file of a solver.

With `module:Class` instead of a solver, the keys are those of another input file. The directive
shows what `groundswell.case.reference` finds in the sections of the case. Each table and each
key has an anchor, such as `#case-grid` and `#case-grid-spacing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pkgutil import resolve_name
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

from groundswell import registry
from groundswell.case.reference import Key, Table, anchors_of_rows, tables
from groundswell.case.section import Section

COLUMNS = ("key", "values", "unit", "default", "range", "meaning")
WIDTHS = (14, 22, 8, 10, 10, 36)
_QUOTED = re.compile(r'("[^"]*")')
_MARKED = re.compile(r"`([^`]+)`")


class CaseReference(Directive):
    """All tables of the case of a solver, each in a section of the page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The sections; those of several kinds have one for each."""
        self.state.document.settings.env.note_reread()
        found = tables(_case(self.arguments[0]))
        kinds: dict[str, list[Table]] = {}
        for table in found:
            kinds.setdefault(table.path, []).append(table)
        anchors = {path: each[0].anchor for path, each in kinds.items()}
        for table in found:
            anchors |= {path: anchors[table.path] for path in table.also if path not in anchors}
        anchors |= {path: _anchor(path) for path, each in kinds.items() if len(each) > 1}
        sections = [section_of(path, each, anchors) for path, each in kinds.items()]
        _leave_anchors_to_tables(sections, anchors_of_rows(found))
        return sections


def _case(name: str) -> type[Section]:
    """The case of a solver, or the class that `module:Class` names."""
    return resolve_name(name) if ":" in name else registry.find(name).load("case")


def _anchor(path: str) -> str:
    return f"case-{path.replace('.', '-').replace('_', '-').lower()}"


def _leave_anchors_to_tables(sections: list[nodes.section], rows: frozenset[str]) -> None:
    """Remove the anchors of keys that are anchors of tables, too."""
    for section in sections:
        for key in section.findall(nodes.inline):
            key["ids"] = [anchor for anchor in key["ids"] if anchor in rows]


def section_of(path: str, kinds: list[Table], anchors: dict[str, str]) -> nodes.section:
    """The section of a table, or of all kinds of a table.

    Args:
        anchors: the anchors of all tables, by path.
    """
    heading = nodes.literal("", kinds[0].heading) if path else nodes.Text("The top of the file")
    section = nodes.section(ids=[anchors[path]], names=[anchors[path]])
    section += nodes.title("", "", heading)
    for table in kinds:
        section += _contents(table, anchors) if len(kinds) == 1 else _kind(table, anchors)
    return section


def _kind(table: Table, anchors: dict[str, str]) -> nodes.section:
    """The section of one kind of a table."""
    anchor = table.anchor if table.kind else f"{table.anchor}-without-file"
    section = nodes.section(ids=[anchor], names=[anchor])
    text = nodes.literal("", table.kind) if table.kind else nodes.Text("without file")
    section += nodes.title("", "", text)
    section += _contents(table, anchors)
    return section


def _contents(table: Table, anchors: dict[str, str]) -> list[nodes.Node]:
    paragraphs = table.text.split("\n\n")[: None if table.path else 1]
    if table.also:
        paths = ", ".join(f"`{path}`" for path in table.also)
        paragraphs.append(f"The same keys: {paths}.")
    texts = (paragraph.replace("\n", " ") for paragraph in paragraphs)
    return [*(nodes.paragraph("", "", *marked(text)) for text in texts), _grid(table, anchors)]


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
    for n, part in enumerate(_QUOTED.split(key.values)):
        yield nodes.literal("", part) if n % 2 else nodes.Text(part)
    for path in key.tables:
        yield nodes.Text(": ")
        link = nodes.reference("", "", refid=anchors[path], internal=True)
        link += nodes.literal("", path)
        yield link


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("case-reference", CaseReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
