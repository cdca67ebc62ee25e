"""Which ghost values an earthquake needs of its neighbours: what the stencils read, and no more.

AWP-ODC exchanges velocities alone, in wider layers, and computes the stresses there twice. That
would cost more than it saves: on two H200 both exchanges of a step, hidden behind the interior, add
8 us to 2.82 ms; four more rows, at the rate of that run, take 5.5 us and save one of the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.messages import GhostField
from groundswell.exchange.pattern import Ghosts
from groundswell.exchange.traffic import traffic
from groundswell.grids.cartesian import GHOSTS, Field, Grid, Part
from groundswell.outputs.cartesian import ghosts_read
from groundswell.simulation.solver import DecompositionSummary
from groundswell.solvers.earthquake.interpolation import velocity_stencils
from groundswell.solvers.earthquake.sampling import recording

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.setup import Setup

NONE, FORWARD, BACKWARD = (0, 0), (1, 2), (2, 1)  # layers below and above that a difference reads

# Along x, y and z; see kernels/update.h.
READ = {
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
# Beside the free surface, kernels/surface.h takes slopes of row 0's szz along x and y.
ON_SURFACE = Ghosts(low=(0, 1, 1), high=(0, 0, 0), within=((0, 1), None, None))

# Rows beside a free surface that read those above it, which only the uppermost block has.
ROWS_AT_SURFACE = 3

VELOCITIES = ("vx", "vy", "vz")
Rows = tuple[int, int]
Layer = tuple[str, Ghosts]  # a field, and what is needed of it


def decompose_grid(setup: Setup, ranks: int) -> Decomposition:
    """How ranks share the grid, as the case wants it where it says so."""
    sides, processes = setup.periodic, setup.case.run.processes
    wanted = tuple(processes)[::-1] if processes else None
    least = (ROWS_AT_SURFACE if setup.free_surface else 1, 1, 1)
    return decompose(setup.grid.shape, ranks, (False, sides, sides), wanted, least)


def part_of(grid: Grid, cut: Decomposition, rank: int) -> Part:
    """The cells that a rank holds."""
    block = cut.block(rank)
    return Part.held(grid, block.start, block.shape)


def velocity_halo() -> list[Layer]:
    """What the stress update and the free surface read of velocities."""
    return [(name, _stencil_ghosts(name)) for name in VELOCITIES]


def stress_halo(setup: Setup, cut: Decomposition) -> list[Layer]:
    """What the velocity update and the free surface read of stresses, recorders of velocities."""
    found = [(name, _stencil_ghosts(name)) for name in READ if name not in VELOCITIES]
    if setup.free_surface:
        found.append(("szz", ON_SURFACE))
    if (recorded := recorded_halo(setup, cut)) is not None:
        found += [(name, recorded) for name in VELOCITIES]
    whole = recording(setup, Part.whole(setup.grid))
    return [*found, *ghosts_read(whole, setup.case.output.record, cut).items()]


def halo_fields(
    fields: Mapping[str, Field], layers: Sequence[Layer], narrow: str | None
) -> list[GhostField]:
    """The arrays behind the layers, and the type that their values are sent in."""
    return [GhostField(fields[n].array, fields[n].origin, ghosts, narrow) for n, ghosts in layers]


def summarize(setup: Setup, ranks: int) -> DecompositionSummary:
    """Blocks, bytes of each, and bytes from rank to rank in a step."""
    cut = decompose_grid(setup, ranks)
    layers = [*velocity_halo(), *stress_halo(setup, cut)]
    size = np.dtype(setup.dtype).itemsize
    memory = [setup.memory_of(part_of(setup.grid, cut, rank)) for rank in range(ranks)]
    sent = traffic(cut, [(ghosts, size) for _, ghosts in layers])
    return DecompositionSummary.of_blocks(cut, memory, sent)


def recorded_halo(setup: Setup, cut: Decomposition) -> Ghosts | None:
    """The velocities that recorders read across the sides of blocks, corners included.

    They are few rows as a rule, since most receivers stand on the surface.
    """
    rows = list(_rows_across(setup, cut))
    if not rows:
        return None
    first, last = min(r[0] for r in rows), max(r[1] for r in rows)
    edges = cut.edges[0][1:-1]
    deep = GHOSTS if any(a < edge < b for a, b in rows for edge in edges) else 0
    width = (deep, GHOSTS, GHOSTS)
    return Ghosts(width, width, corners=True, within=((first, last), None, None))


def _rows_across(setup: Setup, cut: Decomposition) -> Iterator[Rows]:
    """Depth rows (first, last + 1) that something reads of several blocks at once."""
    output, grid = setup.case.output, setup.grid
    top = grid.before[2]
    across = any(n > 1 for n in cut.processes[1:]) or setup.periodic
    deep = any(top - 1 < edge < top + 3 for edge in cut.edges[0][1:-1])
    if (output.surface or output.shaking_map) and (across or deep):
        yield top - 1, top + 3
    for receiver in setup.receivers:
        for stencil in velocity_stencils(grid, receiver.position, setup.free_surface):
            spans = [(n, n + 4) for n in stencil.first]
            if _crosses(spans, cut):
                yield spans[2]


def _crosses(spans: Sequence[Rows], cut: Decomposition) -> bool:
    """Whether a box of cells, spans (x, y, z), reaches into another block or around the grid."""
    axes = zip(spans[::-1], cut.edges, cut.shape, cut.periodic, strict=True)
    return any(
        any(a < edge < b for edge in edges[1:-1]) or (wraps and (a < 0 or b > n))
        for (a, b), edges, n, wraps in axes
    )


def _stencil_ghosts(name: str) -> Ghosts:
    low, high = zip(*READ[name][::-1], strict=True)
    return Ghosts(low, high)
