"""What the solver of a set-up says of it: quantities, warnings and costs."""

from __future__ import annotations

from typing import Any

from groundswell.case.quantities import Quantity
from groundswell.simulation.preparation import check_of, cost_of
from groundswell.simulation.solver import Cost, DecompositionSummary


def quantities_of(setup: Any) -> list[Quantity]:
    """The quantities that `groundswell check` prints."""
    return [*check_of(setup).quantities(setup, cost(setup))]


def warnings_of(setup: Any) -> list[str]:
    """The warnings before a run."""
    return [*check_of(setup).warnings(setup)]


def cost(setup: Any) -> Cost:
    """The cost of a run on one rank."""
    return cost_of(setup).estimate(setup)


def decomposed(setup: Any, ranks: int) -> DecompositionSummary:
    """The decomposition for a number of ranks."""
    return cost_of(setup).decompose(setup, ranks)
