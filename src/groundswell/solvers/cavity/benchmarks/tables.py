"""Measurements of the cavity as tables in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.table import Table

from groundswell.bench.tables import print_table, say, table_of
from groundswell.grids.cartesian import format_extent

Row = Mapping[str, Any]
VERSIONS = {"baseline": "Baseline", "v3": "V3", "ours": "ours"}
GPUDIRECT = ("direct", "peer")  # what the paper's "GPUDirect" is here


def show(measured: Mapping[str, Any]) -> None:
    """All tables, published figures beside ours, and what was not measured."""
    devices = ", ".join(dict.fromkeys(measured["devices"]))
    say(
        f"{measured['ranks']} rank{'s' * (measured['ranks'] > 1)}, {measured['backend']} backend: "
        f"{devices}\nssspnt: ten million points updated a second; those of several ranks together."
    )
    for part, shown in PARTS.items():
        if measured.get(part):
            print_table(shown(measured, part))
    for note in measured["notes"]:
        say(f"not measured: {note}")
    say(f"measured in {measured['seconds']:.0f} s")


def _sizes(measured: Mapping[str, Any], part: str) -> Table:
    table = table_of("One device", "points", "", "ms a step", "ssspnt", "of bandwidth")
    for row in measured[part]:
        share, ms = f"{100 * row['share']:.0f} %", f"{1e3 * row['seconds']:.4g}"
        table.add_row(
            format_extent(row["cells"]), row["precision"], ms, f"{row['ssspnt']:,.1f}", share
        )
    one = f"{measured['published']['one']}"
    table.add_row("256 x 256 x 256", "P100, Xue & Roy 2020", "", one, "")
    return table


def _steady(measured: Mapping[str, Any], part: str) -> Table:
    rows = measured[part]
    extent = format_extent(rows[0]["cells"])
    title = f"From rest to residuals of {rows[0]['tolerance']:.0e} on {extent} points"
    table = table_of(title, "", "steps", "sweeps", "s", "times faster", "Nu")
    for row in rows:
        gain = rows[0]["seconds"] / row["seconds"]
        table.add_row(
            row["way"],
            f"{row['steps']:,}",
            f"{row['sweeps']:,.0f}",
            f"{row['seconds']:.3g}",
            f"{gain:.3g}",
            f"{row['nusselt']:.5f}",
        )
    return table


def _scaling(title: str) -> Callable[[Mapping[str, Any], str], Table]:
    def table(measured: Mapping[str, Any], part: str) -> Table:
        published = {
            (row["version"], tuple(row["processes"])): row
            for row in measured["published"].get(part, [])
        }
        found = table_of(title, *HEADS, *(["two P100", "efficiency"] if published else []))
        for row in measured[part]:
            found.add_row(*_row(row), *(_beside(row, published) if published else []))
        return found

    return table


HEADS = ("version", "i x j x k", "points", "transport", "ms a step", "ssspnt", "efficiency")


def _row(row: Row) -> Sequence[str]:
    return (
        VERSIONS[row["version"]],
        format_extent(row["processes"]) if row["processes"] else "",
        format_extent(row["cells"]),
        row["path"],
        f"{1e3 * row['seconds']:.4g}",
        f"{row['ssspnt']:,.1f}",
        f"{row['efficiency']:.1f} %",
    )


def _beside(row: Row, published: Mapping[Any, Row]) -> Sequence[str]:
    """What the paper has for two GPUs that are cut and connected alike."""
    name = VERSIONS[row["version"]] + " + GPUDirect" * (row["transport"] in GPUDIRECT)
    known = published.get((name, tuple(row["processes"] or ())))
    return (f"{known['ssspnt']}", f"{known['efficiency']} %") if known else ("", "")


PARTS: dict[str, Callable[[Mapping[str, Any], str], Table]] = {
    "sizes": _sizes,
    "steady": _steady,
    "strong": _scaling("A cavity shared by all ranks (Xue & Roy, table 3: 256 x 256 x 256)"),
    "weak": _scaling("A cavity on each rank (Xue & Roy, tables 2 and 4)"),
    "growth": _scaling("Grids that grow along k, j and i, however they are cut (table 1)"),
}
