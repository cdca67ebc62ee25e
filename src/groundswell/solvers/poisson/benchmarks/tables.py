"""Tables of the Poisson benchmark, with published figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from groundswell.bench import Session
from groundswell.bench.tables import Column, Measured, Row, Table, field, fraction, time_of
from groundswell.solvers.poisson.benchmarks.bakeoff import BP_PEAKS, PROBLEMS, table_of
from groundswell.solvers.poisson.benchmarks.columns import (
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
from groundswell.solvers.poisson.benchmarks.problems import METRICS
from groundswell.solvers.poisson.benchmarks.published import (
    HIPBONE_ON_H200,
    NEKRS_BPS5,
    OPERATOR_DEGREE,
    PEAKS,
)
from groundswell.solvers.poisson.benchmarks.published import (
    OPERATOR as PUBLISHED_OPERATOR,
)
from groundswell.solvers.poisson.benchmarks.solves import measure_solves
from groundswell.solvers.poisson.benchmarks.speed import (
    measure_iterations,
    measure_operator,
    measure_weak,
)


def _gflops(key: str, head: str) -> Column:
    return Column(head, key, "{:,.1f}", 8)


# --- the operator ---------------------------------------------------------------------------------


def _published_operator(measured: Measured) -> Iterator[Row]:
    for machine, gflops in PUBLISHED_OPERATOR.items():
        row = {"degree": OPERATOR_DEGREE, "metric": "stored", "gflops": gflops}
        yield {"machine": f"hipBone, {machine}", **row}


OPERATOR = Table(
    "operator",
    lambda measured: (
        "The operator, and its roofline: what a kernel streams just then, and "
        f"{measured['peak'] / 1e9:,.0f} GFLOP/s that one computes (their figure 3)"
    ),
    [
        Column("", lambda row: row.get("machine", "here"), width=33),
        DEGREE,
        ELEMENTS,
        DOFS,
        METRIC,
        Column("time", "seconds", time_of, 8),
        _gflops("gflops", "GFLOP/s"),
        Column("GB/s", "rate", "{:,.0f}", 6, 1e9),
        _gflops("roofline", "roofline"),
        Column("of it", "share", fraction),
    ],
    measure_operator,
    ranks="one",
    others=_published_operator,
)

# --- iterations -----------------------------------------------------------------------------------


def _peer(row: Row) -> str:
    """hipBone's figures, with rates in our count: hipBone counts fewer nodes of the same cube."""
    found = HIPBONE_ON_H200.get((row["ranks"], row["degree"], row["edge"]))
    if found is None or row["metric"] != "stored":
        return ""
    seconds, merit = found[0] / 1e3, found[1]
    rate = row["dofs"] / row["ranks"] / seconds
    return f"{time_of(seconds)}, {merit:,.0f}, {rate / 1e6:,.0f}"


ITERATIONS = Table(
    "iterations",
    "NekBone's benchmark: 100 iterations on a cube of each rank (their figures 4 to 6)",
    [
        DEGREE,
        ELEMENTS,
        DOFS,
        METRIC,
        ITERATION,
        _gflops("fom", "FOM, GFLOP/s"),
        RATE,
        OF_BANDWIDTH,
        RESIDUAL,
        Column("hipBone on H200: time, FOM, MDOF/s", _peer),
    ],
    measure_iterations,
)


WEAK = Table(
    "weak",
    "Weak scaling: the largest cubes on each rank alone, and on all ranks together",
    [
        DEGREE,
        Column("elements a rank", lambda row: row["edge"] ** 3, "{:,}"),
        METRIC,
        Column("alone", "alone", time_of, 8),
        Column("together", "seconds", time_of),
        Column("efficiency", "efficiency", partial(fraction, digits=1)),
    ],
    measure_weak,
    ranks="several",
)


def _peaks(session: Session) -> Iterator[Row]:
    """The best measured results for degree 15, and the efficiency of the largest cubes."""
    measured, ranks = session.measured, session.comm.size
    for metric in METRICS:
        kind = {"degree": 15, "metric": metric}
        rows = _of_kind(measured.get("iterations", ()), kind)
        if merits := [row["fom"] for row in rows]:
            scaled = _of_kind(measured.get("weak", ()), kind)
            row = {"machine": "here", "metric": metric, "ranks": ranks, "fom": max(merits)}
            yield row | {"efficiency": scaled[0]["efficiency"] if scaled else 1.0}


def _of_kind(rows: Sequence[Row], kind: Row) -> list[Row]:
    """The rows of a degree and metric."""
    return [row for row in rows if all(row[name] == value for name, value in kind.items())]


def published_peaks(measured: Measured) -> Iterator[Row]:
    """hipBone's best results on all numbers of ranks (table 2), and efficiencies from these."""
    for machine, peaks in PEAKS.items():
        for ranks, best in peaks.items():
            row = {"machine": f"hipBone, {machine}", "metric": "stored", "ranks": ranks}
            yield row | {"fom": best, "efficiency": best / ranks / peaks[1]}


BEST = Table(
    "peaks",
    "Best figure of merit of degree 15; efficiency relative to one rank, here of the largest cubes "
    "(their table 2)",
    [
        field("machine", 33, head=""),
        METRIC,
        field("ranks"),
        _gflops("fom", "GFLOP/s"),
        Column("a rank", lambda row: row["fom"] / row["ranks"], "{:,.1f}", 8),
        Column("efficiency", "efficiency", partial(fraction, digits=1)),
    ],
    _peaks,
    others=published_peaks,
)

# --- complete solutions ---------------------------------------------------------------------------


def _nekrs_solves(measured: Measured) -> Iterator[Row]:
    known = NEKRS_BPS5 if measured["ranks"] == 1 else {}
    for machine, (seconds, iterations) in known.items():
        row = {"preconditioner": "multigrid", "where": f"nekRS, {machine}", "elements": 8000}
        row |= {"degree": 7, "dofs": 8000 * 7**3}
        yield row | {"iterations": iterations, "seconds": seconds}


SOLVES = Table(
    "solves",
    "Solutions to 1e-8: bake-off problem BPS5, Kershaw's cube, eps 0.3",
    [
        field("preconditioner"),
        WHERE,
        DEGREE,
        ELEMENTS,
        DOFS,
        count("iterations", "iterations"),
        Column("time", "seconds", time_of, 8),
        Column("a million DOFs", lambda row: 1e6 * row["seconds"] / row["dofs"], time_of),
        Column("set-up", "set_up", time_of, 8),
    ],
    measure_solves,
    others=_nekrs_solves,
)

TABLES = [OPERATOR, ITERATIONS, WEAK, BEST, *(table_of(p) for p in PROBLEMS), BP_PEAKS, SOLVES]
