"""Computational cost of elements, by which they are divided among ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.solvers.dgwave.mesh.elements import RankElements

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup

# Additional costs of an element relative to a brick, from measurements on a CPU and a GPU, see
# docs/performance/dgwave.md. Attenuation and curved elements need no weight, because all elements
# have them or none has.
MATCHED_LAYER = 0.3  # for each axis to which a matched layer is normal
MORTAR = 1.0  # for each face with finer neighbours
CURVED_MORTAR = 0.5  # the same, relative to an element that is not a brick


def element_costs(setup: Setup) -> NDArray[np.float64]:
    """Costs of all elements in their order, (elements,); without layers and mortars, 1."""
    costs = 1 + MATCHED_LAYER * setup.layer_axes
    everyone = RankElements(setup.connectivity, np.array([0, setup.count]), 0)
    if everyone.has_levels:
        mortar = CURVED_MORTAR if setup.is_curved else MORTAR
        costs += mortar * np.bincount(everyone.mortars[:, 0], minlength=setup.count)
    return np.asarray(costs, float)
