"""Difference of the flow on several ranks from that on one, as in section 4.1 of Xue & Roy."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from groundswell.arrays import HostArray
from groundswell.backends import Backend
from groundswell.bench.rig import Rig
from groundswell.bench.tables import Row
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.solvers.cavity.benchmarks.scaling import cuts
from groundswell.solvers.cavity.benchmarks.speed import make_case, make_solver
from groundswell.solvers.cavity.case import CavityCase

CALLS = 20  # of `step`, each with several steps


def measure_solution(rig: Rig, edge: int) -> Iterator[Row]:
    """Advance a cube on all ranks by each cut, and on each rank alone.

    Yields:
        Rows: `cells`, `processes`, number of `steps`, and `difference`: the largest of any field,
        relative to the largest value of the field.
    """
    cells = (edge,) * 3
    for cut in cuts(rig):
        case = make_case(cells, processes=cut)
        found = rig.attempt("the solution", partial(_compared, rig, case, make_case(cells)))
        if found is not None:
            yield {"cells": cells, "processes": cut, **found}


def _compared(rig: Rig, case: CavityCase, whole: CavityCase) -> Row:
    steps, shared = _advanced(rig.backend, rig.comm, case)
    _, alone = _advanced(rig.backend, SerialCommunicator(), whole)
    differences = [_difference(shared[name], alone[name]) for name in shared]
    return {"steps": steps, "difference": rig.comm.bcast(max(differences, default=0.0))}


def _advanced(
    backend: Backend, comm: Communicator, case: CavityCase
) -> tuple[int, dict[str, HostArray]]:
    """The number of steps, and the fields at rank 0."""
    solver = make_solver(case, backend, comm)
    solver.initialize()
    for _ in range(CALLS):
        solver.step()
    steps = CALLS * solver.steps_at_once
    fields = solver.distributed_fields()
    found = {name: field.gather(backend, comm) for name, field in fields.items()}
    solver.close()
    return steps, {name: values for name, values in found.items() if values is not None}


def _difference(values: HostArray, wanted: HostArray) -> float:
    largest = float(np.abs(wanted).max()) or 1.0
    return float(np.abs(values - wanted).max()) / largest
