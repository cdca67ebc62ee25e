"""Linear interpolation between the nodes of a model.

Along each axis, the model changes between a fluid and a solid halfway between two nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Indices, Reals
from groundswell.errors import InputError
from groundswell.seismology.media.model_grid import ModelGrid
from groundswell.seismology.media.profile import within_phase

AT_ONCE = 2**20  # largest number of values of a variable that are read for more than two depths


@dataclass(frozen=True)
class ModelPositions:
    """Positions on an axis of a model, for linear interpolation.

    Args:
        window: the nodes needed.
        node: node before each position, counted from the start of `window`.
        fraction: distance to that node over the spacing to the next.
    """

    window: slice
    node: Indices
    fraction: Reals

    def take(self, chosen: Indices) -> ModelPositions:
        """Some of the positions, (n,)."""
        return ModelPositions(self.window, self.node[chosen], self.fraction[chosen])

    def steps(self) -> float:
        """Largest distance between adjacent positions, in steps of the axis."""
        place = self.node + self.fraction
        return max(
            float(np.abs(np.diff(place, axis=axis)).max(initial=0.0)) for axis in range(place.ndim)
        )


def locate(model: ModelGrid, axis: int, at: Reals, clip: bool) -> ModelPositions:
    """Locate positions `at` on axis 0 (depth), 1 (y, lat) or 2 (x, lon) of the model."""
    nodes = model.nodes[axis]
    rounding = 1e-6 * (nodes[-1] - nodes[0])
    if clip:
        at = np.clip(at, nodes[0], nodes[-1])
    if at.min() < nodes[0] - rounding or at.max() > nodes[-1] + rounding:
        raise InputError(
            f"{model.path} covers {model.dims[axis]} from {nodes[0]:.8g} to {nodes[-1]:.8g} and "
            f"the centres of cells or elements need {at.min():.8g} to {at.max():.8g} "
            f"({model.frame.unit if axis else 'm'}); shrink grid.size, move the region, or use a "
            f"model that covers it{model.frame.hint}"
        )
    node = np.clip(np.searchsorted(nodes, at, side="right") - 1, 0, len(nodes) - 2)
    fraction = (at - nodes[node]) / (nodes[node + 1] - nodes[node])
    start = int(node.min()) if axis else 0
    return ModelPositions(slice(start, int(node.max()) + 2), node - start, fraction)


def depths_at_once(nodes: Indices, rows: slice, columns: slice) -> Iterator[slice]:
    """Yield the depths to read at a time, so that they hold each of `nodes` and the one below."""
    window = (rows.stop - rows.start) * (columns.stop - columns.start)
    step, left = max(1, AT_ONCE // window), np.unique(nodes)
    while left.size:
        first = int(left[0])
        count = int(np.searchsorted(left, first + step))
        yield slice(first, int(left[count - 1]) + 2)
        left = left[count:]


def bilinear(
    nodes: Mapping[str, Reals],
    y: ModelPositions,
    x: ModelPositions,
    depth: Indices | int,
) -> dict[str, Reals]:
    """Properties at positions at some depths, from `nodes` (depth, y, x) of their windows."""
    _, rows, columns = nodes["vs"].shape
    if isinstance(depth, int) and y.node.shape[1:] == (1,) and nodes["vs"][depth].all():
        return {role: _along_axes(values[depth], y, x) for role, values in nodes.items()}
    first = (depth * rows + y.node) * columns + x.node
    flat, starts = (
        {role: values.ravel() for role, values in nodes.items()},
        (first, first + columns),
    )
    vs = flat["vs"]
    along_x = [within_phase(x.fraction, vs.take(at), vs.take(at + 1)) for at in starts]

    def near_and_far(values: Reals) -> tuple[Reals, Reals]:
        near, far = (
            _between(values.take(at), values.take(at + 1), fraction)
            for at, fraction in zip(starts, along_x, strict=True)
        )
        return near, far

    along_y = within_phase(y.fraction, *near_and_far(vs))
    return {role: _between(*near_and_far(values), along_y) for role, values in flat.items()}


def _along_axes(nodes: Reals, y: ModelPositions, x: ModelPositions) -> Reals:
    """One property (y, x) of solids at positions y (ny, 1) and x (1, nx)."""
    column, row = x.node[0], y.node[:, 0]
    along_x = _between(nodes[:, column], nodes[:, column + 1], x.fraction)
    return _between(along_x[row], along_x[row + 1], y.fraction)


def _between(first: Reals, second: Reals, fraction: Reals) -> Reals:
    return first + fraction * (second - first)


def between_depths(
    first: Mapping[str, Reals], second: Mapping[str, Reals], fraction: Reals
) -> dict[str, Reals]:
    """Properties between two depths; between a fluid and a solid, those of the nearer one."""
    share = within_phase(fraction, first["vs"], second["vs"])
    return {role: _between(values, second[role], share) for role, values in first.items()}
