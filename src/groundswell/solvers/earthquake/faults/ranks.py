"""Blocks of ranks and faults: each fault lies in the block of one rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from groundswell.arrays import Integers
from groundswell.errors import InputError
from groundswell.exchange.decomposition import Decomposition
from groundswell.grids.cartesian import Part
from groundswell.solvers.earthquake.faults.model import Fault
from groundswell.solvers.earthquake.faults.plane import FaultPlane

FARTHEST = 3  # cells by which the end of a block is moved


def has_fault(part: Part, fault: Fault) -> bool:
    """Whether a part of the grid has a fault that no rank's block cuts."""
    return part.local(fault.plane.first) is not None


def beside_faults(decomposition: Decomposition, planes: Sequence[FaultPlane]) -> Decomposition:
    """The decomposition with ends of blocks moved by up to FARTHEST cells off faults.

    Raises:
        InputError: a fault is still cut.
    """
    edges = [np.array(along) for along in decomposition.edges]
    for plane in planes:
        for along, low, high in _spans(plane):
            edges[along] = _moved(edges[along], low, high)
    if planes:
        lengths = tuple(tuple(np.diff(along).tolist()) for along in edges)
        if all(min(along) > 0 for along in lengths):
            decomposition = replace(decomposition, lengths=lengths)
    _require_whole(decomposition, planes)
    return decomposition


def blocks_across(plane: FaultPlane) -> tuple[int, int, int]:
    """Numbers of blocks along x, y and z that do not cut a fault: 0 along its normal, for any."""
    return (0, 1, 1) if plane.axis == 0 else (1, 0, 1)


def _spans(plane: FaultPlane) -> Iterator[tuple[int, int, int]]:
    """Yield each axis of arrays, and the cells on it, first and last + 1, that no end may part."""
    first, count = plane.box
    for axis in range(3):
        yield 2 - axis, first[axis], first[axis] + count[axis]


def _moved(edges: Integers, low: int, high: int) -> Integers:
    """Ends of blocks, those between two cells moved to the nearer one if it is near."""
    nearer = np.where(edges - low < high - edges, low, high)
    is_near = np.abs(nearer - edges) <= FARTHEST
    inner = (low < edges) & (edges < high) & is_near
    return np.where(inner, nearer, edges)


def _require_whole(decomposition: Decomposition, planes: Sequence[FaultPlane]) -> None:
    """Check that no end of a block is at a fault, where neighbours would need its jumps."""
    for plane in planes:
        cut = [
            "zyx"[axis]
            for axis, low, high in _spans(plane)
            if any(low < edge < high for edge in decomposition.edges[axis][1:-1])
        ]
        if cut:
            x, y, z = decomposition.processes[::-1]
            raise InputError(
                f"a fault normal to {'xy'[plane.axis]} is cut along {' and '.join(cut)} by the "
                f"blocks of ranks, processes = [{x}, {y}, {z}]; one rank must have all of it, with "
                "2 cells on each side: divide the grid only along its normal (run.processes), or "
                "use fewer ranks"
            )
