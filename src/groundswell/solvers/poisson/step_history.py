"""How steps in time went: a row for each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.formats.text import write_table


class StepRow(NamedTuple):
    """What is kept of a step.

    Args:
        time: at its end, s.
        iterations: of all its solutions.
        residual: norm of the largest residual that they left.
        converged: 1 if all met the tolerance, else 0.
        smallest, largest: u at its end.
        mean: of u, weighted by capacity.
    """

    time: float
    iterations: float
    residual: float
    converged: float
    smallest: float
    largest: float
    mean: float


class StepTable:
    """A row of numbers for each step in time, of which the first is the time at its end.

    Attributes:
        rows: (steps, columns). They are on the device, so that checkpoints include them. Unused
            rows are zero.
    """

    def __init__(self, backend: Backend, steps: int, columns: int) -> None:
        self._backend = backend
        self.rows = backend.zeros((steps, columns), np.float64)

    def clear(self) -> None:
        """Begin again."""
        self._backend.assign(self.rows, np.zeros(self.rows.shape))

    def append(self, step: int, row: Sequence[float]) -> None:
        """Store a step, counted from 1."""
        self._backend.assign(self.rows[step - 1 : step], np.array([row]))

    def read(self) -> Floats:
        """The rows so far."""
        rows = np.asarray(self._backend.to_host(self.rows))
        return rows[rows[:, 0] > 0]


class StepHistory(StepTable):
    """How each step went: a `StepRow` of each."""

    def __init__(self, backend: Backend, steps: int) -> None:
        super().__init__(backend, steps, len(StepRow._fields))

    @property
    def steps(self) -> int:
        """Number of steps so far."""
        return len(self.read())

    @property
    def missed(self) -> int:
        """Number of steps that missed the tolerance."""
        return int((self.column("converged") == 0).sum())

    def column(self, name: str) -> Floats:
        """A column of the steps so far."""
        return self.read()[:, StepRow._fields.index(name)]

    def convergence(self) -> dict[str, object]:
        """The end of the run, the iterations of all steps, and how many missed the tolerance."""
        rows = self.read()
        last = {name: float(rows[-1, n]) for n, name in enumerate(StepRow._fields)}
        iterations = int(self.column("iterations").sum())
        return {
            "time": last["time"],
            "iterations": iterations,
            "converged": self.missed == 0,
            "residual": last["residual"],
            "mean": last["mean"],
        }

    def write(self, folder: Path) -> Path:
        """Write `history.csv`."""
        return write_table(
            folder / "history.csv", dict(zip(StepRow._fields, self.read().T, strict=True))
        )
