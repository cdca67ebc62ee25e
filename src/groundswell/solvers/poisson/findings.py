"""The results of a run that are a few numbers, for the terminal, the report and `summary.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groundswell.case.quantities import Quantity

SOLUTION, FLOWS = "The solution", "What flows in through sides (the integral of k du/dn)"
LABELS = {"largest": "largest u", "smallest": "smallest u", "mean": "mean u"}
STILL = 1e-9  # of the largest flow: smaller ones are rounding errors, or what iterations left


def findings_of(summary: Mapping[str, Any]) -> Iterator[Quantity]:
    """Yield the range of u and its mean, the iterations, errors, and flows through sides.

    Args:
        summary: the content of `solution.json`.
    """
    for key, label in LABELS.items():
        yield Quantity(key, summary[key], label, text=f"{summary[key]:.6g}", group=SOLUTION)
    count = summary["iterations"]
    yield Quantity("iterations", count, "iterations", text=f"{count:,}", group=SOLUTION)
    if "error_max" in summary:
        error = summary["error_max"]
        yield Quantity("error_max", error, "largest error", text=f"{error:.2g}", group=SOLUTION)
    flows = summary.get("flows", {})
    largest = max(map(abs, flows.values()), default=0.0)
    for name, flow in flows.items():
        text = f"{flow:.6g}" if abs(flow) > STILL * largest else "0"
        yield Quantity(f"flow_{name}", flow, f"flow in, {name}", text=text, group=FLOWS)
