"""Absorbing layers on a device: memory variables and coefficient tables."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from groundswell.arrays import DeviceArray, Floats, Indices
from groundswell.backends import Backend, Constant, Parameter
from groundswell.grids.cartesian import Part
from groundswell.solvers.earthquake.absorbing_profiles import sponge
from groundswell.solvers.earthquake.matched_layers import Absorption


class AbsorbingLayers:
    """The absorbing layers in one part of the grid.

    Attributes:
        memory: for each update, the memory variables of three derivatives along each axis.
        profiles: for each axis, coefficients of the cells with memory; see kernels/layers.h.
        damping: damping of all values along x, y and z; see `sponge_factor` in kernels/layers.h.
        is_multiaxial: whether matched layers damp along all axes in some depth rows.
    """

    def __init__(self, absorption: Absorption, dtype: str, backend: Backend, part: Part) -> None:
        self._absorption, self._dtype = absorption, dtype
        self._backend, self._part = backend, part
        self._placeholder = backend.zeros((1,), dtype)
        self._damping_ratios = self._side_damping_ratios()
        self.is_multiaxial = bool(self._damping_ratios.any())
        self.memory = self._memory()
        self.profiles = [self._profile(axis) for axis in range(3)]
        self.damping = self._damping()

    def arguments(self, update: str) -> dict[str, DeviceArray]:
        """The layer arguments of the kernel of an update, "velocity" or "stress"."""
        memory, profiles = self.memory[update], self.profiles
        return {
            **{f"memory_{axis}": each for axis, each in zip("xyz", memory, strict=True)},
            **{f"profile_{axis}": each for axis, each in zip("xyz", profiles, strict=True)},
            "sponge": self.damping,
        }

    def constants(self) -> dict[str, Constant]:
        """Compile-time constants: the kind of layer."""
        return {"SPONGE": not self._absorption.are_matched, "MULTIAXIAL": self.is_multiaxial}

    def parameters(self) -> dict[str, Parameter]:
        """Kernel parameters: the number of cells with memory on both sides of each axis."""
        parameters: dict[str, Parameter] = {}
        for axis, name in enumerate("XYZ"):
            parameters[f"BEFORE_{name}"], parameters[f"AFTER_{name}"] = self._memory_widths(axis)
        return parameters

    def memory_cells(self, axis: int) -> Indices:
        """Indices, along an axis of the whole grid, of this part's cells with memory."""
        before, after = self._memory_widths(axis)
        cells = self._part.indices(axis)
        return np.concatenate([cells[:before], cells[len(cells) - after :]])

    def _memory_widths(self, axis: int) -> tuple[int, int]:
        """Number of cells with memory on each side; along x, a multiple of the vector length."""
        part = self._part
        if not self._absorption.are_matched:
            return 0, 0
        before, after = part.before[axis], part.after[axis]
        vector = self._backend.vector_length
        padded = tuple(-(-n // vector) * vector for n in (before, after))
        fits = axis == 0 and sum(padded) <= part.cells[0]
        return (padded[0], padded[1]) if fits else (before, after)

    def _memory(self) -> dict[str, list[DeviceArray]]:
        nz, ny, nx = self._part.shape
        lx, ly, lz = (sum(self._memory_widths(axis)) for axis in range(3))
        shapes = ((3, nz, ny, lx), (3, nz, ly, nx), (3, lz, ny, nx))
        return {
            update: [
                self._backend.zeros(shape, self._dtype) if all(shape) else self._placeholder
                for shape in shapes
            ]
            for update in ("velocity", "stress")
        }

    def _profile(self, axis: int) -> DeviceArray:
        layer, cells = self._absorption.matched_layer(axis), self.memory_cells(axis)
        table = layer.coefficients(self._absorption.dt, cells).astype(self._dtype)
        return self._backend.to_device(table) if table.size else self._placeholder

    def _side_damping_ratios(self) -> Floats:
        """Damping ratio of the layers at the sides in each depth row of the part, (nz,)."""
        grid = self._part.grid
        rows = (self._part.indices(2) - grid.before[2]).clip(0, grid.region[2] - 1)
        return self._absorption.side_damping_ratios[rows]

    def _damping(self) -> DeviceArray:
        absorption, part, grid = self._absorption, self._part, self._part.grid
        if not absorption.are_matched:
            sides = zip(grid.before, grid.after, grid.cells, strict=True)
            tables = [sponge(*side)[part.indices(axis)] for axis, side in enumerate(sides)]
        elif self.is_multiaxial:
            layers = (absorption.matched_layer(axis) for axis in (0, 1))
            x, y = (each.damping(absorption.dt, part.indices(n)) for n, each in enumerate(layers))
            tables = [x, y, self._damping_ratios]
        else:
            return self._placeholder
        return self._backend.to_device(np.concatenate(tables).astype(self._dtype))

    @cached_property
    def surface_memory(self) -> dict[str, DeviceArray]:
        """Memory variables of the horizontal derivatives at a free surface, by kernel."""
        shape = (4, *self._part.shape[1:])
        return {
            kernel: self._backend.zeros(shape, self._dtype)
            for kernel in ("mirror_velocity", "mirror_stress")
        }
