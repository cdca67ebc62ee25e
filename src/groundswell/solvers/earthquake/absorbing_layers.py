"""Absorbing layers on a device: what they remember, and the tables that say what they do."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array, Backend, Constant
from groundswell.grids.cartesian import Part
from groundswell.solvers.earthquake.absorbing_profiles import MatchedLayer, coupling, sponge
from groundswell.solvers.earthquake.setup import Setup

Indices = NDArray[np.intp]


class Layers:
    """The absorbing layers in one part of the grid.

    Args:
        slowest: S speed of the slowest solid at the sides of each depth row, (nz,), m/s.

    Attributes:
        memory: for each update, three memory variables an axis.
        profiles: of each axis, coefficients of the cells that have memory; see kernels/layers.h.
        losses: what values lose a step along x, y and z; see `sponge_factor` there.
        coupled: whether matched layers damp all values of some rows.
    """

    def __init__(
        self, setup: Setup, backend: Backend, part: Part, slowest: NDArray[np.float64]
    ) -> None:
        self._setup, self._backend, self._part = setup, backend, part
        self._nothing = backend.zeros((1,), setup.dtype)
        self._coupling = self._side_coupling(slowest)
        self.coupled = bool(self._coupling.any())
        self.memory = self._memory()
        self.profiles = [self._profile(axis) for axis in range(3)]
        self.losses = self._losses()

    def arguments(self, update: str) -> list[Array]:
        """What the kernel of an update is given."""
        return [*self.memory[update], *self.profiles, self.losses]

    def constants(self) -> dict[str, Constant]:
        """Cells with memory on both sides of each axis, as kernels call them."""
        found: dict[str, Constant] = {}
        for axis, name in enumerate("XYZ"):
            found[f"BEFORE_{name}"], found[f"AFTER_{name}"] = self._kept(axis)
        return found | {"SPONGE": not self._setup.matched, "COUPLED": self.coupled}

    def kept(self, axis: int) -> Indices:
        """The cells along an axis that have memory, counted in the whole grid."""
        before, after = self._kept(axis)
        cells = self._part.indices(axis)
        return np.concatenate([cells[:before], cells[len(cells) - after :]])

    def _kept(self, axis: int) -> tuple[int, int]:
        """Cells on each side that have memory: along x, whole vectors of them."""
        part = self._part
        if not self._setup.matched:
            return 0, 0
        before, after = part.before[axis], part.after[axis]
        vector = self._backend.vector
        whole = tuple(-(-n // vector) * vector for n in (before, after))
        fits = axis == 0 and sum(whole) <= part.cells[0]
        return (whole[0], whole[1]) if fits else (before, after)

    def _memory(self) -> dict[str, list[Array]]:
        nz, ny, nx = self._part.shape
        lx, ly, lz = (sum(self._kept(axis)) for axis in range(3))
        shapes = ((3, nz, ny, lx), (3, nz, ly, nx), (3, lz, ny, nx))
        return {
            update: [
                self._backend.zeros(shape, self._setup.dtype) if all(shape) else self._nothing
                for shape in shapes
            ]
            for update in ("velocity", "stress")
        }

    def _profile(self, axis: int) -> Array:
        table = self._matched(axis).coefficients(self._setup.dt, self.kept(axis))
        return (
            self._backend.to_device(table.astype(self._setup.dtype))
            if table.size
            else self._nothing
        )

    def _matched(self, axis: int) -> MatchedLayer:
        setup, grid = self._setup, self._setup.grid
        return MatchedLayer(
            grid.before[axis] if setup.matched else 0,
            grid.after[axis] if setup.matched else 0,
            grid.cells[axis],
            grid.spacing[axis],
            setup.fastest,
            setup.resolved_frequency,
        )

    def _side_coupling(self, slowest: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of each depth row, (nz,): how far layers at the sides damp all values of soft ground."""
        fastest = self._setup.statistics.vs_max
        if not self._setup.matched or self._setup.periodic or fastest is None:
            return np.zeros(len(slowest))
        return coupling(slowest, fastest)

    def _losses(self) -> Array:
        setup, part = self._setup, self._part
        if not setup.matched:
            sides = zip(setup.grid.before, setup.grid.after, setup.grid.cells, strict=True)
            tables = [sponge(*side)[part.indices(axis)] for axis, side in enumerate(sides)]
        elif self.coupled:
            x, y = (self._matched(axis).loss(setup.dt, part.indices(axis)) for axis in (0, 1))
            tables = [x, y, self._coupling]
        else:
            return self._nothing
        return self._backend.to_device(np.concatenate(tables).astype(setup.dtype))

    @cached_property
    def surface_memory(self) -> dict[str, Array]:
        """What a free surface's mirrors remember of horizontal derivatives."""
        shape = (4, *self._part.shape[1:])
        return {
            kernel: self._backend.zeros(shape, self._setup.dtype)
            for kernel in ("mirror_velocity", "mirror_stress")
        }
