"""Host-side preparation: reads the input and chooses the time step.

`Setup` prepares cases on bricks; `prepare` also those on a mesh from a file.
"""

from __future__ import annotations

from typing import Any

from groundswell.exchange.communicator import Communicator
from groundswell.solvers.dgwave.mesh.case import MeshSection
from groundswell.solvers.dgwave.setup.bricks import Setup as Setup
from groundswell.solvers.dgwave.setup.bricks import prepare_bricks
from groundswell.solvers.dgwave.setup.unstructured import prepare_mesh


def prepare(case: Any, comm: Communicator | None = None) -> Setup:
    """Read and check the data of a case on a grid or on a mesh.

    Raises:
        InputError: the data do not fit the case, or the case cannot run.
    """
    return (prepare_mesh if isinstance(case.grid, MeshSection) else prepare_bricks)(case, comm)
