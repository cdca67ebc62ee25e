"""Writes a reproduction as one self-contained HTML page, as Markdown and as JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from groundswell.bench.tables import NOTE
from groundswell.case.quantities import byte_size
from groundswell.formats.atomic import atomic_write
from groundswell.report.html import embedded
from groundswell.report.templates import environment
from groundswell.reproduction.comparison import (
    FAILED,
    MEASURED,
    NOT_RUN,
    Comparison,
    Line,
    Run,
    Section,
)
from groundswell.reproduction.comparison import as_dict as section_dict
from groundswell.version import __version__

TITLE = "Published results, reproduced"
NAMES = ("reproduction.html", "reproduction.md", "reproduction.json")
ABOUT = (
    "The tables and figures of the documents that Groundswell's solvers follow, each beside "
    "measurements of Groundswell, with the hardware of both. The benchmarks of the solvers measure "
    "them."
)
SMALL = (
    "Some measurements are of small sizes (--quick): they show that everything runs, not what the "
    "machine is capable of."
)
MACHINE_HEADS = ("machine", "benchmark", "devices", "memory bandwidth", "versions", "measured")


@dataclass(frozen=True)
class Reproduction:
    """Documents beside measurements.

    Args:
        sections: one for each document.
        pictures: by subject, paths of pictures and their captions.
    """

    sections: Sequence[Section]
    pictures: dict[str, list[tuple[Path, str]]] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """How many items are measured, failed and not run."""
        found = Counter(each.status for section in self.sections for each in section.comparisons)
        counts = [f"{found[status]} {status}" for status in (MEASURED, NOT_RUN, FAILED)]
        return f"{found.total()} tables and figures: {', '.join(counts)}"

    @property
    def runs(self) -> list[Run]:
        """All runs."""
        return [run for section in self.sections for run in section.runs]

    @property
    def about(self) -> str:
        """What the page shows."""
        is_small = any(run.measured.get("scale") == "quick" for run in self.runs)
        return f"{ABOUT} {SMALL}" if is_small else ABOUT

    def as_dict(self) -> dict[str, Any]:
        """The reproduction for JSON."""
        about = {"title": TITLE, "summary": self.summary, "about": self.about}
        about |= {"version": __version__}
        return {**about, "documents": [section_dict(section) for section in self.sections]}


def write_pages(found: Reproduction, folder: Path) -> list[Path]:
    """Write the page in all formats.

    Returns:
        Paths of the HTML page, the Markdown and the JSON file.
    """
    html, text, data = NAMES
    contents = {
        html: _render("page.html", found, folder),
        text: _render("page.md", found, folder),
        data: json.dumps(found.as_dict(), indent=2, ensure_ascii=False) + "\n",
    }
    for name, content in contents.items():
        with atomic_write(folder / name) as part:
            part.write_text(content, encoding="utf-8")
    return [folder / name for name in contents]


def inline(text: str) -> Markup:
    """HTML of a text with `code`."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))


def _render(template: str, found: Reproduction, folder: Path) -> str:
    templates = environment(Path(__file__).parent)
    templates.filters["inline"] = inline
    return templates.get_template(template).render(
        title=TITLE,
        summary=found.summary,
        about=found.about,
        sections=found.sections,
        pictures=_pictures(found, folder, is_embedded=template.endswith("html")),
        machine_heads=MACHINE_HEADS,
        machines=[_machine(run) for run in found.runs],
        **{"groups": groups, "head_groups": head_groups},
        **{"heads": heads, "rows": rows, "table": markdown_table},
        above=NOTE,
        version=__version__,
        date=f"{datetime.now(UTC):%d %B %Y}",
    )


def _pictures(
    found: Reproduction, folder: Path, *, is_embedded: bool
) -> dict[str, list[dict[str, str]]]:
    """File, caption and, for HTML, media type and content of the pictures by subject."""
    every: dict[str, list[dict[str, str]]] = {}
    for section in found.sections:
        shown = every.setdefault(section.subject, [])
        for path, caption in found.pictures.get(section.subject, ()):
            picture = {"file": path.relative_to(folder).as_posix(), "caption": caption}
            if is_embedded:
                picture |= dict(zip(("type", "data"), embedded(path), strict=True))
            shown.append(picture)
    return every


def _machine(run: Run) -> tuple[str, ...]:
    measured = run.measured
    rate, versions = measured.get("bandwidth"), measured.get("versions", {})
    return (
        run.name,
        str(measured["subject"]),
        "; ".join(dict.fromkeys(measured["devices"])),
        f"{byte_size(rate)}/s" if rate else "",
        ", ".join(f"{name} {version}" for name, version in versions.items()),
        str(measured.get("date", "")),
    )


# --- cells ----------------------------------------------------------------------------------------


def groups(each: Comparison, line: Line) -> Iterator[Sequence[str]]:
    """The cells of a line by owner; empty where there is no value."""
    for owner in each.owners:
        cells = line.published if owner is None else line.ours.get(owner, ())
        yield [cells[n] if cells else "" for n in each.columns_of(owner)]


def head_groups(each: Comparison, section: Section) -> list[tuple[str, list[str]]]:
    """The owners of values, and the headings of their columns."""
    columns = each.item.columns
    names = {None: "published"} | {n: section.runs[n].name for n in each.runs}
    return [(names[who], [columns[n].head for n in each.columns_of(who)]) for who in each.owners]


def heads(each: Comparison, section: Section) -> list[str]:
    """The headings of all columns, with whose values they are."""
    return ["", *(f"{name}: {h}" for name, found in head_groups(each, section) for h in found)]


def rows(each: Comparison) -> list[list[str]]:
    """The cells of all lines."""
    return [[line.what, *(c for cells in groups(each, line) for c in cells)] for line in each.lines]


def markdown_table(names: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [names, ["---"] * len(names), *cells]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
