"""What is recorded of rock that yields, besides fields: the strain at the surface, and findings."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from groundswell.arrays import Floats, Integers, Mask, Reals
from groundswell.case.quantities import Quantity
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES
from groundswell.seismology.formats.plastic_strain import NAME, write_plastic_strain
from groundswell.seismology.plasticity.findings import yield_findings
from groundswell.seismology.sources.event import event_attributes
from groundswell.solvers.dgwave.geometry import Geometry
from groundswell.solvers.dgwave.mesh.elements import face_nodes
from groundswell.solvers.dgwave.recording.lattice import Lattice
from groundswell.solvers.dgwave.recording.rank import RankFields
from groundswell.solvers.dgwave.yielding import Yielding
from groundswell.spectral_elements.curl_form import jacobians
from groundswell.spectral_elements.geometry import chunks


class StrainRecords:
    """The accumulated plastic strain of a run.

    Attributes:
        findings: its largest value and the volume that has yielded, on rank 0 after `write`.
    """

    def __init__(self, rank: RankFields, yielding: Yielding) -> None:
        self._rank, self._yielding = rank, yielding
        self.findings: list[Quantity] = []

    def write(self, folder: Path) -> list[Path]:
        """Write `plastic_strain.nc` if there is a surface; all ranks call it, rank 0 writes."""
        setup, comm = self._rank.setup, self._rank.comm
        strain = self._rank.backend.to_host(self._yielding.strain)
        self._find(strain)
        if not setup.geometry.has_surface:
            return []
        lattice = Lattice.of(setup.geometry, self._rank.elements.numbers)
        own = _at_surface(lattice, setup.degree, strain)
        parts = comm.gather((lattice.mine, own))
        if not comm.first:
            return []
        found = _joined(parts, lattice.count)
        attrs = event_attributes(setup.case, setup.geography, setup.survey)
        points = lattice.points(setup.geography)
        return [write_plastic_strain(folder / NAME, lattice.whole(found), points, attrs)]

    def _find(self, strain: Reals) -> None:
        """The largest strain and the volume that has yielded, on rank 0."""
        geometry, numbers = self._rank.setup.geometry, self._rank.elements.numbers
        own = np.stack([strain.max(axis=1), _yielded_volumes(geometry, numbers, strain > 0)])
        parts = self._rank.comm.gather((numbers, own))
        if self._rank.comm.first:
            largest, volumes = (
                _joined([(where, values[n]) for where, values in parts], geometry.count)
                for n in range(2)
            )
            self.findings = [*yield_findings(float(largest.max()), float(volumes.sum()))]


def _joined(parts: list[tuple[Integers, Floats]], count: int) -> Floats:
    """Values at indices, of all ranks, as one array; its sum does not depend on the ranks."""
    found = np.zeros(count)
    for where, values in parts:
        found[where] = values
    return found


def _at_surface(lattice: Lattice, degree: int, strain: Reals) -> Floats:
    """The strain at a rank's points of the surface, linear between nodes, (points,).

    A polynomial would oscillate around the edges of what has yielded.
    """
    at, line = lattice.located, gll(degree).points
    units = np.eye(degree + 1)
    r, s = (
        np.stack([np.interp(along, line, unit) for unit in units], axis=1) for along in at.places.T
    )
    nodes = face_nodes(degree)[at.faces].reshape(-1, degree + 1, degree + 1)
    values = strain[at.elements[:, None, None], nodes].astype(float)
    return np.asarray(np.einsum("ps,pr,psr->p", s, r, values))


def _yielded_volumes(geometry: Geometry, numbers: Integers, yielded: Mask) -> Floats:
    """The volume of each element that has yielded, (elements,), m^3.

    Args:
        yielded: whether the nodes have yielded, (elements, nodes).
    """
    found, weights = np.zeros(len(numbers)), gll(geometry.degree).cube_weights
    touched = np.flatnonzero(yielded.any(axis=1))
    if not geometry.is_curved:
        shares = yielded[touched] @ weights / 2**AXES
        found[touched] = shares * geometry.edges[numbers[touched]].prod(axis=1)
        return found
    for part in chunks(len(touched), len(weights)):
        own = touched[part]
        metrics = np.asarray(geometry.shapes.metrics(numbers[own], np.float64), np.float64)
        volumes = jacobians(metrics) * weights
        found[own] = (volumes * yielded[own]).sum(axis=1)
    return found
