"""What a flow does in time, step by step: heat through walls, and how the iteration went."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.formats.text import write_table
from groundswell.solvers.cavity.level import Level
from groundswell.solvers.cavity.setup import Setup
from groundswell.solvers.cavity.wall_heat import mean_nusselt

COLUMNS = ("time", "cycles", "residual", "nusselt_hot", "nusselt_cold")


class StepHistory:
    """One row for each step in time.

    Attributes:
        rows: the columns of COLUMNS, (steps, 5). They are on the device, so that checkpoints
            include them. Unused rows are zero.
    """

    def __init__(self, backend: Backend, setup: Setup, comm: Communicator) -> None:
        self._backend, self._setup, self._comm = backend, setup, comm
        self.rows = backend.zeros((setup.steps, len(COLUMNS)), np.float64)

    def append(self, step: int, cycles: int, residual: float, finest: Level) -> None:
        """Store a step, counted from 1."""
        heat = mean_nusselt(finest, self._comm)
        row = [step * self._setup.dt, cycles, residual, *heat]
        self._backend.assign(self.rows[step - 1 : step], np.array([row]))

    @property
    def steps(self) -> int:
        """Number of steps so far."""
        return len(self.read())

    def read(self) -> Floats:
        """The rows so far."""
        rows = self._backend.to_host(self.rows)
        return rows[rows[:, 0] > 0]

    def convergence(self) -> dict[str, object]:
        """The last step's residual, and how many steps missed the tolerance."""
        rows = self.read()
        missed = int((rows[:, 2] > self._setup.tolerance).sum())
        last = {"time": float(rows[-1, 0]), "residual": float(rows[-1, 2])} if len(rows) else {}
        return {**last, "steps_above_tolerance": missed}

    def write(self, folder: Path) -> Path:
        """Write `history.csv`; Nusselt numbers only where there are a hot and a cold wall."""
        columns = dict(zip(COLUMNS, self.read().T, strict=True))
        if self._setup.scales.heat is None:
            columns = {n: values for n, values in columns.items() if not n.startswith("nusselt")}
        return write_table(folder / "history.csv", columns)
