"""What `groundswell check`, the summary and the report print before the solution."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from groundswell.case.quantities import Quantity
from groundswell.errors import quoted
from groundswell.meshes.box import Box
from groundswell.simulation.solver import Cost
from groundswell.solvers.poisson.case import BoxMesh
from groundswell.solvers.poisson.lines import FLAT, MAX_LINES
from groundswell.solvers.poisson.setup import Setup
from groundswell.solvers.poisson.time_scheme import Scheme

ELEMENTS, TIME, EQUATION = "Elements and iteration", "Steps in time", "The equation"
LABELS = {"initial": "initial value"}
LEAST_TOLERANCE = {"double": 1e-15, "single": 1e-6}  # about the rounding of residuals


def quantities(setup: Setup, cost: Cost) -> list[Quantity]:
    """Elements, the iteration, memory; steps in time; the equation and its boundary conditions."""
    return [*_elements(setup, cost), *_steps(setup), *_equation(setup)]


def _elements(setup: Setup, cost: Cost) -> Iterator[Quantity]:
    method, count, tolerance = setup.case.method, setup.mesh.count, setup.case.tolerance
    yield Quantity("mesh", setup.case.mesh.kind, "mesh", text=_mesh(setup), group=ELEMENTS)
    text = f"{count:,} of polynomial degree {setup.degree}"
    yield Quantity("elements", count, "elements", text=text, group=ELEMENTS)
    yield Quantity("degree", setup.degree, group=ELEMENTS)
    yield Quantity("unknowns", setup.unknowns, "unknowns", group=ELEMENTS)
    yield Quantity("precision", setup.case.run.precision, "precision", group=ELEMENTS)
    name = method.preconditioner
    flat = ", in double precision because of flat elements" * setup.has_flat_elements
    text = name + flat
    yield Quantity("preconditioner", name, "preconditioner", text=text, group=ELEMENTS)
    target = f"{tolerance:.1g} times that of u = 0 in the interior"
    text = f"at most {method.iterations:,}, until the residual is {target}"
    yield Quantity("iterations", method.iterations, "iterations", text=text, group=ELEMENTS)
    yield Quantity("tolerance", tolerance, group=ELEMENTS)
    yield cost.memory_quantity(ELEMENTS)


def _steps(setup: Setup) -> Iterator[Quantity]:
    """Steps in time, and how many linear systems they solve."""
    if (time := setup.case.time) is None:
        return
    yield Quantity("dt", time.step, "time step", "s", group=TIME)
    solutions = Scheme.of(time.order).solutions(time.steps)
    text = f"{time.steps:,} of order {time.order}"
    if solutions > time.steps:
        text += f", with {solutions:,} solutions of the linear system"
    yield Quantity("steps", time.steps, "steps", text=text, group=TIME)
    yield Quantity("order", time.order, group=TIME)
    yield Quantity("solutions", solutions, group=TIME)
    yield Quantity("film", setup.case.output.film, group=TIME)


def _mesh(setup: Setup) -> str:
    """The kind of the mesh, or its file and the order of its elements."""
    section = setup.case.mesh
    if isinstance(section, BoxMesh):
        return section.kind
    return f"{section.file.name}, elements of order {setup.mesh.order}"


def warnings(setup: Setup) -> list[str]:
    """Choices that may give poor results."""
    return [*setup.mesh_warnings, *_too_many_lines(setup), *_low_tolerance(setup)]


def _low_tolerance(setup: Setup) -> Iterator[str]:
    precision = setup.case.run.precision
    least = LEAST_TOLERANCE[precision]
    if setup.case.tolerance < least:
        yield (
            f"method.tolerance = {setup.case.tolerance:g} is below the accuracy of {precision} "
            f"precision, about {least:g}: the residual will fall, but u will not improve"
        )


def _too_many_lines(setup: Setup) -> Iterator[str]:
    """Flat elements of a box along which multigrid has no correction, see `lines`."""
    box = setup.mesh
    if not (setup.has_flat_elements and isinstance(box, Box) and box.deform is None):
        return
    spacing = (np.array(box.high) - box.low) / box.counts
    axis = int(spacing.argmin())
    across = [setup.degree * n + (not p) for n, p in zip(box.counts, box.periodic, strict=True)]
    lines = prod(across) // across[axis]
    if lines > MAX_LINES and not {2 * axis + 1, 2 * axis + 2} & {*setup.equation.fixed}:
        yield (
            f"elements are up to {spacing.max() / spacing.min():.3g} times as long as high, and "
            f"multigrid corrects along at most {MAX_LINES:,} lines through such elements, but "
            f"there are {lines:,}; it may take hundreds of iterations: use elements that are at "
            f"most {FLAT:g} times as long as high, fewer elements, or a lower degree"
        )


def _equation(setup: Setup) -> Iterator[Quantity]:
    equation = setup.case.equation
    yield from _coefficients(setup)
    if equation.mean is not None:
        yield Quantity("mean", equation.mean, "mean of u", group=EQUATION)
    kinds = setup.boundary_kinds
    names: dict[str, list[str]] = {}
    for name, kind in kinds.items():
        names.setdefault(kind, []).append(name)
    text = "; ".join(
        f"{kind} on {', '.join(map(_as_name, sides))}" for kind, sides in names.items()
    )
    label = "boundary conditions" if kinds else ""
    yield Quantity("boundaries", kinds, label, text=text, group=EQUATION)


def _coefficients(setup: Setup) -> Iterator[Quantity]:
    """k and c, of each material if there are several."""
    units = {"conductivity": ("", "", 1.0), "screening": ("1/m^2", " per m^2", 0.0)}
    if setup.case.time is not None:
        units |= {"capacity": ("", "", 1.0), "initial": ("", "", 0.0)}
    for name, (unit, after, default) in units.items():
        usual = getattr(setup.case.equation, name)
        usual = default if usual is None else usual
        given = {key: getattr(each, name) for key, each in setup.case.material.items()}
        found = {key: usual if value is None else value for key, value in given.items()}
        texts = [f"{_as_text(value)}{after} in {_as_name(key)}" for key, value in found.items()]
        text = "; ".join(texts) or _as_text(usual) + after
        is_default = all(value == default for value in (*found.values(), usual))
        label = "" if is_default else LABELS.get(name, name)
        yield Quantity(name, found or usual, label, unit, text, EQUATION)


def _as_text(value: str | float | tuple[str | float, ...]) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_as_text, value))})"
    return value if isinstance(value, str) else f"{value:g}"


def _as_name(side: str) -> str:
    """The name of a side, in quotes if it would not read as a name: a mesh may have a side 1."""
    return side if side[:1].isalpha() else quoted(side)
