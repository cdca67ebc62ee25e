"""Partition of a mesh among ranks: blocks of a box, parts of other meshes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Integers
from groundswell.errors import InputError, counted
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Hexahedra
from groundswell.meshes.partition import face_neighbours, partition


@dataclass(frozen=True, eq=False)
class ElementPartition:
    """Which rank has which elements.

    Args:
        part: rank of each element, (elements,).
        ranks: number of ranks.
        processes: blocks along x, y and z of a box; otherwise the number of parts.
        largest: elements of the largest block along the same axes, or of the largest part.
    """

    mesh: Hexahedra
    part: Integers
    ranks: int
    processes: tuple[int, ...]
    largest: tuple[int, ...]

    @classmethod
    def of(
        cls,
        mesh: Hexahedra,
        ranks: int,
        processes: Sequence[int] | None = None,
        method: str = "bisection",
    ) -> ElementPartition:
        """Partition a mesh: a box into blocks where they fit, otherwise by `method`.

        Args:
            processes: ranks along x, y and z of a box, 0 for an axis without a preference.
            method: see `meshes.partition.partition`.

        Raises:
            InputError: fewer elements than ranks, processes that do not fit, or no such method.
        """
        if mesh.count < ranks:
            raise InputError(f"{counted(mesh.count, 'element')} for {ranks} ranks; use fewer ranks")
        if isinstance(mesh, Box) and (blocks := _decompose_box(mesh, ranks, processes)):
            largest = tuple(int(max(np.diff(edges))) for edges in blocks.edges)
            part = _number_blocks(mesh, blocks)
            return cls(mesh, part, ranks, blocks.processes[::-1], largest[::-1])
        part = partition(mesh, ranks, method).astype(np.int64)
        return cls(mesh, part, ranks, (ranks,), (int(np.bincount(part).max()),))

    def elements(self, rank: int) -> Integers:
        """Numbers of a rank's elements, in rising order."""
        return np.flatnonzero(self.part == rank)

    @cached_property
    def counts(self) -> Integers:
        """Number of elements of each rank."""
        return np.bincount(self.part, minlength=self.ranks)

    def shared_nodes(self, degree: int) -> Integers:
        """Nodes on faces between each pair of ranks, (ranks, ranks)."""
        shared = np.zeros((self.ranks, self.ranks), np.int64)
        for first, second in _parts_across_faces(self.mesh, self.part):
            np.add.at(shared, (first, second), (degree + 1) ** 2)
        shared += shared.T
        np.fill_diagonal(shared, 0)
        return shared


def _decompose_box(box: Box, ranks: int, processes: Sequence[int] | None) -> Decomposition | None:
    """One block a rank; None if blocks do not fit and the user asked for none."""
    requested = tuple(processes)[::-1] if processes else None
    try:
        return decompose(box.counts[::-1], ranks, box.periodic[::-1], requested)
    except InputError:
        if processes is None:
            return None
        raise InputError(
            f"processes = {list(processes)} for {ranks} ranks and {list(box.counts)} elements; "
            f"give numbers whose product is {ranks}, none above the elements along its axis, or 0 "
            "for an axis without a preference"
        ) from None


def _number_blocks(box: Box, blocks: Decomposition) -> Integers:
    part = np.empty(box.count, np.int64)
    for rank in range(blocks.ranks):
        block = blocks.block(rank)
        part[box.block(block.start, block.shape)] = rank
    return part


def _parts_across_faces(mesh: Hexahedra, part: Integers) -> Iterator[tuple[Integers, Integers]]:
    """The parts on both sides of each interior face, in any order."""
    if isinstance(mesh, Box):
        cube = part.reshape(mesh.counts[::-1])
        for axis, periodic in enumerate(mesh.periodic[::-1]):
            count = cube.shape[axis] - (not periodic)
            ahead = np.roll(cube, -1, axis)
            inside = np.arange(count)
            yield cube.take(inside, axis).ravel(), ahead.take(inside, axis).ravel()
        return
    first, second = part[face_neighbours(mesh)].T
    yield first, second
