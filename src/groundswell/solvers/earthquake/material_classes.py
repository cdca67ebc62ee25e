"""Material properties as classes: each cell has the 16-bit number of a record in a table."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend
from groundswell.grids.cartesian import Field, Layout, Part
from groundswell.simulation.kept_parts import kept
from groundswell.simulation.material_classes import ClassTable
from groundswell.solvers.earthquake.materials import Materials, Slab
from groundswell.solvers.earthquake.setup import Setup, ground_digest

RECORD = ("compliance", "inverse_qs", "lam", "inverse_qp")  # as in kernels/materials.h


class ClassMaterials(Materials):
    """Material properties in a table, with a field of 16-bit classes.

    Kernels compute the same bits as with a field per property. The table is small enough for the
    cache, so that an update reads two bytes per cell instead of all properties. Ranks may number
    classes differently.
    """

    @property
    def record(self) -> int:
        """Values in a record of the table of moduli; see kernels/materials.h."""
        return len(self.names) - 1

    def __getitem__(self, name: str) -> DeviceArray:
        """A property of the cells, (nz, ny, nx), from the table."""
        return self._columns[name][self.fields["classes"].interior]

    def arguments(self, *names: str) -> dict[str, DeviceArray]:
        """The arguments of kernels: columns of the table, and the classes."""
        found = {name: self._columns.get(name, self._placeholder) for name in names}
        return {**found, "classes": self.fields["classes"].interior}

    def load(self) -> None:
        """Find the classes a few planes at a time, so that the model need not fit into memory.

        Raises:
            InputError: there are more than `MOST`.
        """
        self._table = ClassTable(len(self.names), self._dtype)
        super().load()
        of = dict(zip(self.names, self._table.records.T, strict=True))
        # Density has its own table: velocities read nothing else.
        order = [name for name in RECORD if name in of]
        moduli = self._backend.to_device(np.stack([of[name] for name in order], axis=1))
        self._columns = {name: moduli[:, n] for n, name in enumerate(order)}
        self._columns["rho"] = self._backend.to_device(of["rho"].copy())

    def _allocate(self, layout: Layout) -> dict[str, Field]:
        return {"classes": Field(self._backend, layout, np.uint16)}

    def _assign(self, rows: slice, slab: Slab) -> None:
        classes = self._table.classify([slab[name] for name in self.names])
        self._backend.assign(self.fields["classes"].array[rows], classes)


def load_materials(setup: Setup, backend: Backend, part: Part, layout: Layout) -> Materials:
    """The materials of a part of the grid, in the storage that the case chooses.

    Raises:
        InputError: see `ClassMaterials.load`.
    """
    stored = ClassMaterials if setup.case.run.materials == "classes" else Materials

    def load() -> Materials:
        materials = stored(setup.ground, setup.dtype, backend, part, layout)
        materials.load()
        return materials

    return kept("materials", lambda: (ground_digest(setup.case), backend, part), load)
