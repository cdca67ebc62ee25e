"""Measurements of the exchange as tables in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from statistics import geometric_mean
from typing import Any

from groundswell.bench.exchange.coded_tables import show_assembly
from groundswell.bench.tables import print_table, say, size_of, table_of, time_of

Row = Mapping[str, Any]
Cell = Callable[[Row], str]

PUBLISHED = {"published": "", "+ GPUDirect": " + GPUDirect"}  # columns, and the versions' endings
ENDS = ("Baseline", "V3")


def show(measured: Mapping[str, Any]) -> None:
    """All tables, published figures beside ours, and what was not measured."""
    devices = ", ".join(dict.fromkeys(measured["devices"]))
    say(
        f"{measured['ranks']} ranks, {measured['backend']} backend: {devices}\n"
        "Times are medians of repeats, of the slowest rank each."
    )
    _paths(measured)
    _links(measured)
    _neighbours(measured["neighbours"])
    _fused(measured["fused"])
    _ladder(measured)
    _overlaps(measured)
    _progress(measured["progress"])
    show_assembly(measured["assembly"])
    for note in measured["notes"]:
        say(f"not measured: {note}")
    say(f"measured in {measured['seconds']:.0f} s")


def _paths(measured: Mapping[str, Any]) -> None:
    ways = {row["transport"]: row for row in measured["links"]}
    table = table_of("Transports", "", "way of the bytes", "replayed in a graph")
    for name, row in ways.items():
        table.add_row(name, row["path"], "yes" if row["in_graph"] else "no: the host takes part")
    print_table(table)


# --- links ----------------------------------------------------------------------------------------


def _links(measured: Mapping[str, Any]) -> None:
    published = {
        (way["way"], way["bytes"]): way["seconds"] for way in measured["published"]["links"]
    }
    ways = list(dict.fromkeys(way for way, _ in published))
    for faces, title in (
        (2, "A face to both neighbours of a ring (time, rate of a rank, share of plain copies)"),
        (1, "A face to the next rank only"),
    ):
        rows = [row for row in measured["links"] if row["faces"] == faces]
        _by_transport(title, rows, {"a face": lambda row: size_of(row["bytes"])}, _rate)
    table = table_of(
        "Others: a message to the next of two H200 of one host, measured by us", "message", *ways
    )
    for size in sorted({size for _, size in published}):
        table.add_row(
            size_of(size),
            *(
                f"{time_of(s)}, {size / s / 1e9:.3g} GB/s"
                if (s := published.get((way, size)))
                else ""
                for way in ways
            ),
        )
    print_table(table)


def _rate(row: Row) -> str:
    return f"{time_of(row['seconds'])}, {row['rate'] / 1e9:.3g} GB/s{_of_copies(row)}"


def _of_copies(row: Row) -> str:
    limited = row["share"] is not None and row["transport"] != "copy"
    return f", {100 * row['share']:.0f} %" if limited else ""


def _neighbours(rows: Sequence[Row]) -> None:
    about = ""
    for row in rows[-1:]:
        grid = " x ".join(map(str, row["processes"]))
        about = f"; {grid} ranks: of 26 neighbours {row['own']} are the rank itself, the others "
        about += f"{row['ranks']} different rank" + "s" * (row["ranks"] > 1)
    _by_transport(
        f"A cube a rank, periodic along three axes (time, share of plain copies){about}",
        rows,
        {"a face": lambda row: size_of(row["bytes"]), "to": lambda row: str(row["neighbours"])},
        lambda row: time_of(row["seconds"]) + _of_copies(row),
    )


def _fused(rows: Sequence[Row]) -> None:
    """How much of a step an exchange takes, by who stores the ghosts."""
    table = table_of(
        "Who stores ghosts straight into neighbours: a copying kernel (direct), or the update "
        "itself (fused); what that adds to an update of a cube a rank",
        *("a face", "way", "update and exchange", "added"),
    )
    for row in rows:
        added = time_of(row["exposed"]) if row["exposed"] else ""
        table.add_row(size_of(row["bytes"]), row["way"], time_of(row["seconds"]), added)
    print_table(table)


# --- the cavity's optimisations -------------------------------------------------------------------


def _ladder(measured: Mapping[str, Any]) -> None:
    """Times by version, and the paper's efficiency on two P100."""
    known = measured["published"]["ladder"]
    labels: dict[str, Cell] = {
        "grid (i, j, k)": lambda row: _grid(row["grid"]),
        "version": lambda row: str(row["rung"]),
        "sent": lambda row: size_of(row["sent"]),
    }
    title = (
        "Cavity, 5 fields of 8 bytes, walls: an exchange "
        "(published: efficiency of two P100 in the strong and the weak sense)"
    )
    beside: dict[str, Cell] = {name: partial(_efficiency, known, name) for name in PUBLISHED}
    _by_transport(title, measured["ladder"], labels, lambda row: time_of(row["seconds"]), beside)
    _gains(measured["ladder"], known)


