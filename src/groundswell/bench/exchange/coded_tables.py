"""Measurements of shared values as tables in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from groundswell.bench.tables import print_table, size_of, table_of, time_of

Row = Mapping[str, Any]


def show_assembly(measured: Mapping[str, Any]) -> None:
    """What the local part moves, and what the remote part takes by transport and route."""
    for row in measured["local"][:1]:
        table = table_of(
            f"Values that ranks share, degree 7, {row['values'] / 1e6:.3g} million values a rank, "
            f"set up in {row['setup']:.3g} s",
            *("operation", "local part", "of bandwidth", "remote part", "both at once"),
        )
        for entry in measured["local"]:
            times = [time_of(entry[name]) for name in ("seconds", "remote", "whole")]
            table.add_row(entry["kind"], times[0], f"{100 * entry['share']:.0f} %", *times[1:])
        print_table(table)
    table = table_of(
        "Routes of a gather-scatter on few elements: what needs other ranks",
        *("transport", "route", "sent", "remote part"),
    )
    for row in sorted(measured["routes"], key=lambda row: row["remote"]):
        sent, remote = size_of(row["bytes"]), time_of(row["remote"])
        table.add_row(row["transport"], row["route"], sent, remote)
    print_table(table)
    _show_crowd(measured["crowd"])


def _show_crowd(rows: Sequence[Row]) -> None:
    """Routes beside each other, by what a message costs."""
    table = table_of(
        "Routes where each rank shares a value with every other, over a described network",
        *("a message costs", "pairwise", "crystal", "the crystal router is"),
    )
    for gap in dict.fromkeys(row["gap"] for row in rows):
        straight, crystal = (
            next(row["remote"] for row in rows if (row["gap"], row["route"]) == (gap, route))
            for route in ("pairwise", "crystal")
        )
        verdict = f"{straight / crystal:.2f}x as fast"
        table.add_row(time_of(gap), time_of(straight), time_of(crystal), verdict)
    print_table(table)
