"""Computational cost of elements, by which they are divided among ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.solvers.dgwave.elements import RankElements

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup

# Additional costs of an element relative to a brick: means of measurements on a CPU, see
# docs/performance/dgwave.md. Attenuation and curved elements need no weight, because all elements
# have them or none has.
MATCHED_LAYER = 0.45  # for each axis to which a matched layer is normal
MORTAR = 0.6  # for each face with finer neighbours


def element_costs(setup: Setup) -> NDArray[np.float64]:
    """Costs of all elements in their order, (elements,); a brick has the cost 1."""
    costs = 1 + MATCHED_LAYER * setup.layer_axes
    everyone = RankElements(setup.connectivity, np.array([0, setup.count]), 0)
    if everyone.has_levels:
        costs += MORTAR * np.bincount(everyone.mortars[:, 0], minlength=setup.count)
    return np.asarray(costs, float)
