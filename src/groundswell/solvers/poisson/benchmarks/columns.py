"""Columns that several tables have."""

from __future__ import annotations

from groundswell.bench.tables import Column, fraction, time_of
from groundswell.solvers.poisson.benchmarks.problems import METRICS


def count(key: str, head: str) -> Column:
    """A column with whole numbers."""
    return Column(head, key, "{:,.0f}", 11)


DEGREE = Column("N", "degree", width=2)
METRIC = Column("metric", "metric", METRICS.__getitem__, 22)
ELEMENTS, DOFS = count("elements", "elements"), count("dofs", "DOFs")
WHERE = Column("", lambda row: row.get("where", "here"), width=14)
ITERATION = Column("an iteration", "seconds", time_of)
RATE = Column("MDOF/s a rank", "throughput", "{:,.1f}", unit=1e6)
BYTES = Column("bytes/DOF", "bytes_per_dof", "{:,.0f}")
OF_BANDWIDTH = Column("of bandwidth", "share", fraction)
RESIDUAL = Column("residual", "residual", "{:.1e}")
