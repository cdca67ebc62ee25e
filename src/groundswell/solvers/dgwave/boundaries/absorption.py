"""What absorbs waves at the boundaries of a run, as the other parts of a set-up see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Floats, Integers
from groundswell.case.quantities import Quantity
from groundswell.seismology.survey import Survey
from groundswell.solvers.dgwave.boundaries.matched_layers import MatchedLayers
from groundswell.solvers.dgwave.mesh.elements import RankElements


class Absorption(Protocol):
    """Absorbing layers around a grid, or sponges at surfaces of a mesh."""

    @property
    def decay(self) -> float:
        """The largest rate at which fields or memory variables decay, 1/s."""
        ...

    @property
    def elements(self) -> Integers:
        """The elements of all ranks in layers and sponges, ascending."""
        ...

    def damping(self, elements: RankElements) -> tuple[NDArray[np.int32] | None, Floats]:
        """Damping of all fields: rows and rates, see `Terms`; no rows if no rank has any."""
        ...

    def damping_rows(self, elements: RankElements) -> int:
        """Number of the rows of rates that `damping` returns."""
        ...

    def matched_layers(self, elements: RankElements) -> MatchedLayers | None:
        """The matched layers of a rank's elements; None if no rank has any."""
        return None

    @property
    def layer_axes(self) -> Integers:
        """The number of axes to which matched layers with an element are normal, (elements,)."""
        ...

    @property
    def tables(self) -> float:
        """Rates of decay per node that the kernels read, averaged over all elements."""
        return 0.0

    def quantities(self) -> Iterator[Quantity]:
        """What absorbs waves, for `groundswell check`, besides the cells of a grid."""
        yield from ()

    def warnings(self, survey: Survey) -> Iterator[str]:
        """Reasons to expect poor results or needless work, each with its remedy."""
        ...
