"""The process grid of a domain: as its user asks, as a communicator has it, or the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from groundswell.errors import InputError
from groundswell.exchange.arguments import integers
from groundswell.exchange.decomposition import Decomposition, decompose, decompose_into

Blocks = Sequence[Sequence[int]]  # for each axis the lengths of its blocks
Topology = tuple[Sequence[int] | None, Sequence[bool] | bool]  # dims, if Cartesian, and periods


def process_grid(
    shape: Sequence[int],
    ranks: int,
    topology: Topology,
    periodic: Sequence[bool] | bool | None = None,
    processes: Sequence[int] | None = None,
    blocks: Blocks | None = None,
) -> Decomposition:
    """Cut an array for the ranks of a communicator.

    A Cartesian communicator fixes the number of blocks along each axis. MPI numbers its ranks as a
    decomposition does, the last axis fastest, so both give each rank the same coordinates. If the
    array has more or fewer axes, `processes` or `blocks` say which of them the communicator's are.

    Args:
        topology: `dims` and `periods` of a Cartesian communicator; None and False of others.
        periodic: of each axis, or of all; None for the communicator's periods.
        processes: blocks along each axis, 0 where free; None for the communicator's `dims`, or the
            best.
        blocks: for each axis the lengths of its blocks.

    Raises:
        InputError: arguments that contradict each other or the communicator, or do not fit.
    """
    dims, periods = topology
    grid_given = processes is not None or blocks is not None
    if dims is not None and len(dims) != len(shape) and not (grid_given and periodic is not None):
        raise InputError(
            f"comm is a Cartesian communicator of {len(dims)} axes, and the shape has "
            f"{len(shape)}; give periodic and processes, one entry an axis"
        )
    wraps = periods if periodic is None else periodic
    if blocks is not None:
        found = decompose_into(blocks, shape, ranks, wraps)
        _require_same(found, processes)
    else:
        found = decompose(shape, ranks, wraps, _completed(processes, dims))
    _require_topology(found, dims)
    return found


def _completed(processes: Sequence[int] | None, dims: Sequence[int] | None) -> Any:
    """Blocks along each axis as asked for, and elsewhere the communicator's."""
    if dims is None or processes is None:
        return dims if processes is None else processes
    asked = integers(processes)
    if asked is None or len(asked) != len(dims):
        return processes
    return [n or dim for n, dim in zip(asked, dims, strict=True)]


def _require_same(found: Decomposition, processes: Sequence[int] | None) -> None:
    """See that `blocks` are as many as `processes` along each axis."""
    if processes is None:
        return
    asked = integers(processes) or ()
    if len(asked) != len(found.processes) or any(
        n not in (0, blocks) for n, blocks in zip(asked, found.processes, strict=True)
    ):
        raise InputError(
            f"processes = {processes!r}, but blocks are {found.processes} along the axes; give "
            "only one of the two"
        )


def _require_topology(found: Decomposition, dims: Sequence[int] | None) -> None:
    """See that ranks have the communicator's coordinates; other axes may be added, uncut."""
    if dims is None or found.processes == tuple(dims):
        return
    added = len(found.processes) != len(dims)
    if not added or [n for n in found.processes if n > 1] != [n for n in dims if n > 1]:
        raise InputError(
            f"{found.processes} blocks along the axes contradict comm, a Cartesian communicator "
            f"with dims {tuple(dims)}; leave processes and blocks out, or give a communicator "
            "without a topology, such as comm.Split()"
        )
