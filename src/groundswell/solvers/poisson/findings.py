"""The results of a run that are a few numbers, for the terminal, the report and `summary.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groundswell.case.quantities import Quantity

SOLUTION, FLOWS = "The solution", "What flows in through sides (the integral of k du/dn)"
FLOWS_AT_END = "What flows in through sides at the end (the integral of k du/dn)"
TOTALS = "What has flowed in since time 0"
LABELS = {"largest": "largest u", "smallest": "smallest u", "mean": "mean u"}
STILL = 1e-9  # of the largest flow: smaller ones are rounding errors, or what iterations left


def findings_of(summary: Mapping[str, Any]) -> Iterator[Quantity]:
    """Yield the range of u and its mean, the iterations, errors, and flows through sides.

    In time, the flows are those at the end, and what has flowed in and what is stored follow.

    Args:
        summary: the content of `solution.json`.
    """
    unit = summary.get("unit", "")
    for key, label in LABELS.items():
        text = f"{summary[key]:.6g} {unit}".rstrip()
        yield Quantity(key, summary[key], label, unit, text, SOLUTION)
    count = summary["iterations"]
    yield Quantity("iterations", count, "iterations", text=f"{count:,}", group=SOLUTION)
    if "error_max" in summary:
        error = summary["error_max"]
        text = f"{error:.2g} {unit}".rstrip()
        yield Quantity("error_max", error, "largest error", unit, text, SOLUTION)
    flows = {(f"flow_{name}", f"flow in, {name}"): flow for name, flow in summary["flows"].items()}
    yield from _amounts(flows, FLOWS_AT_END if "heat_in" in summary else FLOWS)
    if "heat_in" in summary:
        yield from _amounts(dict(_totals(summary)), TOTALS)


def _totals(summary: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield what has flowed in and what is stored, by key and label."""
    for name, heat in summary["heat_in"].items():
        yield (f"heat_{name}", f"flowed in, {name}"), heat
    source = summary["heat_from_source"]
    yield ("heat_from_source", "flowed in, source" if source else ""), source
    yield ("heat_stored", "stored since time 0"), summary["heat_stored"]


def _amounts(amounts: Mapping[tuple[str, str], float], group: str) -> Iterator[Quantity]:
    """Yield amounts of the same unit, 0 if they are negligible beside the largest."""
    largest = max(map(abs, amounts.values()), default=0.0)
    for (key, label), amount in amounts.items():
        text = f"{amount:.6g}" if abs(amount) > STILL * largest else "0"
        yield Quantity(key, amount, label, text=text, group=group)
