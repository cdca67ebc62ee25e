"""Lower bounds on the properties of a medium."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from groundswell.arrays import Mask, Reals
from groundswell.seismology.media.material import (
    Material,
    Medium,
    count_cells,
    find_linear_runs,
    find_runs,
    sample_points,
    solid_at_points,
)
from groundswell.seismology.media.profile import Profile, find_profile


class Floor:
    """A medium with lower bounds on `vp`, `vs` (m/s) and `rho` (kg/m^3).

    Fluids keep `vs = 0`. Where `vs` is raised, vp^2 grows by 4/3 of the growth of vs^2, so that the
    bulk modulus is preserved and stays positive. `vp` and `rho` are bounded last.
    """

    def __init__(self, medium: Medium, vp: float = 0.0, vs: float = 0.0, rho: float = 0.0) -> None:
        self.cells, self.spacing = medium.cells, medium.spacing
        self._medium, self._vp, self._vs, self._rho = medium, vp, vs, rho
        self._changed: dict[int, dict[str, int]] = {}

    def runs(self) -> list[tuple[int, int]]:
        """Runs of equal depth rows; see `find_runs`."""
        return find_runs(self._medium)

    def linear_runs(self) -> list[tuple[int, int]]:
        """The runs of the medium, divided into single rows where a bound changes a cell."""
        return [
            part
            for first, rows in find_linear_runs(self._medium)
            for part in self._linear_parts(first, rows)
        ]

    def _linear_parts(self, first: int, rows: int) -> list[tuple[int, int]]:
        ends = {first, first + rows - 1}
        if rows > len(ends) and not any(self._changes(k) for k in sorted(ends)):
            return [(first, rows)]
        return [(k, 1) for k in range(first, first + rows)]

    def _changes(self, k: int) -> bool:
        self.plane(k)
        return any(self._changed[k].values())

    def sides(self, k: int) -> Material:
        """The outermost cells of depth row `k`, bounded, (n,)."""
        sides: Material = self._medium.sides(k)  # type: ignore[attr-defined]
        return self._bounded(sides)

    def changed_in(self, rows: Mapping[int, int]) -> dict[str, int]:
        """Number of cells with changed vp, vs and rho in `rows`: row -> number of equal rows."""
        return {
            name: sum(count * self._changed[k][name] for k, count in rows.items())
            for name in ("vp", "vs", "rho")
        }

    @property
    def profile(self) -> Profile | None:
        """The bounded profile of a medium that varies with depth only."""
        found = find_profile(self._medium)
        return found and replace(found, sample=lambda depth: self._bounded(found.sample(depth)))

    def plane(self, k: int) -> Material:
        """Averages over the cells of depth row `k`, bounded."""
        model = self._medium.plane(k)
        bounded = self._bounded(model)
        self._changed[k] = {
            name: count_cells(getattr(bounded, name) != getattr(model, name), self.cells)
            for name in ("vp", "vs", "rho")
        }
        return bounded

    def sample(self, points: Reals) -> Material:
        """The bounded medium at points; see `SampledMedium`."""
        return self._bounded(sample_points(self._medium, points))

    def is_solid(self, points: Reals) -> Mask:
        """See `SampledMedium`; bounds leave fluids as they are."""
        return solid_at_points(self._medium, points)

    def _bounded(self, model: Material) -> Material:
        vs = np.where(model.vs > 0, np.maximum(model.vs, self._vs), model.vs)
        stiffer = np.sqrt(model.vp**2 + (vs**2 - model.vs**2) * 4 / 3)
        vp = np.maximum(np.where(vs > model.vs, stiffer, model.vp), self._vp)
        rho = np.maximum(model.rho, self._rho)
        return Material(vp, vs, rho, model.qp, model.qs)
