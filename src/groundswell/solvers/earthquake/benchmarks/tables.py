"""Throughput of an earthquake as tables in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from groundswell.bench.tables import print_table, say, table_of, time_of
from groundswell.case.quantities import byte_size
from groundswell.grids.cartesian import format_extent


def show(measured: Mapping[str, Any]) -> None:
    """Throughput of every variant and published figures; of several ranks, slower links."""
    if "slow" in measured:
        _show_slow_links(measured["slow"])
        return
    unit = measured["unit"]
    say(f"{measured['device']}, {byte_size(measured['bandwidth'])}/s")
    print_table(_variants(measured, unit))
    published = table_of(f"Published, {unit}", "device", unit)
    for name, value in measured["published"].items():
        published.add_row(name, f"{value:,.0f}")
    print_table(published)


def _variants(measured: Mapping[str, Any], unit: str) -> Table:
    table = table_of("One device", "", "cells", unit, "ms a step", "of bandwidth")
    for row in measured["rows"]:
        table.add_row(
            row["name"],
            format_extent(row["cells"]),
            f"{row[unit]:,.4g}",
            f"{row['milliseconds']:.4g}",
            ", ".join([_percent(row["share"]), *_kernel_shares(row)]),
        )
    return table


def _kernel_shares(row: Mapping[str, Any]) -> list[str]:
    return [f"{name} {_percent(found['share'])}" for name, found in row["kernels"].items()]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _show_slow_links(measured: Mapping[str, Any]) -> None:
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
