"""Equations from the arguments of a problem's solutions: sources, and values of sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from groundswell.solvers.poisson import validation as arguments
from groundswell.solvers.poisson.components import (
    Split,
    Tables,
    pick,
    require_count,
    sides_of,
    split_sides,
    split_source,
)
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.validation import ElementCounts, FunctionLike


@dataclass(frozen=True, eq=False)
class GivenEquations:
    """The equation of a problem, and what may change from solution to solution.

    Args:
        equation: without boundary conditions.
        boundaries: boundary conditions by the name of a side.
        tags: boundary tags by the name of a side.
        counts: numbers of elements, and the degree.
    """

    equation: Equation
    boundaries: Tables
    tags: Mapping[str, int]
    counts: ElementCounts

    def tables(self, values: Mapping[str, Any] | None) -> Tables:
        """The boundary conditions with other values of some sides."""
        return arguments.replace_values(self.boundaries, values or {})

    def of(self, source: Any, tables: Tables, others: Mapping[str, Split]) -> Any:
        """The equation, or a list of those of all components.

        Args:
            others: what each component has of other arguments, by name.
        """
        sources = split_source(source, self.counts.of_mesh)
        count = require_count({"source": sources, **others, **split_sides(tables)})
        if count is None:
            return self.of_one(source, tables)
        each = [(pick(source, sources, c), sides_of(tables, c)) for c in range(count)]
        return [self.of_one(*of_component) for of_component in each]

    def of_one(self, source: FunctionLike | ArrayLike, tables: Tables) -> Equation:
        """The equation of one component."""
        f = arguments.given_field(source, "source", self.counts)
        return replace(self.with_sides(tables), source=f)

    def with_sides(self, tables: Tables) -> Equation:
        """The equation with these boundary conditions of one component."""
        fixed, fluxes = (
            arguments.functions_by_tag(kind, tables, self.tags) for kind in ("fixed", "flux")
        )
        robin = arguments.robin_by_tag(tables, self.tags)
        names = arguments.names_by_tag(self.tags)
        return replace(self.equation, fixed=fixed, fluxes=fluxes, robin=robin, names=names)
