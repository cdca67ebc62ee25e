"""What recorders need of a rank's part of a run."""

from __future__ import annotations

from dataclasses import dataclass

from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.solvers.dgwave.faults.rank import RankFault
from groundswell.solvers.dgwave.mesh.elements import RankElements
from groundswell.solvers.dgwave.propagation import Propagation
from groundswell.solvers.dgwave.setup import Setup


@dataclass(frozen=True, eq=False)
class RankFields:
    """The fields on a rank's elements.

    Args:
        elements: the elements of the rank.
        propagation: the fields and the clock.
        fault: the rank's part of the faults; None without faults.
    """

    setup: Setup
    backend: Backend
    comm: Communicator
    elements: RankElements
    propagation: Propagation
    fault: RankFault | None = None
