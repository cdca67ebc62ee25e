"""Measurements of shared values, of codecs and of slower links as tables in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from groundswell.cli.plain import print_table, size_of, table_of, time_of

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


def show_slow(measured: Mapping[str, Any]) -> None:
    """How much codecs shorten ghosts of an earthquake, and what that does to its steps."""
    table = table_of(
        "Codecs on ghosts of an earthquake, packed and coded at once",
        *("step", "codec", "shorter", "coded", "decoded"),
    )
    for row in measured["ratios"]:
        rates = [f"{row[name] / 1e9:.3g} GB/s" for name in ("encode", "decode")]
        table.add_row(str(row["step"]), row["codec"], f"{row['ratio']:.3g}x", *rates)
    print_table(table)
    steps = dict.fromkeys(row["step"] for row in measured["fields"])
    table = table_of("How much shorter mpc makes them, by field", *map(str, ["step", *steps]))
    for name in dict.fromkeys(row["field"] for row in measured["fields"]):
        found = [row["ratio"] for row in measured["fields"] if row["field"] == name]
        table.add_row(name, *(f"{ratio:.3g}x" for ratio in found))
    print_table(table)
    table = table_of(
        "Its step over slower links (a code pays if 1 - 1/r > B (1/Tc + 1/Td))",
        *("link of a rank", "codec", "step", "faster than without", "the rule says", "tuner"),
    )
    plain = {row["link"]: row["seconds"] for row in measured["links"] if row["codec"] == "none"}
    for row in measured["links"]:
        link = f"{row['link'] / 1e9:.3g} GB/s" if row["link"] else "the machine's"
        says = {True: "pays", False: "does not pay", None: ""}[row["pays"]]
        before = plain.get(row["link"])
        gain = f"{100 * (before / row['seconds'] - 1):+.0f} %" if before else ""
        chosen = "takes it" * row["chosen"]
        table.add_row(link, row["codec"], time_of(row["seconds"]), gain, says, chosen)
    print_table(table)
