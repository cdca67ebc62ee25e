"""A case whose functions depend on time as a sum of cases that do not, times numbers.

The equation is linear in its source and in the values of its sides. So a source g1(t) h1 + g2(t) h2
has the solution g1(t) u1 + g2(t) u2, and each h is evaluated only once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from groundswell.case.common import Section
from groundswell.case.expressions import depends_on_time
from groundswell.case.separation import ALWAYS, Terms, separate
from groundswell.solvers.poisson.case import VARYING, BoundarySection, PoissonCase, RobinSection

Change = Callable[[str | float], str | float]


def split_case(case: PoissonCase) -> tuple[dict[str, PoissonCase], PoissonCase | None]:
    """The parts of a case in time.

    Returns:
        By functions of time, cases without time, of which each has all fixed sides; and a case with
        what is no sum of products, or None if there is nothing. It lacks sides without a value.
    """
    values = [value for value in _values(case) if depends_on_time(value) or value != 0]
    terms = {value: separate(value) for value in values}
    functions = dict.fromkeys(g for found in terms.values() for g in found or ())
    parts = {g: _changed(case, _part_of(terms, g)) for g in functions or (ALWAYS,)}
    if all(found is not None for found in terms.values()):
        return parts, None
    return parts, _without_zeros(_changed(case, lambda v: v if terms.get(v, {}) is None else 0.0))


def _part_of(terms: Mapping[str | float, Terms | None], g: str) -> Change:
    """The function that replaces a value by its factor of g, 0 without one."""
    return lambda value: (terms.get(value) or {}).get(g, 0.0)


def _values(case: PoissonCase) -> list[str | float]:
    """The values that may depend on time, besides the exact solution."""
    found: list[str | float] = []

    def keep(value: str | float) -> str | float:
        found.append(value)
        return value

    _changed(case, keep)
    return found


def _changed(case: PoissonCase, change: Change) -> PoissonCase:
    """The case with changed source and values of sides."""
    materials = {name: _section(table, change) for name, table in case.material.items()}
    sides = {name: _section(table, change) for name, table in case.boundaries.items()}
    update = {"material": materials, "boundaries": sides}
    return case.model_copy(update=update | {"equation": _section(case.equation, change)})


def _section(section: Section, change: Change) -> Section:
    keys = [
        key for key, value in section if key in VARYING and key != "exact" and value is not None
    ]
    return section.model_copy(update={key: change(getattr(section, key)) for key in keys})


def _without_zeros(case: PoissonCase) -> PoissonCase:
    """The case without sides that have no value; fixed sides count together."""
    changing = {name: side for name, side in case.boundaries.items() if _value(side) != 0}
    has_fixed = any(side.kind == "fixed" for side in changing.values())
    kept = {
        name: side
        for name, side in case.boundaries.items()
        if name in changing or (has_fixed and side.kind == "fixed")
    }
    return case.model_copy(update={"boundaries": kept})


def _value(side: BoundarySection | RobinSection) -> str | float:
    return side.ambient if isinstance(side, RobinSection) else side.value