def _efficiency(known: Sequence[Row], name: str, row: Row) -> str:
    wanted = (row["rung"] + PUBLISHED[name], tuple(row["grid"]))
    found = [entry for entry in known if (entry["rung"], tuple(entry["grid"])) == wanted]
    return "".join(f"{row['efficiency']} %, {row['weak_efficiency']} %" for row in found)


def _gains(rows: Sequence[Row], known: Sequence[Row]) -> None:
    """Baseline over V3, ours and the paper's."""
    ours = {(row["transport"], row["rung"], tuple(row["grid"])): row["seconds"] for row in rows}
    lost = {(row["rung"], tuple(row["grid"])): row["lost_seconds"] for row in known}
    names = list(dict.fromkeys(row["transport"] for row in rows))
    table = table_of(
        "Baseline / V3 (published: of the time that a step loses on two P100, derived by us)",
        *("grid (i, j, k)", *names, *PUBLISHED),
    )
    for grid in dict.fromkeys(tuple(row["grid"]) for row in rows):
        table.add_row(
            _grid(grid),
            *(_ratio(*(ours.get((name, rung, grid)) for rung in ENDS)) for name in names),
            *(_ratio(*(lost.get((rung + s, grid)) for rung in ENDS)) for s in PUBLISHED.values()),
        )
    print_table(table)


def _ratio(before: float | None, after: float | None) -> str:
    return f"{before / after:.3g}x" if before and after else ""


# --- k-Wave's overlaps, and progress --------------------------------------------------------------


def _overlaps(measured: Mapping[str, Any]) -> None:
    known = {row["overlap"]: row["speedup"] for row in measured["published"]["overlaps"]}
    labels: dict[str, Cell] = {
        "cut": lambda row: f"{row['cut']}, {' x '.join(map(str, row['processes']))} ranks",
        "overlap": lambda row: str(row["overlap"]),
    }
    rows = measured["overlaps"]
    _by_transport(
        "k-Wave: a cube of 4-byte values a rank, with edges and corners (time, speed-up over mpi; "
        "published: of whole simulations on eight P40)",
        rows,
        labels,
        lambda row: (
            time_of(row["seconds"]) + (f", {row['speedup']:.2f}x" if row["speedup"] else "")
        ),
        {"published": lambda row: _range(known.get(row["overlap"]))},
    )
    for name in dict.fromkeys(row["transport"] for row in rows):
        gains = [row["speedup"] for row in rows if row["transport"] == name and row["speedup"]]
        if gains and name != "mpi":
            say(f"{name}: {geometric_mean(gains):.2f}x as fast as mpi, geometric mean")


def _range(known: Sequence[float | None] | None) -> str:
    if known is None:
        return ""
    least, most = known
    return f"up to {most}x" if least is None else f"{least:g} to {most:g}x"


def _progress(rows: Sequence[Row]) -> None:
    table = table_of(
        "Does a message travel while the host computes? (hidden: part of the shorter of both)",
        *("message", "transport", "exchange", "work", "both", "hidden"),
    )
    for row in rows:
        times = [time_of(row[name]) for name in ("exchange", "work", "both")]
        hidden = f"{100 * row['hidden']:.0f} %"
        table.add_row(size_of(row["bytes"]), row["transport"], *times, hidden)
    print_table(table)


# --- tables in general ----------------------------------------------------------------------------


def _by_transport(
    title: str,
    rows: Sequence[Row],
    labels: Mapping[str, Cell],
    cell: Cell,
    beside: Mapping[str, Cell] | None = None,
) -> None:
    """A line for each label, a column for each transport, and more columns beside these."""
    beside = beside or {}
    names = list(dict.fromkeys(row["transport"] for row in rows))
    lines: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in rows:
        label = tuple(make(row) for make in labels.values())
        lines.setdefault(label, {})[row["transport"]] = row
    table = table_of(title, *labels, *names, *beside)
    for label, found in lines.items():
        cells = [cell(found[name]) if name in found else "" for name in names]
        first = next(iter(found.values()))
        table.add_row(*label, *cells, *(make(first) for make in beside.values()))
    print_table(table)


def _grid(grid: Iterable[int]) -> str:
    return ", ".join(map(str, grid))
