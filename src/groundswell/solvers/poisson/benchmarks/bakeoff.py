"""CEED's bake-off problems: rates of conjugate gradients by degree and size.

The problems of the Center for Efficient Exascale Discretizations are solved by conjugate gradients
without a preconditioner (Fischer et al. 2020, Int. J. High Perform. Comput. Appl. 34). As there, a
summary shows the largest rate, and the size n_0.8 at which it reaches 80 % of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from groundswell.backends import Backend, Launch
from groundswell.bench import Session
from groundswell.bench.tables import Column, Measured, Row, Table, field
from groundswell.solvers.poisson.benchmarks.columns import (
    BYTES,
    DEGREE,
    DOFS,
    ELEMENTS,
    ITERATION,
    METRIC,
    OF_BANDWIDTH,
    RATE,
    RESIDUAL,
    WHERE,
    count,
)
from groundswell.solvers.poisson.benchmarks.problems import Cubes, kinds
from groundswell.solvers.poisson.benchmarks.published import NEKRS_BP5
from groundswell.solvers.poisson.benchmarks.speed import operator_on, time_iterations
from groundswell.solvers.poisson.fused_cg import ElementProduct, FusedConjugateGradients
from groundswell.solvers.poisson.roofline import MemoryTraffic

MOST_ELEMENTS = 1_000_000  # of a rank: more take long to number
OF_PEAK = 0.8
KEYS = [f"bp{n}" for n in range(1, 7)]  # of the tables of all problems, also of those in a clone


@dataclass(frozen=True)
class Sweep:
    """Degrees and sizes.

    Args:
        degrees: polynomial degrees.
        dofs: approximate degrees of freedom of each rank and component.
        iterations: of each problem.
    """

    degrees: tuple[int, ...]
    dofs: tuple[float, ...]
    iterations: int = 100

    def edges(self, degree: int) -> list[int]:
        """Elements along an edge of each rank's cube, rising."""
        found = (max(1, round(dofs ** (1 / 3) / degree)) for dofs in sorted(self.dofs))
        return [edge for edge in dict.fromkeys(found) if edge**3 <= MOST_ELEMENTS]

    def restrict(self, degrees: Sequence[int], most_dofs: float) -> Sweep:
        """The same for other degrees, if any are given, up to a size."""
        within = tuple(dofs for dofs in self.dofs if dofs <= most_dofs)
        return replace(
            self, degrees=tuple(degrees) if self.degrees and degrees else self.degrees, dofs=within
        )


NO_SWEEP = Sweep((), ())


@dataclass(frozen=True)
class BakeoffProblem:
    """A bake-off problem.

    Args:
        name: such as "BP5".
        title: the operator and the quadrature.
        components: of the vectors.
        is_fixed: whether u = 0 on all sides.
        metrics: kinds of stored or computed factors that a backend compares.
        operator: makes the operator of some metric.
        traffic: of all ranks for some metric.
    """

    name: str
    title: str
    components: int
    is_fixed: bool
    metrics: Callable[[Backend], list[str]]
    operator: Callable[[Backend, Cubes, str], ElementProduct]
    traffic: Callable[[Cubes, str], MemoryTraffic]

    @property
    def key(self) -> str:
        """Name of its table."""
        return self.name.lower()

    def on(self, every: Cubes) -> Cubes:
        """The problem on cubes."""
        return replace(every, screening=0.0, components=self.components)


def nodal_problem(name: str, components: int, kind: str) -> BakeoffProblem:
    """A problem with the solver's own operator, which integrates at the nodes."""
    return BakeoffProblem(
        name,
        f"Laplacian of {kind}, GLL quadrature at the nodes, u = 0 on all sides",
        components,
        is_fixed=True,
        metrics=kinds,
        operator=operator_on,
        traffic=Cubes.traffic,
    )


PROBLEMS = [nodal_problem("BP5", 1, "a scalar"), nodal_problem("BP6", 3, "a 3-vector")]

# --- measurements ---------------------------------------------------------------------------------


def shared_cubes(session: Session, degree: int, edge: int) -> Cubes:
    """The cubes of a size, which all problems use: numbering nodes takes long."""
    key = "cubes", degree, edge
    if key not in session.kept:
        session.kept[key] = Cubes.on(session.backend, session.comm, degree, edge)
    cubes: Cubes = session.kept[key]
    return cubes


def measure_problem(session: Session, problem: BakeoffProblem) -> Iterator[Row]:
    """Rates of a problem by degree, size and metric."""
    sweep = session.sizes.bakeoff
    start_compiling(session, problem)
    for degree in sweep.degrees:
        session.bandwidth()
        for edge in sweep.edges(degree):
            every = shared_cubes(session, degree, edge)
            for metric in problem.metrics(session.backend):
                yield _iterated(session, problem, every, metric)


def start_compiling(session: Session, problem: BakeoffProblem) -> None:
    """Start to compile the operators of all degrees at once; the first measurement waits."""
    sweep, backend = session.sizes.bakeoff, session.backend
    for degree in sweep.degrees:
        for edge in sweep.edges(degree)[:1]:
            cubes = problem.on(shared_cubes(session, degree, edge))
            for metric in problem.metrics(backend):
                list_launches(backend, cubes, problem.operator(backend, cubes, metric))


