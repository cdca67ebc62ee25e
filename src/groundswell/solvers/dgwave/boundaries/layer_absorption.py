"""The absorbing layers around a grid: perfectly matched layers and sponges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import pi, prod

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Floats, Integers, Mask
from groundswell.meshes.hexahedra import AXES
from groundswell.seismology.guided_waves import LARGEST_RATIO, SoftGround
from groundswell.seismology.media.statistics import SideSpeeds
from groundswell.seismology.survey import Survey
from groundswell.solvers.dgwave.boundaries.absorption import Absorption
from groundswell.solvers.dgwave.boundaries.layers import (
    PML,
    SPONGE,
    LayerProfiles,
    add_profiles,
    count_sums,
    has_layers,
    in_layers,
    layer_profiles,
    sponge_damping,
    strongest_decay,
    unique_pairs,
)
from groundswell.solvers.dgwave.boundaries.matched_layers import (
    HIGHEST_SHIFT,
    LEAST_SHIFT,
    POWER,
    SHIFT,
    MatchedLayers,
    strongest_damping,
)
from groundswell.solvers.dgwave.geometry.bricks import BrickGeometry
from groundswell.solvers.dgwave.materials.anelastic import Materials
from groundswell.solvers.dgwave.mesh.elements import RankElements

SIDES = 0  # index of the condition at a side in `BrickGeometry.conditions`
USUAL_WIDTH = {PML: 4, SPONGE: 10}  # of layers, elements


@dataclass(frozen=True, eq=False)
class LayerAbsorption(Absorption):
    """The absorbing layers around a grid; see `Absorption`.

    Elements share the few profiles of `damping`, which stay in caches, so `tables` is 0.

    Args:
        geometry: the elements.
        materials: their material.
        duration: time at which the run ends, s.
    """

    geometry: BrickGeometry
    materials: Materials
    duration: float

    @cached_property
    def elements(self) -> Integers:
        """See `Absorption`."""
        inside = self._in_matched_layers | in_layers(self.geometry, SPONGE)
        return np.flatnonzero(inside.any(axis=1))

    # --- soft ground ------------------------------------------------------------------------------

    @cached_property
    def soft_ground(self) -> SoftGround | None:
        """Soft ground next to matched layers at the sides; None in fluids.

        Rows are as high as the smallest elements in these layers, which may be halved.
        """
        statistics = self.materials.statistics
        if not statistics.vs_max or self.geometry.conditions[SIDES] != PML:
            return None
        beside, faces = self._beside, self._row_faces
        lower, upper = (corners[:, 2] for corners in self.geometry.forest.boxes(beside))
        rows = [(lower < below) & (upper > above) for above, below in pairwise(faces)]
        slowest, vp = statistics.slowest[beside], statistics.average_vp[beside]
        sides = SideSpeeds(*(np.array([v[row].min() for row in rows]) for v in (slowest, vp)))
        resolved = self.materials.resolved_frequency
        return SoftGround(sides, statistics.vs_max, np.diff(faces), resolved)

    @cached_property
    def _beside(self) -> Integers:
        """The elements of all ranks in matched layers at the sides."""
        return np.flatnonzero(self._in_matched_layers[:, :2].any(axis=1))

    @property
    def _row_faces(self) -> Floats:
        """Depths of the horizontal faces of these elements in the region, ascending, m."""
        corners = np.stack(self.geometry.forest.boxes(self._beside))[..., 2]
        return np.unique(np.clip(corners, 0.0, self.geometry.extent[2]))

    @property
    def _cells(self) -> int:
        """Number of intervals between nodes across the layers at the sides."""
        grid = self.geometry.grid
        return max(*grid.before[:2], *grid.after[:2]) * self.geometry.degree

    # --- damping of all fields --------------------------------------------------------------------

    def damping(self, elements: RankElements) -> tuple[NDArray[np.int32] | None, Floats]:
        """See `Absorption`: in sponges, and next to soft ground."""
        if not self._has_damping:
            return None, np.empty((0, (self.geometry.degree + 1) ** AXES))
        return add_profiles(*self._damping_profiles(elements))

    def damping_rows(self, elements: RankElements) -> int:
        """Number of the rows of rates that `damping` returns."""
        if not self._has_damping:
            return 0
        rows, profiles = self._damping_profiles(elements)
        return count_sums(rows, len(profiles))

    @property
    def _has_damping(self) -> bool:
        ground = self.soft_ground
        is_soft = ground is not None and ground.resonance > 0
        return is_soft or has_layers(self.geometry, SPONGE)

    def _damping_profiles(self, elements: RankElements) -> tuple[NDArray[np.int32], Floats]:
        """The profiles of elements along the axes that `damping` adds up; see `add_profiles`."""
        speed = self.materials.statistics.vp_max
        rows, sponge = sponge_damping(self.geometry, elements, speed)
        others, multiaxial = self._multiaxial_damping(elements)
        moved = np.where(others < 0, -1, others + len(sponge))
        profiles = np.concatenate([sponge, multiaxial])
        return np.where(rows < 0, moved, rows).astype(np.int32), profiles

    def _multiaxial_damping(self, elements: RankElements) -> tuple[NDArray[np.int32], Floats]:
        """Damping of all fields next to soft ground: rows and profiles, see `sponge_damping`.

        It is a fraction of the damping d that depends on the depth.
        """
        found, ground = layer_profiles(self.geometry, elements, PML), self.soft_ground
        rows = np.full(found.rows.shape, -1, np.int32)
        none = np.empty((0, self.geometry.degree + 1))
        if ground is None:
            return rows, none
        ratios = ground.damping_ratio(self._cells)
        tops = self.geometry.forest.boxes(elements.numbers)[0][:, 2]
        row = np.searchsorted(self._row_faces, tops, side="right") - 1
        ratio = ratios[np.clip(row, 0, len(ratios) - 1)]
        element, axis = np.nonzero((found.rows[:, :2] >= 0) & (ratio > 0)[:, None])
        if not len(element):
            return rows, none
        kinds = np.stack([found.rows[element, axis], ratio[element]], axis=1)
        unique, rows[element, axis] = unique_pairs(kinds)
        return rows, unique[:, 1:] * self._strength(found)[unique[:, 0].astype(int)]

    @cached_property
    def decay(self) -> float:
        """See `Absorption`; an upper bound.

        At corners, the damping of sponges along all axes adds up, and so does the multiaxial
        damping of matched layers. Each memory variable of matched layers belongs to one axis.
        """
        grid, speed = self.geometry.grid, self.materials.statistics.vp_max
        layers = [[t for t in grid.thickness(axis) if t] for axis in range(AXES)]
        thickness = np.array([min(ends) for ends in layers if ends])
        has_sponge = has_layers(self.geometry, SPONGE)
        sponge = strongest_decay(thickness, speed).sum() if has_sponge else 0.0
        if not has_layers(self.geometry, PML):
            return float(sponge)
        return float(max(sponge, self._decay_in_matched_layers(thickness, speed)))

    def _decay_in_matched_layers(self, thickness: Floats, speed: float) -> float:
        damping, ground = strongest_damping(thickness, speed), self.soft_ground
        if ground is None:
            return float(damping.max(initial=0.0))
        damping = ground.damping_factor * damping
        return float(damping.max() + ground.side_shift + LARGEST_RATIO * damping.sum())

    # --- matched layers ---------------------------------------------------------------------------

    def matched_layers(self, elements: RankElements) -> MatchedLayers | None:
        """The matched layers of a rank's elements; None if no rank has any."""
        if not has_layers(self.geometry, PML):
            return None
        found, inside = layer_profiles(self.geometry, elements, PML), self._in_matched_layers
        numbers = np.cumsum(inside.ravel()).reshape(inside.shape) - 1
        is_set = found.rows >= 0
        sets = np.full(found.rows.shape, -1, np.int32)
        sets[is_set] = np.arange(is_set.sum())
        return MatchedLayers(
            sets,
            numbers[elements.numbers][is_set],
            int(inside.sum()),
            found.rows[is_set],
            self._profiles(found),
        )

    @cached_property
    def layer_axes(self) -> Integers:
        """The number of axes to which matched layers with an element are normal, (elements,)."""
        return np.asarray(self._in_matched_layers.sum(axis=1))

    @cached_property
    def _in_matched_layers(self) -> Mask:
        return in_layers(self.geometry, PML)

    def _profiles(self, found: LayerProfiles) -> Floats:
        d, ground = self._strength(found), self.soft_ground
        highest = HIGHEST_SHIFT * self.materials.resolved_frequency
        least = LEAST_SHIFT * self.materials.statistics.vp_max / found.thickness
        inner = np.maximum(2 * pi * min(SHIFT / self.duration, highest), least)
        shift = inner[:, None] * (1 - found.depths)
        if ground:
            uniform = np.array([ground.frequency_shift(axis) for axis in range(AXES)])
            shift += uniform[found.axes][:, None]
        return np.stack([d, d + shift], axis=1)

    def _strength(self, found: LayerProfiles) -> Floats:
        """The damping d of each profile, (profiles, N + 1), 1/s."""
        factor = self.soft_ground.damping_factor if self.soft_ground else 1.0
        speed = self.materials.statistics.vp_max
        strongest = factor * strongest_damping(found.thickness, speed)
        return np.asarray(strongest[:, None] * found.depths**POWER)

    # --- for `groundswell check` ------------------------------------------------------------------

    def warnings(self, survey: Survey) -> Iterator[str]:
        """See `Absorption`: layers that are wider than usual, and hold most of the elements."""
        grid, width = self.geometry.grid, max(self.geometry.grid.before)
        usual = USUAL_WIDTH.get(self.geometry.conditions[SIDES], width)
        inside, cells = prod(grid.region), prod(grid.cells)
        if width > usual and cells > 2 * inside:
            yield (
                f"boundary.width is {width} elements, so absorbing layers hold {cells - inside:,} "
                f"of {cells:,} elements; a width of {usual} is usual"
            )
