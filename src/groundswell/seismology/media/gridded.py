"""Media of models on their own grids, read plane by plane."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from math import ceil

import numpy as np

from groundswell.arrays import Mask, Reals
from groundswell.errors import InputError
from groundswell.grids.axis import Axis, Spacings
from groundswell.grids.geography import Geography
from groundswell.seismology.media.averaged import CellAverages
from groundswell.seismology.media.grid_interpolation import (
    between_depths,
    bilinear,
    depths_at_once,
    locate,
)
from groundswell.seismology.media.material import (
    Counts,
    Material,
    describe_cell,
    find_unphysical,
    outermost,
    uniform_values,
)
from groundswell.seismology.media.profile import Profile, linear_profile
from groundswell.seismology.media.rock_model import RockModel

FINEST = 4  # largest number of samples along an axis for the average over a cell


class GriddedMedium:
    """A model on a rectilinear grid, interpolated trilinearly at cell centres.

    Along each axis, it changes between a fluid and a solid halfway between two nodes.
    `build_gridded` averages a model that is finer than the grid over cells instead. Each depth slab
    is read once in a pass downwards, and only as far as the region needs it.

    Args:
        model: the model.
        cells: cells of the region (nx, ny, nz).
        spacing: edges of the cells along x, y and z, m.
        geography: position of the region on Earth, for models on longitude and latitude.
        clip: whether positions outside the model take its outermost values.

    Raises:
        InputError: without `clip`, the model does not cover the cell centres.
    """

    def __init__(
        self,
        model: RockModel,
        cells: Counts,
        spacing: Spacings,
        geography: Geography | None = None,
        *,
        clip: bool = False,
    ) -> None:
        self.cells, self.spacing = cells, spacing
        self._geography = geography
        self._model, self._grid = model, model.grid
        along = zip(cells, spacing, strict=True)
        at_x, at_y, depth = (Axis(h).at(np.arange(n) + 0.5) for n, h in along)
        x, y = self._grid.locate(at_x[None, :], at_y[:, None], geography)
        self._depth, self._y, self._x = (
            locate(self._grid, axis, at, clip) for axis, at in enumerate((depth, y, x))
        )
        self._slabs: dict[int, dict[str, Reals]] = {}

    def resolution(self) -> tuple[float, float]:
        """Largest number of grid steps of the model per cell: along x and y, and along z."""
        return max(self._x.steps(), self._y.steps()), self._depth.steps()

    @cached_property
    def profile(self) -> Profile | None:
        """The model as a function of depth; None if it varies along x or y in the region."""
        depths, bottom = self._grid.nodes[0], Axis(self.spacing[2]).at(self.cells[2])
        first = max(0, int(np.searchsorted(depths, 0.0, side="right")) - 1)
        depths = depths[first : int(np.searchsorted(depths, bottom)) + 1]
        rows = []
        for node in range(first, first + len(depths)):  # ends at the first slab that varies
            row = uniform_values(self._slabs_at(node))
            if row is None:
                return None
            rows.append(row)
        table = {role: np.array([row[role] for row in rows]) for role in self._model.roles}
        if unphysical := find_unphysical(self._model.complete(table)):
            raise InputError(
                f"{self._grid.path}, depth {depths[unphysical.entry[0]]:g} m, has "
                f"{unphysical.properties}: {unphysical.rule}; correct the model"
            )
        return linear_profile(depths, table, self._model.complete)

    def plane(self, k: int) -> Material:
        """The model at the centres of depth row `k`: arrays (ny, nx), float64.

        Raises:
            InputError: the model has a gap (NaN), or a rule does not apply.
        """
        node = int(self._depth.node[k])
        above, below = self._slabs_at(node), self._slabs_at(node + 1)
        values = between_depths(above, below, self._depth.fraction[k])
        for role in self._model.roles:
            self._require_complete(role, values[role], k)
        return self._model.complete(values)

    def linear_runs(self) -> list[tuple[int, int]]:
        """See `find_linear_runs`: runs end at nodes, and halfway between them.

        There are none if the model gives quality factors, whose ratios are not linear.
        """
        if "qp" in self._model.roles:
            return []
        place = 2 * self._depth.node + (self._depth.fraction >= 0.5)
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        lengths = np.diff(starts, append=len(place))
        return list(zip(starts.tolist(), lengths.tolist(), strict=True))

    def sides(self, k: int) -> Material:
        """The outermost cells of depth row `k`, (n,)."""
        node = int(self._depth.node[k])
        above, below = (
            {role: outermost(values) for role, values in self._slabs_at(n).items()}
            for n in (node, node + 1)
        )
        values = between_depths(above, below, self._depth.fraction[k])
        return self._model.complete(values)

    def require_covered(self, points: Reals) -> None:
        """Check that the model covers points x, y, depth, (n, 3), m.

        Raises:
            InputError: the model does not cover them.
        """
        x, y = self._grid.locate(points[:, 0], points[:, 1], self._geography)
        for axis, at in enumerate((points[:, 2], y, x)):
            locate(self._grid, axis, np.asarray(at), clip=False)

    def sample(self, points: Reals) -> Material:
        """The model at points; see `SampledMedium`. Beyond the model, it has its outermost values.

        Raises:
            InputError: the model has a gap (NaN) or is unphysical, or a rule does not apply.
        """
        material = self._model.complete(self._sample(points, self._model.roles))
        if unphysical := find_unphysical(material):
            place = ", ".join(f"{at:.8g}" for at in points[unphysical.entry[0]])
            raise InputError(
                f"{self._grid.path} has {unphysical.properties} at x, y, depth = {place} m: "
                f"{unphysical.rule}; correct the model"
            )
        return material

    def is_solid(self, points: Reals) -> Mask:
        """Whether the medium is solid at points, (n,)."""
        return np.asarray(self._sample(points, ["vs"])["vs"] > 0)

    def _sample(self, points: Reals, roles: Collection[str]) -> dict[str, Reals]:
        """Properties of the file at any number of points, among them vs; NaN in gaps."""
        if not len(points):
            return {role: np.empty(0) for role in roles}
        x, y = self._grid.locate(points[:, 0], points[:, 1], self._geography)
        depth, y_at, x_at = (
            locate(self._grid, axis, np.asarray(at), clip=True)
            for axis, at in enumerate((points[:, 2], y, x))
        )
        found: dict[str, Reals] = {role: np.empty(len(points)) for role in roles}
        for layers in depths_at_once(depth.node, y_at.window, x_at.window):
            chosen = np.flatnonzero((depth.node >= layers.start) & (depth.node < layers.stop - 1))
            node, place = depth.node[chosen] - layers.start, (y_at.take(chosen), x_at.take(chosen))
            nodes = self._model.read(roles, layers, y_at.window, x_at.window)
            above, below = (bilinear(nodes, *place, node + n) for n in (0, 1))
            values = between_depths(above, below, depth.fraction[chosen])
            for role in roles:
                found[role][chosen] = values[role]
        return found

    def _slabs_at(self, node: int) -> dict[str, Reals]:
        """Each property (ny, nx) at a depth of the model; the depth above stays in memory, too."""
        if node not in self._slabs:
            self._slabs = {n: slabs for n, slabs in self._slabs.items() if n == node - 1}
            layers = slice(node, node + 1)
            nodes = self._model.read(self._model.roles, layers, self._y.window, self._x.window)
            self._slabs[node] = bilinear(nodes, self._y, self._x, 0)
        return self._slabs[node]

    def _require_complete(self, role: str, values: Reals, k: int) -> None:
        if np.isfinite(values).all():
            return
        j, i = (int(n) for n in np.argwhere(~np.isfinite(values))[0])
        raise InputError(
            f"{self._model.describe(role)} has no value (NaN) at "
            f"{describe_cell((i, j, k), self.spacing)}; fill the gaps of the model (sea, air), or "
            "move or shrink the region"
        )


def build_gridded(
    model: RockModel, cells: Counts, spacing: Spacings, geography: Geography | None = None
) -> GriddedMedium | CellAverages:
    """The medium of a model: averages over cells if the model is finer than the grid.

    Along each axis, the number of samples per cell is the number of model grid steps per cell, at
    most FINEST. `GriddedMedium` describes the arguments and errors.
    """
    medium = GriddedMedium(model, cells, spacing, geography)
    level, upright = (min(FINEST, ceil(n - 1e-6)) for n in medium.resolution())
    factors = (max(1, level), max(1, level), max(1, upright))
    if factors == (1, 1, 1):
        return medium
    (nx, ny, nz), (fx, fy, fz) = cells, factors
    hx, hy, hz = (Axis(h).divided(n).spacing for h, n in zip(spacing, factors, strict=True))
    parts = GriddedMedium(model, (nx * fx, ny * fy, nz * fz), (hx, hy, hz), geography, clip=True)
    return CellAverages(parts, factors, spacing)
