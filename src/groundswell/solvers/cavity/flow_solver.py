"""What solvers of steady and of unsteady flow share: the grids and the exchange between ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends import Backend, Launch
from groundswell.case.quantities import Quantity
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.tuning import Choice
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.simulation.exchanging import ExchangingSolver
from groundswell.solvers.cavity.check import remedy
from groundswell.solvers.cavity.decomposition import divide_grids
from groundswell.solvers.cavity.level import Level
from groundswell.solvers.cavity.multigrid import Cycles, GridTransfer
from groundswell.solvers.cavity.outputs import Outputs
from groundswell.solvers.cavity.setup import Setup


class FlowSolver(ExchangingSolver):
    """One rank's part of the grids of a flow.

    Args:
        comm: the ranks that share the grid.

    Attributes:
        levels: the grids, finest first.
        cycles: through these grids.
    """

    outputs: Outputs

    def __init__(self, setup: Setup, backend: Backend, comm: Communicator | None = None) -> None:
        self.setup, self.backend, self.comm = setup, backend, comm or SerialCommunicator()
        self.choice = self.first_choice()
        self._divisions = divide_grids(setup.grids, self.comm.size, setup.exchange_points)
        self.decomposition = self._divisions[0].held
        grids = zip(setup.grids, self._divisions, self._choices, strict=True)
        self.levels = [
            Level(grid, backend, self.comm, division.held, choice, setup.sweeps)
            for grid, division, choice in grids
        ]

    def initialize(self) -> None:
        """Prepare the first step from the present state, initial or restored."""
        raise NotImplementedError

    def not_finite(self, step: int, grid: int) -> str:
        """The message for a flow that diverges on a grid: which fields are infinite or NaN."""
        level = self.levels[grid]
        values = {n: self.backend.to_host(f.interior) for n, f in level.copies[0].items()}
        bad = [name for name, field in values.items() if not np.isfinite(field).all()]
        return (
            f"the flow grows without bounds at step {step}"
            + f" ({', '.join(bad)} on rank {self.comm.rank} not finite)" * bool(bad)
            + f": the run is unstable; {remedy(self.setup.finest)}"
        )

    # --- ranks ------------------------------------------------------------------------------------

    def _connect(self) -> None:
        blocks = [division.restricted for division in self._divisions]
        grids = zip(self.levels, self.levels[1:], blocks[1:], strict=False)
        self._transfers = [GridTransfer(*pair_and_blocks) for pair_and_blocks in grids]
        owners: list[Level | GridTransfer] = [*self.levels, *self._transfers]
        self.exchanges = [exchange for owner in owners for exchange in owner.exchanges]
        levels = self.levels, self._transfers
        self.cycles = Cycles(*levels, in_graph=self._exchanges_in_graph)

    @property
    def _choices(self) -> list[Choice]:
        """How ranks exchange the ghosts of each grid: at the side of sweeps that take longer."""
        return [
            replace(self.choice, overlap=self.choice.overlap and division.hides_exchange)
            for division in self._divisions
        ]

    def set_exchange(self, choice: Choice) -> None:
        """Change how ghosts are exchanged; collective."""
        self.close()
        self.choice = choice
        for level, of_level in zip(self.levels, self._choices, strict=True):
            level.set_exchange(of_level)
        self._connect()
        self.initialize()

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank sends in a step, or in a cycle through all grids."""
        swept = zip(self.levels, self.setup.cycle(), strict=True)
        return sum(n * level.bytes_sent for level, n in swept) * len(self.setup.scheme.stages)

    @property
    def exchanged(self) -> tuple[object, ...]:
        """The scheme."""
        return (self.setup.scheme,)

    def timed_step(self) -> list[Launch]:
        """Steps on the finest grid."""
        return self.levels[0].steps(self.setup.scheme.steps_per_cycle)

    def array_names(self) -> dict[str, DeviceArray]:
        """The arrays of all grids by name; those of the finest have no prefix."""
        names: dict[str, DeviceArray] = {}
        for n, level in enumerate(self.levels):
            prefix = f"grid{n}." if n else ""
            names |= {f"{prefix}{name}": array for name, array in level.named_arrays().items()}
        return names

    @property
    def findings(self) -> Sequence[Quantity]:
        """Nusselt numbers, the energy balance and peak speeds."""
        return self.outputs.findings

    # --- fields -----------------------------------------------------------------------------------

    def distributed_fields(self) -> dict[str, DistributedArray]:
        """Pressure, velocity and temperature (less the neutral one) on the finest grid."""
        level = self.levels[0]
        return {
            name: DistributedArray.of_region(field.interior, level.part)
            for name, field in level.copies[0].items()
        }

    def less_neutral(self, values: dict[str, HostArray]) -> dict[str, HostArray]:
        """Fields with the temperature, given in K, less the neutral one."""
        shifted = {"T": values["T"] - self.setup.fluid.neutral} if "T" in values else {}
        return {**values, **shifted}

    def snapshot(self, name: str) -> HostArray:
        """A host copy of a field on this rank's part of the finest grid, (nz, ny, nx)."""
        field = self.backend.to_host(self.levels[0].copies[0][name].interior)
        return field + field.dtype.type(self.setup.fluid.neutral) if name == "T" else field
