"""A program for several ranks: a cavity that exchanges as versions of a paper finds the same flow.

mpiexec -n 4 python cavity_versions_program.py cpu|cuda TRANSPORT...
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from groundswell.exchange.devices import open_device
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.solvers.cavity.benchmarks.speed import make_case, make_solver
from groundswell.solvers.cavity.case import FIELDS
from groundswell.solvers.cavity.solver import Cavity
from groundswell_rivals.cavity import exchange_as
from groundswell_rivals.exchange.versions import VERSIONS

CELLS, STEPS = (20, 11, 13), 12
PROCESSES = {2: (2, 1, 1), 4: (2, 1, 2)}  # along x, y and z: faces that versions pack, or copy


def advanced(solver: Cavity) -> dict[str, Any]:
    """The fields of this rank after some steps."""
    rng = np.random.default_rng(3)
    cells = {name: 0.1 * rng.standard_normal(CELLS[::-1]) for name in FIELDS}
    level = solver.levels[0]
    (i, j, k), (ni, nj, nk) = level.part.start, level.part.cells
    block = (slice(k, k + nk), slice(j, j + nj), slice(i, i + ni))
    solver.fill({name: values[block] for name, values in cells.items()})
    for _ in range(STEPS):
        solver.step()
    fields = {name: solver.backend.to_host(f.interior) for name, f in level.copies[0].items()}
    return {"block": block, **fields}


def same(one: dict[str, Any], part: dict[str, Any]) -> bool:
    """Whether a rank has what one rank has, bit by bit."""
    names = [name for name in part if name != "block"]
    return all(np.array_equal(one[name][part["block"]], part[name]) for name in names)


def main() -> None:
    """Every version on each transport, for each process grid."""
    name, *transports = sys.argv[1:]
    job = get_communicator()
    backend = open_device(name, job)
    one = advanced(make_solver(make_case(CELLS), backend))
    assert all(np.abs(one[name]).max() > 0 for name in ("p", "u", "T"))
    for transport in transports:
        case = make_case(CELLS, transport=transport, processes=PROCESSES[job.size])
        solver = make_solver(case, backend, job)
        for version in VERSIONS:
            exchange_as(solver, version)
            assert same(one, advanced(solver)), (transport, version)
        solver.close()
    if job.first:
        print("all versions agree")


if __name__ == "__main__":
    main()
