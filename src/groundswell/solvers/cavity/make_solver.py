"""The solver of a set-up: of steady flow, or of flow in time."""

from __future__ import annotations

from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.solvers.cavity.setup import Setup
from groundswell.solvers.cavity.solver import Cavity
from groundswell.solvers.cavity.unsteady import UnsteadyCavity


def make_solver(
    setup: Setup, backend: Backend, comm: Communicator | None = None
) -> Cavity | UnsteadyCavity:
    """One rank's part of a flow.

    Args:
        comm: the ranks that share the grid.
    """
    kind = UnsteadyCavity if setup.is_unsteady else Cavity
    return kind(setup, backend, comm)
