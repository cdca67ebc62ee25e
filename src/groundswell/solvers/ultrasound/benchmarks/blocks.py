"""Equal blocks of a grid, one on each rank, and the propagation of sound on one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend
from groundswell.bench.exchange.links import most_even
from groundswell.bench.rig import Rig
from groundswell.exchange.decomposition import Decomposition, process_grids
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import Ghosts
from groundswell.exchange.halo import HaloExchange
from groundswell.grids.cartesian import Grid, Triple
from groundswell.solvers.ultrasound.api import build_case
from groundswell.solvers.ultrasound.fast_sizes import prime_factors
from groundswell.solvers.ultrasound.media.case import PROPERTIES
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import AbsorbingLayers, SpectralOperators
from groundswell.solvers.ultrasound.overlaps import ExchangeOverlaps
from groundswell.solvers.ultrasound.propagation import Propagation
from groundswell.solvers.ultrasound.setup import Setup
from groundswell.solvers.ultrasound.window import Window

LOSSLESS, LOSSY = "lossless", "absorbing, nonlinear"
PHYSICS = {
    LOSSLESS: {"speed": 1540.0, "density": 1000.0},
    LOSSY: {"speed": 1540.0, "density": 1000.0}
    | {"absorption": 0.5, "power": 1.5, "nonlinearity": 6.0},
}  # sections [medium]
VARIATION = 0.1  # of properties
PRESSURE = 1e5  # Pa
SPACING, COURANT = 2e-4, 0.3
LAYERS = AbsorbingLayers((10, 10, 10), (10, 10, 10))
EIGHT = 8  # ranks of the domains of Vaverka et al.
CUTS = ("1-D", "3-D")


# --- a propagation --------------------------------------------------------------------------------


def small_setup(physics: str, *, varying: bool) -> Setup:
    """A small case; its medium is uniform, or an array with one value per point if `varying`."""
    shape = (16, 16, 16)
    medium: dict[str, Any] = dict(PHYSICS[physics])
    if varying:
        factor = np.linspace(1, 1 + VARIATION, np.prod(shape)).reshape(shape)
        medium |= {name: value * factor for name, value in medium.items() if name in PROPERTIES}
    case = build_case(medium, initial=np.ones(shape), spacing=SPACING, duration=1e-6)
    return Setup(case)


def medium_of(physics: str, window: Window) -> AcousticMedium:
    """A medium that varies smoothly, at the points of a window."""
    uniform = small_setup(physics, varying=False).medium
    factor = 1 + np.float32(VARIATION) * _waves(window, 3)
    values = {name: getattr(uniform, name) for name in PROPERTIES}
    return replace(uniform, **{name: value * factor for name, value in values.items() if value})


def _waves(window: Window, periods: int) -> NDArray[np.float32]:
    """A smooth periodic function from -1 to 1 at the points of a window, (nz, ny, nx)."""
    x, y, z = (
        np.sin(2 * np.pi * periods / window.whole[axis] * window.indices(axis)).astype(np.float32)
        for axis in range(3)
    )
    return np.asarray((z[:, None, None] + y[:, None] + x) / np.float32(3))


def propagation_on(backend: Backend, physics: str, window: Window) -> Propagation:
    """The propagation of sound in a heterogeneous medium, in single precision."""
    fastest = PHYSICS[physics]["speed"] * (1 + VARIATION)
    grid, dt = Grid(window.extended, (SPACING,) * 3), COURANT * SPACING / fastest
    operators = SpectralOperators(grid, dt, fastest, LAYERS, window)
    propagation = Propagation(backend, operators, medium_of(physics, window))
    propagation.start(np.float32(PRESSURE) * _waves(window, 5))
    return propagation


# --- blocks ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Blocks:
    """Equal blocks of a periodic grid, one on each rank.

    Args:
        cells: number of points of a block (x, y, z).
        processes: number of blocks along each axis.
        overlap: number of points on either side of a block along each axis.
    """

    cells: Triple
    processes: Triple
    overlap: Triple

    @property
    def whole(self) -> Triple:
        """Number of points of the grid."""
        x, y, z = (n * blocks for n, blocks in zip(self.cells, self.processes, strict=True))
        return x, y, z

    @property
    def extended(self) -> Triple:
        """Number of points that a rank transforms."""
        return self.window(0).extended

    @property
    def largest_factor(self) -> int:
        """The largest prime factor of the numbers in `extended`."""
        return max(max(prime_factors(n)) for n in self.extended)

    @property
    def decomposition(self) -> Decomposition:
        """Which rank has which block."""
        return Decomposition(self.whole[::-1], self.processes[::-1], (True, True, True))

    def window(self, rank: int) -> Window:
        """The points that a rank transforms."""
        z, y, x = self.decomposition.block(rank).start
        return Window(self.whole, (x, y, z), self.cells, self.overlap)


def blocks_of_eight(edge: int, cut: str, overlap: int, ranks: int) -> Blocks:
    """Blocks as large as those of a cube that eight ranks share, cut along z or along three axes.

    Blocks cut along three axes have overlaps along all of them, on any number of ranks.
    """
    if cut == "1-D":
        return Blocks((edge, edge, edge // EIGHT), (1, 1, ranks), (0, 0, overlap))
    return Blocks((edge // 2,) * 3, even_grid(ranks), (overlap,) * 3)


def even_grid(ranks: int) -> Triple:
    """The most even process grid along x, y and z."""
    z, y, x = most_even(process_grids(ranks, 3))
    return x, y, z


class Overlaps:
    """The exchanges in a step of a propagation; their transport can be changed.

    Args:
        rig: the ranks.
        blocks: their blocks.
        propagation: the propagation on this rank's block.
    """

    def __init__(self, rig: Rig, blocks: Blocks, propagation: Propagation) -> None:
        self._rig, self._blocks, self._propagation = rig, blocks, propagation
        self._transport = "auto"
        self.exchanges: list[HaloExchange] = []

    def connect(self, transport: str) -> None:
        """Exchange by a transport; all ranks must call it."""
        self._transport = transport
        self._propagation.set_exchange(ExchangeOverlaps(self._blocks.overlap, self._exchange))

    def _exchange(self, ghosts: Sequence[Ghosts], arrays: Sequence[DeviceArray]) -> HaloExchange:
        rig, width = self._rig, self._blocks.overlap[::-1]
        fields = [GhostField(array, width, g) for array, g in zip(arrays, ghosts, strict=True)]
        cut = self._blocks.decomposition
        exchange = HaloExchange(rig.backend, rig.comm, cut, fields, transport=self._transport)
        self.exchanges.append(exchange)
        return exchange

    def close(self) -> None:
        """Close the exchanges of `connect`; all ranks must call it."""
        for exchange in self.exchanges:
            exchange.check()
            exchange.close()
        self.exchanges = []
