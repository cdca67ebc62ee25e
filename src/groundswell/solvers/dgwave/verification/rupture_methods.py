"""Ruptures by discontinuous Galerkin and by split nodes on a staggered grid.

Both solvers run the same problem. That of finite differences is found through the registry, like
the solver of a case file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from groundswell import registry
from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.seismology.problems.ruptures import (
    DEPTH,
    START_OF_TPV5,
    START_OF_TPV27,
    START_OF_TPV104,
    TPV5,
    TPV104,
    Rupture,
)
from groundswell.seismology.reference import tpv3 as reference
from groundswell.simulation.result import Result
from groundswell.simulation.temporary import run_built
from groundswell.verify import Check

if TYPE_CHECKING:
    import xarray

WINDOW = 0.2  # s, of the mean slip rates that are compared
ONSET = 0.05  # m of slip from which on they are; rupture times are compared separately
ENOUGH = 0.99  # of the area that one of both breaks
# s. Then TPV5 reaches its other squares, and later, waves return from the surface.
UNDISTURBED = 2.3


@dataclass(frozen=True)
class Resolution:
    """The meshes of a comparison, and the limits of the differences.

    Args:
        element, degree: edge of elements, m, and their degree.
        cell: edge of cells, m.
        time: root mean square of differences of the rupture time, s.
        rate: that of slip rates at stations over their own.
        start: root mean square of errors of the rupture time of TPV5 until UNDISTURBED, s.
    """

    element: float
    degree: int
    cell: float
    time: float
    rate: float
    start: float

    @property
    def elements(self) -> str:
        """Their size, for names of checks."""
        return f"elements of {self.element:g} m, degree {self.degree}"

    @property
    def cells(self) -> str:
        """Their size, for names of checks."""
        return f"cells of {self.cell:g} m"


# Edges divide those of the nucleation of TPV5, 1.5 km from its middle.
QUICK = Resolution(500.0, 2, 250.0, 0.15, 0.3, 0.12)
ON_CPU = Resolution(500.0, 3, 150.0, 0.06, 0.15, 0.06)
ON_GPU = Resolution(300.0, 4, 50.0, 0.03, 0.05, 0.03)
# Factor of the limit of rupture times: the front of TPV27 is slow, and errors add up on its way.
# Differences are 0.11 s with ON_CPU; with errors of first order, they are 0.05 s with ON_GPU.
SLOW_FRONT = 2.0
# m. Strength falls faster with rate and state: with elements of 300 m, fronts are late by 28 ms.
FINER_ON_GPU = 200.0


def tpv5(backend: Backend, full: bool) -> Iterator[Check]:
    """Slip weakening, with other stress in two more squares; the start unless `full`."""
    problem, mesh = TPV5 if full else START_OF_TPV5, _resolution(backend, full)
    found = _run_both(problem, mesh, backend)
    yield from _compare(problem, mesh, *found)
    for result, size in zip(found, (mesh.elements, mesh.cells), strict=True):
        name = f"TPV5, {size}: RMS of the rupture time until {UNDISTURBED:g} s"
        yield Check.at_most(name, _error_of_start(result.fault), mesh.start, "s")


def tpv104(backend: Backend, full: bool) -> Iterator[Check]:
    """Rate and state with fast velocity weakening; the start unless `full`."""
    problem, mesh = TPV104 if full else START_OF_TPV104, _resolution(backend, full)
    if full and not backend.on_host:
        mesh = replace(mesh, element=FINER_ON_GPU)
    yield from _compare(problem, mesh, *_run_both(problem, mesh, backend))


def tpv27(backend: Backend, full: bool) -> Iterator[Check]:
    """The start of a rupture in rock that yields, if `full`."""
    if full:
        mesh = _resolution(backend, full)
        mesh = replace(mesh, time=SLOW_FRONT * mesh.time)
        yield from _compare(START_OF_TPV27, mesh, *_run_both(START_OF_TPV27, mesh, backend))


def _resolution(backend: Backend, full: bool) -> Resolution:
    if not full:
        return QUICK
    return ON_CPU if backend.on_host else ON_GPU


def _run_both(problem: Rupture, mesh: Resolution, backend: Backend) -> tuple[Result, Result]:
    elements = _run("dgwave", problem, mesh.element, backend, degree=mesh.degree)
    return elements, _run("earthquake", problem, mesh.cell, backend)


def _compare(
    problem: Rupture, mesh: Resolution, elements: Result, cells: Result
) -> Iterator[Check]:
    """Differences of rupture times, the area that has broken, and slip rates at stations."""
    note = f"{mesh.elements}; {mesh.cells}"
    times, both = _rupture_times(elements.fault, cells.fault)
    name = f"{problem.name} by two methods"
    yield Check.at_least(f"{name}: area that both break", both, ENOUGH * _target(problem), "", note)
    yield Check.at_most(f"{name}: RMS of the rupture time", times, mesh.time, "s", note)
    rates = max(_rates(elements.fault_points, cells.fault_points))
    yield Check.at_most(f"{name}: slip rates at stations", rates, mesh.rate, "", note)


def _error_of_start(fault: xarray.Dataset) -> float:
    """RMS of the error while TPV5 is TPV3, of which the solution in a full space is known, s."""
    exact = reference.rupture_time(fault.along_strike.values, fault.down_dip.values - DEPTH)
    own = fault.rupture_time.values
    known = np.isfinite(own) & (np.maximum(exact, own) < UNDISTURBED)
    return float(np.sqrt(np.average((own - exact)[known] ** 2, weights=fault.area.values[known])))


def _target(problem: Rupture) -> float:
    """The part of the broken area that both should break: waves may have broken less of it."""
    return 1.0 if problem.duration > 4 else 0.85


def _run(
    solver: str, problem: Rupture, edge: float, backend: Backend, degree: int | None = None
) -> Result:
    method = {"method": {"degree": degree}} if degree else {}
    given = problem.sections(edge, at_centres=degree is None)
    run = {"precision": "single", "backend": backend.name}
    case = registry.find(solver).load("case")(**given, **method, run=run)
    return run_built(case)


def _rupture_times(elements: xarray.Dataset, cells: xarray.Dataset) -> tuple[float, float]:
    """RMS of the differences where both have broken, s, and this area over that of either."""
    from scipy.interpolate import RegularGridInterpolator  # takes long to import

    axes = [np.unique(cells[name].values.round(6)) for name in ("down_dip", "along_strike")]
    table = cells.rupture_time.values.reshape(*map(len, axes))
    at = [elements[name].values.clip(axis[0], axis[-1]) for name, axis in
          zip(("down_dip", "along_strike"), axes, strict=True)]  # fmt: skip
    other = RegularGridInterpolator(axes, table)(np.column_stack(at))
    own, area = elements.rupture_time.values, elements.area.values
    both, either = np.isfinite(own) & np.isfinite(other), np.isfinite(own) | np.isfinite(other)
    squares = np.sum(((own - other) ** 2 * area)[both]) / area[both].sum()
    return float(np.sqrt(squares)), float(area[both].sum() / area[either].sum())


def _rates(elements: xarray.Dataset, cells: xarray.Dataset) -> Iterator[float]:
    """Yield for each station the differences of mean slip rates in WINDOW over the rates."""
    for n in range(elements.sizes["point"]):
        one, other = (_means(series.isel(point=n)) for series in (elements, cells))
        count = min(len(one), len(other))
        difference = one[:count] - other[:count]
        yield float(np.linalg.norm(difference) / np.linalg.norm(other[:count]))


def _means(point: xarray.Dataset) -> Floats:
    """Mean slip rates along strike in intervals of WINDOW, from the onset of slip on, m/s."""
    time, slip = point.time.values, point.slip_strike.values
    first = int((np.abs(slip) > ONSET).argmax())
    ends = np.arange(time[first], time[-1], WINDOW)
    return np.asarray(np.diff(np.interp(ends, time, slip)) / WINDOW)
