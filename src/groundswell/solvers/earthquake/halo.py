"""Halo of the earthquake solver: the ghost values that the stencils read, and no more.

AWP-ODC exchanges only velocities, in wider layers, and computes the stresses there redundantly.
Here that would cost more than it saves. On two H200, both exchanges of a step, overlapped with the
interior, add 8 us to 2.82 ms. Four more rows, at the throughput of that run, take 5.5 us and save
one of the two exchanges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import Ghosts
from groundswell.grids.cartesian import GHOSTS, Field, Part
from groundswell.outputs.recording_ghosts import ghosts_read
from groundswell.seismology.faults.labels import fault_label
from groundswell.solvers.earthquake.faults.ranks import beside_faults
from groundswell.solvers.earthquake.plasticity.soil_ranks import (
    BELOW,
    beside_layers,
    soil_named,
    velocity_ghosts,
)

if TYPE_CHECKING:
    from groundswell.seismology.receivers import Station
    from groundswell.solvers.earthquake.case import EarthquakeOutput
    from groundswell.solvers.earthquake.ground import Ground
    from groundswell.solvers.earthquake.plasticity.soil_layer import SoilLayer
    from groundswell.solvers.earthquake.setup import Setup

NONE, FORWARD, BACKWARD = (0, 0), (1, 2), (2, 1)  # ghost layers below and above

# Differences of each field along x, y and z; see kernels/update.h.
DIFFERENCES = {
    "vx": (FORWARD, BACKWARD, BACKWARD),
    "vy": (BACKWARD, FORWARD, BACKWARD),
    "vz": (BACKWARD, BACKWARD, FORWARD),
    "sxx": (BACKWARD, NONE, NONE),
    "syy": (NONE, BACKWARD, NONE),
    "szz": (NONE, NONE, BACKWARD),
    "sxy": (FORWARD, FORWARD, NONE),
    "sxz": (FORWARD, NONE, FORWARD),
    "syz": (NONE, FORWARD, FORWARD),
}
# At the free surface, kernels/surface.h takes differences of szz in row 0 along x and y.
ON_SURFACE = Ghosts(low=(0, 1, 1), high=(0, 0, 0), within=((0, 1), None, None))

# Rows below a free surface whose stencils reach above it, where only the topmost block has values.
ROWS_AT_SURFACE = 3

VELOCITIES = ("vx", "vy", "vz")
GhostLayers = tuple[str, Ghosts]  # name of a field, ghost layers that are read


def decompose_grid(setup: Setup, ranks: int) -> Decomposition:
    """The decomposition of the grid, (z, y, x), into `ranks` blocks.

    Raises:
        InputError: the grid is too small for this number of ranks, or blocks would end at a fault.
    """
    ground, processes = setup.ground, setup.case.run.processes
    periodic = (False, ground.periodic, ground.periodic)
    rows = ROWS_AT_SURFACE if ground.free_surface else 1
    if ground.soil:
        rows = max(rows, ground.soil.end + BELOW)
    wanted = tuple(processes)[::-1] if processes else None
    with soil_named(ground.soil):
        found = decompose(ground.grid.shape, ranks, periodic, wanted, (rows, 1, 1))
    found = beside_layers(found, ground.soil)
    faults = {fault_label(n, fault.name): fault.plane for n, fault in enumerate(setup.faults)}
    return beside_faults(found, faults)


def velocity_halo(soil: SoilLayer | None) -> list[GhostLayers]:
    """Velocities that the stress update, the free surface and soft soil read."""
    layers = [(name, _stencil_ghosts(name)) for name in VELOCITIES]
    return layers + ([(name, velocity_ghosts(soil)) for name in VELOCITIES] if soil else [])


def stress_halo(setup: Setup, decomposition: Decomposition) -> list[GhostLayers]:
    """Stresses that the velocity update and the free surface read; velocities that outputs read."""
    layers = [(name, _stencil_ghosts(name)) for name in DIFFERENCES if name not in VELOCITIES]
    if setup.ground.free_surface:
        layers.append(("szz", ON_SURFACE))
    output = setup.case.output
    rows = [*_rows_across(output, setup.survey.receivers, setup.ground, decomposition)]
    if rows:
        layers += [(name, _recorded_ghosts(rows, decomposition)) for name in VELOCITIES]
    records = ghosts_read(setup.recording(Part.whole(setup.grid)), output.record, decomposition)
    return [*layers, *records.items()]


def unrelaxed_halo() -> list[GhostLayers]:
    """Stresses that the yield condition reads, also in the ghosts before a block.

    See kernels/plasticity.h.
    """
    return [
        *((name, Ghosts((1, 1, 1), (0, 0, 0), corners=True)) for name in ("sxx", "syy", "szz")),
        *((name, Ghosts((1, 1, 1), (1, 1, 1), corners=True)) for name in ("sxy", "sxz", "syz")),
    ]


def halo_fields(
    fields: Mapping[str, Field], layers: Sequence[GhostLayers], narrow: str | None
) -> list[GhostField]:
    """The ghost layers with their arrays; `narrow` is the type in which values are sent."""
    return [GhostField(fields[n].array, fields[n].origin, ghosts, narrow) for n, ghosts in layers]


def _recorded_ghosts(rows: Sequence[tuple[int, int]], decomposition: Decomposition) -> Ghosts:
    """Ghosts of the velocities that outputs read across block boundaries, in these depth rows.

    They usually span few rows, since most receivers lie on the surface.
    """
    first, last = min(r[0] for r in rows), max(r[1] for r in rows)
    edges = decomposition.edges[0][1:-1]
    deep = GHOSTS if any(a < edge < b for a, b in rows for edge in edges) else 0
    width = (deep, GHOSTS, GHOSTS)
    return Ghosts(width, width, corners=True, within=((first, last), None, None))


def _rows_across(
    output: EarthquakeOutput,
    receivers: Sequence[Station],
    ground: Ground,
    decomposition: Decomposition,
) -> Iterator[tuple[int, int]]:
    """Yield the depth rows (first, last + 1) that an output reads from several blocks at once."""
    top = ground.grid.before[2]
    across = any(n > 1 for n in decomposition.processes[1:]) or ground.periodic
    deep = any(top - 1 < edge < top + 3 for edge in decomposition.edges[0][1:-1])
    maps = output.shaking_map or (output.intensity and output.intensity.maps)
    if (output.surface or maps) and (across or deep):
        yield top - 1, top + 3
    for receiver in receivers:
        for stencil in ground.interpolation.velocity_stencils(receiver.position):
            spans = [(n, n + 4) for n in stencil.first]
            if _crosses(spans, decomposition):
                yield spans[2]


def _crosses(spans: Sequence[tuple[int, int]], decomposition: Decomposition) -> bool:
    """Whether a box of cells, spans (x, y, z), crosses a block boundary or a periodic side."""
    d = decomposition
    axes = zip(spans[::-1], d.edges, d.shape, d.periodic, strict=True)
    return any(
        any(a < edge < b for edge in edges[1:-1]) or (wraps and (a < 0 or b > n))
        for (a, b), edges, n, wraps in axes
    )


def _stencil_ghosts(name: str) -> Ghosts:
    low, high = zip(*DIFFERENCES[name][::-1], strict=True)
    return Ghosts(low, high)
