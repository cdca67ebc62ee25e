"""Findings: results of a run that are a few numbers, for `summary.json`, terminal and report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from groundswell.case.quantities import Quantity, as_values
from groundswell.simulation.solver import Solver


@runtime_checkable
class Finding(Protocol):
    """Capability: results that are a few numbers, such as a magnitude."""

    @property
    def findings(self) -> Sequence[Quantity]:
        """Labelled values, which rank 0 reads after the files at the end have been written."""
        ...


def findings_of(solver: Solver) -> dict[str, object]:
    """The entry `findings` of `summary.json`: values by key, and labelled; empty without any."""
    found = solver.findings if isinstance(solver, Finding) else ()
    if not found:
        return {}
    quantities = [quantity.as_dict() for quantity in found]
    return {"findings": {**as_values(found), "quantities": quantities}}
