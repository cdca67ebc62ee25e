"""Computational cost of elements, by which they are divided among ranks."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.solvers.dgwave.geometry import Geometry
from groundswell.solvers.dgwave.mesh.elements import RankElements

# Additional costs of an element relative to a brick, from measurements on a CPU and a GPU, see
# docs/performance/dgwave.md. Attenuation and curved elements need no weight, because all elements
# have them or none has.
MATCHED_LAYER = 0.3  # for each axis to which a matched layer is normal
MORTAR = 1.0  # for each face with finer neighbours
CURVED_MORTAR = 0.5  # the same, relative to an element that is not a brick


def element_costs(geometry: Geometry, layer_axes: Integers) -> Floats:
    """Costs of all elements in their order, (elements,); without layers and mortars, 1.

    Args:
        layer_axes: number of axes to which matched layers with an element are normal, (elements,).
    """
    costs = 1 + MATCHED_LAYER * layer_axes
    everyone = RankElements(geometry.connectivity, np.array([0, geometry.count]), 0)
    if everyone.has_levels:
        mortar = CURVED_MORTAR if geometry.is_curved else MORTAR
        costs += mortar * np.bincount(everyone.mortars[:, 0], minlength=geometry.count)
    return np.asarray(costs, float)
