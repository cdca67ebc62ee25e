"""Where values of arrays are: nodes of elements, and the elements of this rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arguments import whole_number
from groundswell.arrays import Integers
from groundswell.errors import InputError
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.meshes.hexahedra import Floats, Hexahedra, positions
from groundswell.spectral_elements.partition import ElementPartition


def nodes(mesh: Hexahedra, degree: int, elements: ArrayLike | None = None) -> Floats:
    """Positions of the nodes, (elements, (N + 1)^3, 3), m: along r first, then s, then t.

    >>> import groundswell as gs
    >>> gs.poisson.nodes(gs.poisson.Box((1, 1, 1)), 1)[0, -1].tolist()
    [1.0, 1.0, 1.0]

    Args:
        mesh: a `Box` or a `Mesh`.
        degree: N, 1 to 64.
        elements: their numbers, such as those of `own_elements`; all by default.

    Raises:
        InputError: the degree is not a whole number from 1 to 64, or there are no such elements.
    """
    some = np.arange(mesh.count) if elements is None else np.asarray(elements)
    if some.dtype.kind not in "iu" or some.ndim != 1 or not np.isin(some, range(mesh.count)).all():
        raise InputError(
            f"elements = {elements!r:.60}; give whole numbers from 0 to {mesh.count - 1}"
        )
    return positions(mesh, whole_number("degree", degree), some)


def own_elements(mesh: Hexahedra, partition: str = "bisection") -> Integers:
    """Numbers of the elements that a `Problem` on this mesh puts on this rank; all on one rank.

    >>> import groundswell as gs
    >>> gs.poisson.own_elements(gs.poisson.Box((2, 1, 1))).tolist()  # on one rank
    [0, 1]

    Args:
        partition: see `ProblemOptions`.

    Raises:
        InputError: there are fewer elements than ranks.
    """
    job = get_communicator()
    return ElementPartition.of(mesh, job.size, method=partition).elements(job.rank)
