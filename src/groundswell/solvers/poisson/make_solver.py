"""The solver of a set-up: of the steady equation, or of the one in time."""

from __future__ import annotations

from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.solvers.poisson.setup import Setup
from groundswell.solvers.poisson.solver import Poisson
from groundswell.solvers.poisson.unsteady import UnsteadyPoisson


def make_solver(
    setup: Setup, backend: Backend, comm: Communicator | None = None
) -> Poisson | UnsteadyPoisson:
    """One rank's part of a problem.

    Args:
        comm: the ranks that share the elements.
    """
    kind = Poisson if setup.case.time is None else UnsteadyPoisson
    return kind(setup, backend, comm)
