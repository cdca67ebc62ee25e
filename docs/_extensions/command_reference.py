"""The directive `command-reference::`: all commands of `groundswell` with their options.

It shows the texts of `groundswell COMMAND --help`, taken from the commands themselves.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import typer
from case_reference import marked
from docutils import nodes
from docutils.parsers.rst import Directive

from groundswell.cli.app import app

PROGRAM = "groundswell"
HIDDEN = {"--install-completion", "--show-completion", "--help"}
_CODE = re.compile(r"(?m)^ {4}.*")


class CommandReference(Directive):
    """All commands, each in a section of the page."""

    def run(self) -> list[nodes.Node]:
        """The options before every command, and the sections of the commands."""
        self.state.document.settings.env.note_reread()
        command = typer.main.get_command(app)
        return [*_body(command), *_subcommands(command, PROGRAM)]


def _subcommands(command: Any, name: str) -> Iterator[nodes.section]:
    for each in getattr(command, "commands", {}).values():
        if not each.hidden:
            yield _section(each, f"{name} {each.name}")


def _section(command: Any, name: str) -> nodes.section:
    anchor = name.replace(" ", "-")
    section = nodes.section(ids=[anchor], names=[anchor])
    section += nodes.title("", "", nodes.literal("", name.removeprefix(f"{PROGRAM} ")))
    section += nodes.literal_block("", f"{name} {_usage(command)}", language="none")
    section += _body(command)
    section += [*_subcommands(command, name)]
    return section


def _usage(command: Any) -> str:
    """The arguments in a call of the command."""
    if hasattr(command, "commands"):
        return "COMMAND"
    arguments = (p for p in command.params if p.param_type_name == "argument")
    return " ".join([*map(_metavar, arguments), "[OPTIONS]"])


def _body(command: Any) -> list[nodes.Node]:
    text = inspect.cleandoc(command.help or "")
    rows = [*map(_cells, filter(_is_shown, command.params))]
    return [*_paragraphs(text), *([_grid(rows)] if rows else [])]


def _paragraphs(text: str) -> Iterator[nodes.Node]:
    """Paragraphs, of which indented ones are code."""
    for part in re.split(r"\n\s*\n", text):
        if _CODE.match(part):
            yield nodes.literal_block("", inspect.cleandoc(part), language="none")
        else:
            yield nodes.paragraph("", "", *marked(" ".join(part.split())))


def _is_shown(parameter: Any) -> bool:
    return not getattr(parameter, "hidden", False) and not HIDDEN & {*parameter.opts}


def _cells(parameter: Any) -> tuple[nodes.paragraph, nodes.paragraph]:
    """The name of an argument or option, and its meaning."""
    names = ", ".join(parameter.opts) if parameter.param_type_name == "option" else ""
    metavar = "" if getattr(parameter, "is_flag", False) else _metavar(parameter)
    shown = f"{names} {metavar}".strip()
    text = " ".join(filter(None, [parameter.help or "", _default(parameter)]))
    return nodes.paragraph("", "", nodes.literal("", shown)), nodes.paragraph("", "", *marked(text))


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper()).strip("[]{}<>")


def _default(parameter: Any) -> str:
    """The default, where it says something."""
    value = parameter.default
    if parameter.required:
        return "Required."
    if value in (None, False, "", ()) or callable(value) or not parameter.show_default:
        return ""
    return f"Default: `{getattr(value, 'value', value)}`."


def _grid(rows: list[tuple[nodes.paragraph, nodes.paragraph]]) -> nodes.table:
    group = nodes.tgroup("", nodes.colspec(colwidth=30), nodes.colspec(colwidth=70), cols=2)
    entries = (nodes.row("", *(nodes.entry("", cell) for cell in row)) for row in rows)
    group += nodes.tbody("", *entries)
    return nodes.table("", group, classes=["command-reference"])


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
