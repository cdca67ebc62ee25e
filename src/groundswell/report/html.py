"""The report of a run: one self-contained HTML page, made from the results folder."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from math import ceil, isfinite
from pathlib import Path
from typing import Any

from groundswell.case.quantities import byte_size, duration
from groundswell.errors import counted
from groundswell.formats.atomic import atomic_write, exists
from groundswell.report.pictures import Warn, draw_pictures, pictures_of
from groundswell.report.templates import environment
from groundswell.simulation.summary import (
    describe_bandwidth,
    describe_share,
    phase_of_steps,
    read_summary,
)
from groundswell.version import __version__

Row = tuple[str, str]  # label and value

NAME = "report.html"
FINDINGS_SHOWN, LONGEST_TILE = 6, 24  # on top of the page; characters
TILES_IN_ROW = 4  # at most, on a wide page
_MEDIA = {".png": "image/png", ".gif": "image/gif", ".mp4": "video/mp4"}
_TEMPLATES = environment()


def write_report(results: str | Path, warn: Warn = lambda text: None) -> Path:
    """Write `report.html`: the case, throughput, pictures and files of a run on one page.

    Pictures are drawn again from the data files in the folder. The page omits whatever
    `summary.json` lacks.

    Args:
        results: results folder of a run, with `summary.json`.
        warn: called with the reason why a picture could not be drawn; the page shows it, too.

    Raises:
        InputError: the folder has no readable `summary.json`.
        RunFailed: the disk is full.
    """
    results = Path(results)
    summary = read_summary(results)
    case, problems = _mapping(summary.get("case")), list[str]()
    warnings = [*_list(case.get("warnings")), *_list(summary.get("warnings"))]
    drawn, kernels = draw_pictures(results, problems.append), _mapping(summary.get("kernel_groups"))
    page = _TEMPLATES.get_template("page.html").render(
        title=summary.get("title") or results.absolute().name,
        subtitle=[*subtitle_of(summary)],
        figures=(figures := [*_figures(summary)]),
        columns=columns_of(len(figures)),
        warnings=[*map(_text, warnings), *problems],
        pictures=_pictures(str(summary.get("solver")), drawn),
        groups=_groups(_mapping(summary.get("findings"))) | _groups(case),
        phases=[*_bars(_mapping(summary.get("wall")), duration)],
        kernels=[*_bars(_mapping(kernels.get("shares")), describe_share)],
        timed=_text(kernels.get("timed", "")),
        performance=[(label, text) for text, label in _performance(summary)],
        case=_text(case.get("text", "")),
        files=_by_kind(_files(results, summary.get("files"))),
        versions=[*_leaves(summary.get("versions"))],
        version=__version__,
    )
    path = results / NAME
    with atomic_write(path) as part:
        part.write_text(page, encoding="utf-8")
    for problem in problems:
        warn(problem)
    return path


def subtitle_of(summary: Mapping[str, Any]) -> Iterator[str]:
    """Solver, device and start time."""
    yield from (_text(summary[key]) for key in ("solver", "device") if summary.get(key))
    with suppress(TypeError, ValueError):
        yield f"{datetime.fromisoformat(summary.get('started', '')):%d %B %Y, %H:%M %Z}".strip()


def _figures(summary: Mapping[str, object]) -> Iterator[Row]:
    """Value and label of the figures on top: findings and the time, or else the performance."""
    found = _first_findings(summary)
    yield from found or _performance(summary)
    seconds = [_number(v) for v in _mapping(summary.get("wall")).values()]
    if total := sum(s for s in seconds if s is not None):
        yield duration(total), "wall time"


def columns_of(count: int) -> int:
    """The number of columns in which the rows of tiles are as full as possible."""
    rows = max(1, ceil(count / TILES_IN_ROW))
    return ceil(count / rows)


def _performance(summary: Mapping[str, object]) -> Iterator[Row]:
    """Value and label of throughput, memory traffic and the share of the time steps."""
    throughput = _mapping(summary.get("throughput"))
    if (value := _number(throughput.get("value"))) is not None:
        yield f"{_rounded(value)} {_text(throughput.get('unit', ''))}".strip(), "throughput"
    bandwidth = _mapping(summary.get("bandwidth"))
    needed = ("used",) if bandwidth.get("in_cache") else ("share", "measured", "used")
    shares = {key: _number(bandwidth.get(key)) for key in needed}
    if None not in shares.values():
        yield describe_bandwidth({**bandwidth, **shares})
    if (count := _number(summary.get("bytes_per_update"))) is not None:
        yield f"{count:.0f} B", "memory traffic per update"
    if (share := _number(summary.get("share_of_steps"))) is not None:
        steps = phase_of_steps(_mapping(summary.get("wall")))
        yield f"{100 * share:.0f} %", f"of the wall time: {steps}"


def findings_in(summary: Mapping[str, object]) -> list[Row]:
    """Labels and texts of the results that are a few numbers."""
    return [row for group in _groups(_mapping(summary.get("findings"))).values() for row in group]


def _first_findings(summary: Mapping[str, object]) -> list[Row]:
    """The first findings that are not positions and whose text is short enough for a tile."""
    given = _list(_mapping(summary.get("findings")).get("quantities"))
    numbers = [each for each in given if not isinstance(_mapping(each).get("value"), Mapping)]
    groups = _groups({"quantities": numbers}).values()
    rows = [(text, label) for group in groups for label, text in group]
    return [row for row in rows if len(row[0]) <= LONGEST_TILE][:FINDINGS_SHOWN]


def _pictures(solver: str, drawn: list[Path]) -> list[dict[str, str]]:
    """Name, caption, media type and data (base64) of the pictures and films."""
    captions = {Path(p.file).stem: p.caption for p in pictures_of(solver)} if drawn else {}
    return [
        {"file": path.name, "caption": captions[path.stem], "type": kind, "data": data}
        for path, (kind, data) in zip(drawn, map(embedded, drawn), strict=True)
    ]


def embedded(path: Path) -> tuple[str, str]:
    """The media type of a picture or film, and its content in base64."""
    return _MEDIA[path.suffix], base64.b64encode(path.read_bytes()).decode("ascii")


def _groups(given: Mapping[str, object]) -> dict[str, list[Row]]:
    """Labelled quantities of the results or of the set-up, by heading."""
    groups: dict[str, list[Row]] = {}
    for quantity in map(_mapping, _list(given.get("quantities"))):
        if quantity.get("label"):
            rows = groups.setdefault(_text(quantity.get("group")), [])
            rows.append((_text(quantity["label"]), _text(quantity.get("text"))))
    return groups


def _bars(
    parts: Mapping[str, object], describe: Callable[[float], str]
) -> Iterator[tuple[str, str, str]]:
    """Each part, its value as text, and its fraction of the largest part in per cent."""
    values = {name: v for name, value in parts.items() if (v := _number(value)) is not None}
    largest = max(values.values(), default=0.0) or 1.0
    for name, value in values.items():
        yield name, describe(value), f"{100 * max(value, 0) / largest:.1f}"


def _files(results: Path, listed: object) -> Iterator[tuple[str, int]]:
    """The listed files that exist, except the report itself, and their sizes in bytes."""
    for name in _list(listed):
        if not isinstance(name, str) or name in ("", NAME) or not exists(path := results / name):
            continue
        if path.is_file():
            yield name, path.stat().st_size


def _by_kind(files: Iterable[tuple[str, int]]) -> list[tuple[str, list[Row]]]:
    """A heading for each kind of file, by suffix, and its files with their sizes."""
    kinds: dict[str, list[tuple[str, int]]] = {}
    for name, size in files:
        kinds.setdefault(Path(name).suffix, []).append((name, size))
    return [
        (
            f"{counted(len(of), f'{kind} file' if kind else 'file')}, "
            f"{byte_size(sum(size for _, size in of))}",
            [(name, byte_size(size)) for name, size in of],
        )
        for kind, of in kinds.items()
    ]


def _leaves(value: object, key: str = "") -> Iterator[Row]:
    """All values of nested mappings with their paths of keys."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{key} {name}".replace("_", " ").strip())
    elif value is not None:
        yield key, _text(value)


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {text}" for key, text in _leaves(value))
    if isinstance(value, list):
        return ", ".join(_text(v) for v in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _number(value: Any) -> float | None:
    """A finite number, or None."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    with suppress(OverflowError):  # an integer of hundreds of digits
        return float(value) if is_number and isfinite(value) else None
    return None


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
