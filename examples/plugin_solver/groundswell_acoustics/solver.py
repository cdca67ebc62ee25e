"""One rank's part of the waves: second-order differences and leapfrog steps."""

from __future__ import annotations

from pathlib import Path

from groundswell.backends import Cells, Launch, Source
from groundswell.backends.base import in_order
from groundswell.backends.source import precision
from groundswell.exchange.decomposition import Block
from groundswell.simulation.blocks import BlockSolver

KERNELS = Path(__file__).parent / "kernels" / "wave.h"
KERNEL_GROUPS = {"update_p": "pressure", "update_q": "rate of pressure"}


class Acoustics(BlockSolver):
    """Pressure p and its rate of change q; `step` advances them by `setup.dt`."""

    def source(self) -> Source:
        """The kernels, with the sizes of this rank's block."""
        setup = self.setup
        weight = setup.case.medium.speed**2 * setup.dt / setup.case.grid.spacing**2
        parameters = {**self.layout.parameters(), "DT": setup.dt, "WEIGHT": weight}
        generic = self.layout.is_short_run(setup.steps)
        return Source(KERNELS, precision(setup.dtype), parameters, generic=generic)

    def start(self) -> None:
        """Fluid at rest; q belongs to half a step before."""
        self.fill("p", self.setup.pressure(*(self.part.indices(axis) for axis in range(3))))
        in_order([*self.exchange(), self._update_q()])()
        self.fill("q", self.backend.to_host(self.interior("q")) / -2)

    def compose(self) -> list[Launch]:
        """A step: q, then p; the exchange of p overlaps with the update of the interior."""
        return [self._update_q(), *self.update_and_exchange(self._update_p)]

    def _update_q(self) -> Launch:
        extent = Cells(*self.part.cells)
        return self.module.launch("update_q", extent, self.interior("q"), self.interior("p"))

    def _update_p(self, box: Block) -> Launch:
        p, q, cells = self.interior("p", box), self.interior("q", box), box.shape[::-1]
        return self.module.launch("update_p", Cells(*cells), p, q, *cells)
