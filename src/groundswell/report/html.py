"""The report of a run: one HTML page with everything in it, made from the results folder."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator, Mapping
from html import escape
from math import isfinite
from pathlib import Path
from string import Template
from typing import Any

from groundswell.errors import InputError
from groundswell.formats.atomic import atomic_write
from groundswell.report.pictures import draw_pictures, pictures_of

_PAGE = Path(__file__).with_name("page.html")


def write_report(results: str | Path) -> Path:
    """Write `report.html`: what ran, how fast, its pictures and files, on one self-contained page.

    Pictures are drawn afresh from the data files that are there. Whatever `summary.json` lacks is
    left out of the page.

    Args:
        results: folder of a run with `summary.json`.

    Raises:
        InputError: the folder has no readable `summary.json`, or a data file is damaged.
        RunFailed: the disk is full.
    """
    results = Path(results)
    summary = _read_summary(results / "summary.json")
    draw_pictures(results)
    title = str(summary.get("title") or results.absolute().name)
    sections = (
        _tiles(summary),
        _section("Warnings", _sentences(_warnings(summary))),
        _pictures(results, str(summary.get("solver"))),
        _section("Wall time", _bars(_mapping(summary.get("wall")))),
        _section("Case", _table(_without(summary.get("case"), "warnings"))),
        _section("Files", _files(results, summary.get("files"))),
        _section("Versions", _table(summary.get("versions"))),
    )
    page = Template(_PAGE.read_text(encoding="utf-8")).substitute(
        title=escape(title), subtitle=_subtitle(summary), body="\n".join(filter(None, sections))
    )
    path = results / "report.html"
    with atomic_write(path) as part:
        part.write_text(page, encoding="utf-8")
    return path


def _read_summary(path: Path) -> Mapping[str, Any]:
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist; give the results folder of a run") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as JSON ({error}); run the case again") from error
    if not isinstance(summary, dict):
        raise InputError(f"{path} holds no JSON object; run the case again")
    return summary


def _subtitle(summary: Mapping[str, Any]) -> str:
    parts = (summary.get(key) for key in ("solver", "device", "started"))
    return " · ".join(escape(_text(part)) for part in parts if part)


def _tiles(summary: Mapping[str, Any]) -> str:
    """The figures that matter most, large."""
    tiles = "".join(
        f'<div class="tile"><strong>{escape(value)}</strong><span>{escape(name)}</span></div>'
        for value, name in _figures(summary)
    )
    return f'<div class="tiles">{tiles}</div>' if tiles else ""


def _figures(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Pairs of a figure and what it is, for those the summary has."""
    throughput = _mapping(summary.get("throughput"))
    if (value := _number(throughput.get("value"))) is not None:
        yield _rounded(value), str(throughput.get("unit", "throughput"))
    bandwidth = _mapping(summary.get("bandwidth"))
    if (share := _number(bandwidth.get("share"))) is not None:
        measured = _number(bandwidth.get("measured"))
        of = f" of {measured / 1e9:,.0f} GB/s measured" if measured else ""
        yield f"{100 * share:.0f} %", f"of the memory bandwidth{of}"
    if (nbytes := _number(summary.get("bytes_per_update"))) is not None:
        yield f"{nbytes:.0f} B", "moved for each update"
    seconds = [_number(v) for v in _mapping(summary.get("wall")).values()]
    if total := sum(s for s in seconds if s is not None):
        yield _duration(total), "wall time"


def _pictures(results: Path, solver: str) -> str:
    figures = [
        f'<figure><img src="data:image/png;base64,{_base64(results / each.file)}" '
        f'alt="{escape(each.caption)}"><figcaption>{escape(each.caption)}</figcaption></figure>'
        for each in pictures_of(solver)
        if (results / each.file).exists()
    ]
    return "\n".join(figures)


def _section(heading: str, content: str) -> str:
    return f"<section><h2>{heading}</h2>{content}</section>" if content else ""


def _bars(seconds: Mapping[str, Any]) -> str:
    """One bar a phase, the longest filling the width."""
    values = {name: v for name, value in seconds.items() if (v := _number(value)) is not None}
    longest = max(values.values(), default=0.0) or 1.0
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{_duration(value)}</td>"
        f'<td class="bar"><div style="width:{100 * max(value, 0) / longest:.1f}%"></div></td></tr>'
        for name, value in values.items()
    )
    return f"<table>{rows}</table>" if rows else ""


def _table(value: Any) -> str:
    rows = "".join(
        f"<tr><th>{escape(key)}</th><td>{escape(text)}</td></tr>" for key, text in _leaves(value)
    )
    return f"<table>{rows}</table>" if rows else ""


def _warnings(summary: Mapping[str, Any]) -> list[Any]:
    """Of the case, and of what came of it."""
    found = (_mapping(summary.get("case")).get("warnings"), summary.get("warnings"))
    return [text for some in found if isinstance(some, list) for text in some]


def _sentences(values: Any) -> str:
    found = values if isinstance(values, list) else []
    return "".join(f"<p>{escape(_text(value))}</p>" for value in found)


def _without(value: Any, key: str) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: inner for name, inner in value.items() if name != key}


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every value of nested mappings with its path of keys."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{key} {name}".strip())
    elif value is not None:
        yield key, _text(value)


def _files(results: Path, listed: Any) -> str:
    """Links to the listed files that are there, with their sizes."""
    names = [_file_name(entry) for entry in listed] if isinstance(listed, list) else []
    found = [name for name in names if name and (results / name).is_file()]
    rows = "".join(
        f'<tr><th><a href="{escape(name)}">{escape(name)}</a></th>'
        f"<td>{_size((results / name).stat().st_size)}</td></tr>"
        for name in found
    )
    return f"<table>{rows}</table>" if rows else ""


def _file_name(entry: Any) -> str:
    name = entry.get("name") or entry.get("path") if isinstance(entry, Mapping) else entry
    return os.fspath(name) if isinstance(name, str) else ""


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {text}" for key, text in _leaves(value))
    if isinstance(value, list):
        return ", ".join(_text(v) for v in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _duration(seconds: float) -> str:
    if seconds < 60 or not isfinite(seconds):
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _size(nbytes: int) -> str:
    unit, factor = next((u, f) for u, f in _SIZES if nbytes >= f or f == 1)
    return f"{nbytes / factor:.3g} {unit}"


_SIZES = (("GB", 10**9), ("MB", 10**6), ("kB", 10**3), ("B", 1))


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode("ascii")
