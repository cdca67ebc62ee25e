"""How ranks share the elements of a mesh: blocks of boxes, parts of other meshes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.errors import InputError
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Hexahedra, Numbers
from groundswell.meshes.partition import neighbours, partition


@dataclass(frozen=True, eq=False)
class Shares:
    """Which elements each rank works on.

    Args:
        part: the rank of each element, (elements,).
        ranks: how many there are.
        processes: blocks along x, y and z of a box; else one number, of all parts. A box that so
            many blocks do not fit is shared like other meshes.
        largest: elements of the largest part, along the same axes.
    """

    mesh: Hexahedra
    part: Numbers
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
    ) -> Shares:
        """All elements, for so many ranks.

        Args:
            processes: ranks along x, y and z of a box, 0 where that is left open.
            method: of `partition`, for what is not cut into blocks.

        Raises:
            InputError: fewer elements than ranks, processes that do not fit, or no such method.
        """
        if mesh.count < ranks:
            raise InputError(f"{mesh.count} elements for {ranks} ranks; use fewer ranks")
        if isinstance(mesh, Box) and (cut := _cut(mesh, ranks, processes)):
            largest = tuple(int(max(np.diff(edges))) for edges in cut.edges)
            return cls(mesh, _blocks(mesh, cut), ranks, cut.processes[::-1], largest[::-1])
        part = partition(mesh, ranks, method).astype(np.int64)
        return cls(mesh, part, ranks, (ranks,), (int(np.bincount(part).max()),))

    def elements(self, rank: int) -> Numbers:
        """Numbers of those that a rank works on, rising."""
        return np.flatnonzero(self.part == rank)

    @cached_property
    def counts(self) -> Numbers:
        """Elements of each rank."""
        return np.bincount(self.part, minlength=self.ranks)

    def shared_nodes(self, degree: int) -> Numbers:
        """Nodes on faces between each rank and each other one, (ranks, ranks)."""
        found = np.zeros((self.ranks, self.ranks), np.int64)
        for first, second in _beside(self.mesh, self.part):
            np.add.at(found, (first, second), (degree + 1) ** 2)
        found += found.T
        np.fill_diagonal(found, 0)
        return found


def _cut(box: Box, ranks: int, processes: Sequence[int] | None) -> Decomposition | None:
    """Blocks for as many ranks, or none if they do not fit and nobody asks for some."""
    wanted = tuple(processes)[::-1] if processes else None
    try:
        return decompose(box.counts[::-1], ranks, box.periodic[::-1], wanted)
    except InputError:
        if processes is None:
            return None
        raise InputError(
            f"processes = {list(processes)} for {ranks} ranks and {list(box.counts)} elements; "
            f"give numbers whose product is {ranks}, none above the elements along its axis, or 0 "
            "for what is left open"
        ) from None


def _blocks(box: Box, cut: Decomposition) -> Numbers:
    part = np.empty(box.count, np.int64)
    for rank in range(cut.ranks):
        block = cut.block(rank)
        part[box.block(block.start, block.shape)] = rank
    return part


def _beside(mesh: Hexahedra, part: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
    """Parts of elements that share a face, in any order."""
    if isinstance(mesh, Box):
        cube = part.reshape(mesh.counts[::-1])
        for axis, periodic in enumerate(mesh.periodic[::-1]):
            count = cube.shape[axis] - (not periodic)
            ahead = np.roll(cube, -1, axis)
            inside = np.arange(count)
            yield cube.take(inside, axis).ravel(), ahead.take(inside, axis).ravel()
        return
    first, second = part[neighbours(mesh)].T
    yield first, second
