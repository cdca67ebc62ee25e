"""Measures the optimisations of Xue & Roy (2020), on every transport and process grid.

The benchmark exchanges the fields of a buoyancy-driven cavity with walls: five in double precision
(pressure, three velocities, temperature). The paper's axes are i (fastest), j and k; Groundswell's
arrays have the slowest axis first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from groundswell.arrays import DeviceArray
from groundswell.bench.exchange.links import grids
from groundswell.bench.rig import Rig
from groundswell.bench.tables import Row
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import uniform
from groundswell_rivals.exchange.versions import VERSIONS, Version, VersionExchange

FIELDS = 5
WIDTHS = (2, 1, 1, 1, 1)  # ghost layers that the stencils of the fields read
WIDEST = 2


def measure_versions(rig: Rig, edge: int) -> Iterator[Row]:
    """Measure every version on every process grid and transport.

    Args:
        edge: points along an edge of the cavity, which all ranks share.

    Yields:
        Rows: `grid` (processes along i, j, k, as the paper writes them), `version`, `transport`,
        `seconds`, and `sent`: the largest number of bytes that a rank sends.
    """
    for processes in grids(rig.comm.size):
        decomposition = Decomposition((edge,) * 3, processes, (False,) * 3)
        arrays = allocate(rig, decomposition)
        for version in VERSIONS.values():
            for transport in rig.transports:
                make = partial(version_exchange, rig, transport, decomposition, arrays, version)
                if row := rig.exchange(transport, make):
                    yield {"grid": processes[::-1], "version": version.name} | row


def allocate(rig: Rig, decomposition: Decomposition) -> list[DeviceArray]:
    """This rank's part of the five fields."""
    shape = tuple(n + 2 * WIDEST for n in decomposition.block(rig.comm.rank).shape)
    return [rig.filled(shape, "float64") for _ in range(FIELDS)]


def version_exchange(
    rig: Rig,
    transport: str,
    decomposition: Decomposition,
    arrays: Sequence[DeviceArray],
    version: Version,
) -> VersionExchange:
    """The exchange of one version of the paper."""
    fields = [
        GhostField(array, (WIDEST,) * 3, uniform(width))
        for array, width in zip(arrays, WIDTHS, strict=True)
    ]
    return VersionExchange(
        version, rig.backend, rig.comm, decomposition, fields, transport=transport
    )
