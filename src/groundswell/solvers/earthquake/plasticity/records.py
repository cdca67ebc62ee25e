"""Plastic strain at the surface, and findings, of rock that yields."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend
from groundswell.case.quantities import Quantity
from groundswell.exchange.communicator import Communicator
from groundswell.grids.cartesian import Part
from groundswell.seismology.formats.plastic_strain import NAME, write_plastic_strain
from groundswell.seismology.formats.shaking_maps import Points
from groundswell.seismology.plasticity.findings import yield_findings
from groundswell.solvers.earthquake.state import surface_array


class StrainRecords:
    """The accumulated plastic strain of a run.

    Args:
        strain: of the region's cells of this rank, (nz, ny, nx).
        points: function that returns the centres of the cells at the surface.

    Attributes:
        findings: its largest value and where it is above 0, on rank 0 after `write`.
        warnings: none.
    """

    def __init__(
        self,
        strain: DeviceArray,
        points: Points,
        backend: Backend,
        comm: Communicator,
        part: Part,
    ) -> None:
        self._strain, self._points, self._backend = strain, points, backend
        self._comm, self._part = comm, part
        self.findings: list[Quantity] = []
        self.warnings: list[str] = []

    def write(self, folder: Path, attrs: Mapping[str, object]) -> list[Path]:
        """Write `plastic_strain.nc`; all ranks call it, rank 0 writes.

        Args:
            attrs: attributes of the file.
        """
        parts, surface = self._comm.gather(self._own()), self._surface()
        if surface is None:
            return []
        largest, cells = max(part[0] for part in parts), sum(part[1] for part in parts)
        volume = cells * prod(self._part.grid.spacing)
        self.findings = [*yield_findings(largest, volume)]
        return [write_plastic_strain(folder / NAME, surface, self._points(), attrs)]

    def _own(self) -> tuple[float, int]:
        """The largest strain of this rank, and the number of its cells that have yielded."""
        if not self._strain.size:
            return 0.0, 0
        return float(self._strain.max()), int((self._strain > 0).sum())

    def _surface(self) -> DeviceArray | None:
        """The strain of the uppermost cells of the region at rank 0."""
        has_top = self._part.region_start[2] == 0
        own = self._strain[:1] if has_top else self._strain[:0]
        nx, ny, _ = self._part.grid.region
        whole = surface_array(own, (1, ny, nx), self._part.region_start[1::-1])
        found = whole.gather(self._backend, self._comm)
        return None if found is None else found[0]
