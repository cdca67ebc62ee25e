"""The equation of a case: its functions by position at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from groundswell.arrays import Integers
from groundswell.solvers.poisson.case import VARYING, PoissonCase
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.materials import at_time, find_conductivity, find_field
from groundswell.solvers.poisson.step_equation import StepEquation
from groundswell.solvers.poisson.time_scheme import Scheme
from groundswell.solvers.poisson.validation import (
    as_function,
    functions_by_tag,
    names_by_tag,
    robin_by_tag,
)


def find_equation(
    case: PoissonCase, tags: Mapping[str, int], materials: Integers | None, time: float
) -> Equation:
    """The equation of a case, without inertia.

    Args:
        tags: boundary tags of the mesh's sides, by name.
        materials: number of each element's material; None without materials.
        time: at which to evaluate functions of time, s.
    """
    section, given = case.equation, (case.equation, case.material, materials)
    sides = {name: _at_time(side.model_dump(), time) for name, side in case.boundaries.items()}
    usual = as_function(at_time(section.source, time), "source")
    return Equation(
        source=usual if materials is None else find_field("source", *given, time=time),
        screening=find_field("screening", *given),
        fixed=functions_by_tag("fixed", sides, tags),
        fluxes=functions_by_tag("flux", sides, tags),
        mean=section.mean,
        conductivity=find_conductivity(*given),
        robin=robin_by_tag(sides, tags),
        names=names_by_tag(tags),
    )


def with_inertia(equation: Equation, case: PoissonCase, materials: Integers | None) -> StepEquation:
    """The same with the inertia of a step."""
    assert case.time is not None
    given = (case.equation, case.material, materials)
    return StepEquation(
        **{field.name: getattr(equation, field.name) for field in fields(equation)},
        capacity=find_field("capacity", *given, default=1.0),
        initial=find_field("initial", *given),
        rate=Scheme.of(case.time.order).leading / case.time.step,
    )


def _at_time(side: Mapping[str, Any], time: float) -> dict[str, Any]:
    """The table of a side with functions at a time."""
    return {key: at_time(v, time) if key in VARYING else v for key, v in side.items()}
