"""Blocks of ranks and faults: ends of blocks keep off faults along their normal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from groundswell.errors import InputError
from groundswell.exchange.decomposition import Decomposition
from groundswell.solvers.earthquake.faults.plane import REACH, FaultPlane

FARTHEST = 3  # cells by which the end of a block is moved


def beside_faults(decomposition: Decomposition, faults: Mapping[str, FaultPlane]) -> Decomposition:
    """The decomposition with ends of blocks moved by up to FARTHEST cells off faults.

    A rank then has the stresses on both sides of its part of a fault.

    Args:
        faults: their planes, by their labels for messages.

    Raises:
        InputError: an end is still within REACH cells of a fault.
    """
    edges = [np.array(along) for along in decomposition.edges]
    for plane in faults.values():
        axis, (low, high) = 2 - plane.axis, _reach(plane)
        nearer = np.where(edges[axis] - low < high - edges[axis], low, high)
        is_near = np.abs(nearer - edges[axis]) <= FARTHEST
        inner = (low < edges[axis]) & (edges[axis] < high) & is_near
        edges[axis] = np.where(inner, nearer, edges[axis])
    lengths = tuple(tuple(np.diff(along).tolist()) for along in edges)
    if faults and all(min(along) > 0 for along in lengths):
        decomposition = replace(decomposition, lengths=lengths)
    for label, plane in faults.items():
        _require_apart(decomposition, label, plane)
    return decomposition


def _reach(plane: FaultPlane) -> tuple[int, int]:
    """The cells along the normal, first and last + 1, that one rank has."""
    cell = plane.first[plane.axis]
    return cell - REACH, cell + REACH + 1


def _require_apart(decomposition: Decomposition, label: str, plane: FaultPlane) -> None:
    """Check that no end of a block is beside a fault."""
    low, high = _reach(plane)
    ends = decomposition.edges[2 - plane.axis][1:-1]
    if ((low < ends) & (ends < high)).any():
        axis, (x, y, z) = "xy"[plane.axis], decomposition.processes[::-1]
        raise InputError(
            f"{label} lies at an end of a block of a rank along {axis}, processes = "
            f"[{x}, {y}, {z}], and blocks are too thin to move it; use fewer blocks along {axis} "
            "(run.processes), or fewer ranks"
        )