def list_launches(backend: Backend, cubes: Cubes, operator: ElementProduct) -> list[Launch]:
    """The operator's launches on arrays of their own, whose kernels are compiled meanwhile."""
    everyone, space = np.arange(len(cubes.space.elements)), cubes.space
    shape = (cubes.components,) if cubes.components > 1 else ()
    x, y = (backend.zeros((*shape, count), "f8") for count in (space.size, space.dofs.size))
    energies = backend.zeros((operator.blocks(everyone),), "f8")
    return operator.launches(everyone, x, y, energies)


def make_solver(
    session: Session, problem: BakeoffProblem, every: Cubes, metric: str
) -> FusedConjugateGradients:
    """Conjugate gradients for a problem."""
    cubes, backend = problem.on(every), session.backend
    return FusedConjugateGradients(
        backend,
        problem.operator(backend, cubes, metric),
        every.inside if problem.is_fixed else None,
        components=problem.components,
        max_iterations=session.sizes.bakeoff.iterations,
    )


def _iterated(session: Session, problem: BakeoffProblem, every: Cubes, metric: str) -> Row:
    cubes, ranks = problem.on(every), every.comm.size
    load = every.load * every.inside if problem.is_fixed else every.load
    solver = make_solver(session, problem, every, metric)
    seconds, residual = time_iterations(session.backend, solver, load, every.comm)
    moved = problem.traffic(cubes, metric).iteration
    return {
        "problem": problem.name,
        **cubes.sizes,
        "metric": metric,
        "seconds": seconds,
        "throughput": cubes.dofs / ranks / seconds,
        "bytes_per_dof": moved / cubes.dofs,
        "share": moved / seconds / session.measured["bandwidth"],
        "residual": residual,
    }


def _nekrs(measured: Measured) -> Iterator[Row]:
    for machine, rate in NEKRS_BP5.items():
        row = {"where": f"nekRS, {machine}", "degree": 7, "metric": "stored"}
        yield row | {"elements": 8000, "throughput": rate}


def table_of(problem: BakeoffProblem) -> Table:
    """The table of a problem."""
    return Table(
        problem.key,
        f"CEED's bake-off problem {problem.name}: {problem.title}",
        [
            WHERE,
            DEGREE,
            ELEMENTS,
            DOFS,
            METRIC,
            ITERATION,
            RATE,
            BYTES,
            OF_BANDWIDTH,
            RESIDUAL,
        ],
        lambda session: measure_problem(session, problem),
        others=_nekrs if problem.name == "BP5" else lambda measured: (),
    )


# --- peaks ----------------------------------------------------------------------------------------


def find_peaks(session: Session) -> Iterator[Row]:
    """The largest rate of each problem, degree and metric, and n_0.8."""
    measured = session.measured
    for key in KEYS:
        for kind, rows in groupby(sorted(measured.get(key, ()), key=_kind), _kind):
            yield _peak_of([*rows], dict(zip(("problem", "degree", "metric"), kind, strict=True)))


def _kind(row: Row) -> tuple[Any, ...]:
    return row["problem"], row["degree"], row["metric"]


def _peak_of(rows: list[Row], kind: Row) -> Row:
    rows = sorted(rows, key=lambda row: float(row["dofs"]))
    best = max(rows, key=lambda row: float(row["throughput"]))
    sizes = [row["dofs"] / row["ranks"] for row in rows]
    size, is_bound = size_at(sizes, [row["throughput"] for row in rows], OF_PEAK)
    row = {"peak": best["throughput"], "dofs": best["dofs"], "share": best["share"]}
    return {**kind, **row, "n_80": size, "is_bound": is_bound}


def size_at(sizes: Sequence[float], rates: Sequence[float], share: float) -> tuple[float, bool]:
    """The size at which a rate first reaches a share of the largest one.

    Between sizes, which rise, the rate is interpolated over the logarithm of the size.

    Returns:
        The size, and whether it is only an upper bound, because the first rate is larger.
    """
    wanted = share * max(rates)
    if rates[0] >= wanted:
        return sizes[0], rates[0] > wanted
    points = pairwise(zip(np.log(sizes), rates, strict=True))
    (a, low), (b, high) = next(pair for pair in points if pair[1][1] >= wanted)
    return float(np.exp(a + (wanted - low) / (high - low) * (b - a))), False


def _n_80(row: Row) -> str:
    return "< " * row["is_bound"] + f"{row['n_80']:,.0f}"


BP_PEAKS = Table(
    "bp_peaks",
    "Bake-off problems: the largest rate, and the DOFs of a rank for 80 % of it, n_0.8",
    [
        field("problem"),
        DEGREE,
        METRIC,
        Column("peak, MDOF/s a rank", "peak", "{:,.1f}", unit=1e6),
        count("dofs", "at DOFs"),
        OF_BANDWIDTH,
        Column("n_0.8", _n_80, width=11),
    ],
    find_peaks,
)
