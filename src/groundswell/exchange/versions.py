"""The versions of an exchange that Xue & Roy (2020) compare, in terms of our options.

"Multi-GPU Performance Optimization of a CFD Code using OpenACC on Different Platforms", section
4.5: how a code for CPUs is ported to GPUs, and what was then done about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from groundswell.backends import Backend, Launch
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.exchange import Exchange
from groundswell.exchange.messages import GhostField
from groundswell.exchange.pattern import Ghosts
from groundswell.exchange.world import World

AXES = (0, 1, 2)  # k, j, i of the paper
FAST = (2,)


@dataclass(frozen=True)
class Version:
    """One version.

    Args:
        name: that the paper gives it.
        alike: whether all fields send as many layers as the one that needs most.
        packed: axes whose faces one kernel packs, all fields in one message (`packing="kernel"`,
            `aggregate=True`). Faces of other axes are copied by themselves, a field at a time, with
            strided copies of the library and a message each (`packing="copies"`,
            `aggregate=False`); with "mpi" these copies go straight to the host and back.
    """

    name: str
    alike: bool
    packed: tuple[int, ...]


VERSIONS = {
    "baseline": Version("Baseline", True, ()),  # no buffers, one stencil for all
    "v1": Version("V1", True, FAST),  # buffers where memory is least contiguous
    "v2": Version("V2", False, FAST),  # and as many layers as a field's own stencil reads
    "v3": Version("V3", False, AXES),  # and buffers on all axes
}


def exchanges(
    backend: Backend,
    world: World,
    cut: Decomposition,
    fields: Sequence[GhostField],
    version: Version,
    transport: str,
) -> list[Exchange]:
    """What a version exchanges each time: faces that are packed, and the others.

    Transports that store straight into the neighbour's memory have no buffers to be packed: on
    these, versions differ in the layers and in the number of messages alone.

    Raises:
        InputError, BackendError: see `Exchange`.
    """
    used = [axis for axis in AXES if cut.processes[axis] > 1 or cut.periodic[axis]] or [0]
    parts = [
        ([axis for axis in used if axis in version.packed], "kernel"),
        ([axis for axis in used if axis not in version.packed], "copies"),
    ]
    return [
        Exchange(
            backend,
            world,
            cut,
            _along(axes, fields, version),
            transport=transport,
            packing=packing,
            aggregate=packing == "kernel",
        )
        for axes, packing in parts
        if axes
    ]


def together(exchanges: Sequence[Exchange]) -> list[Launch]:
    """One exchange, or all sends of several and then all receives."""
    if len(exchanges) == 1:
        return exchanges[0].launches
    sends = [launch for exchange in exchanges for launch in exchange.send]
    return sends + [launch for exchange in exchanges for launch in exchange.receive]


def _along(axes: Sequence[int], fields: Sequence[GhostField], version: Version) -> list[GhostField]:
    """The fields with ghosts on these axes only."""
    found = []
    for field in fields:
        wanted = fields if version.alike else [field]
        low, high = (
            tuple(
                max(getattr(f.ghosts, side)[axis] for f in wanted) if axis in axes else 0
                for axis in AXES
            )
            for side in ("low", "high")
        )
        found.append(replace(field, ghosts=Ghosts(low, high)))
    return found
