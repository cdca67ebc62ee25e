"""Detection of velocities that are not finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundswell.backends import Array, Cells
from groundswell.backends.base import Event
from groundswell.errors import RunFailed
from groundswell.solvers.earthquake.halo import VELOCITIES

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.solver import Earthquake


class FiniteCheck:
    """Searches the velocities of one rank, on the device, for values that are not finite.

    Attributes:
        launches: the launches of the search.
    """

    def __init__(self, solver: Earthquake) -> None:
        self._solver, backend, part = solver, solver.backend, solver.part
        self._velocities = {name: solver.fields[name].interior for name in VELOCITIES}
        self._found = backend.to_device(np.array([-1], np.int64))
        self.launches = [
            solver.module.launch("find_nonfinite", Cells(*part.cells), field, self._found)
            for field in self._velocities.values()
        ]

    def check(self, steps: int, after: Event | None = None) -> None:
        """Read the result of the last search, or of the last one before the event `after`.

        Args:
            steps: number of steps that have been enqueued.

        Raises:
            RunFailed: a value is not finite; names the field, the position and the time.
        """
        solver, part = self._solver, self._solver.part
        offset = int(solver.backend.to_host(self._found, after)[0])
        if offset < 0:
            return
        k, rest = divmod(offset, solver.layout.plane)
        j, i = divmod(rest, solver.layout.row)
        cells = np.add((i, j, k), part.start) - part.grid.before
        axes = zip(("x", "y", "depth"), cells, part.grid.spacing, strict=True)
        position = ", ".join(f"{axis} = {(n + 0.5) * h:.6g} m" for axis, n, h in axes)
        names = [
            name for name, field in self._velocities.items() if not self._is_finite(field, k, j, i)
        ]
        raise RunFailed(
            f"{', '.join(names) or 'a velocity'} is not finite at {position}, at or "
            f"before t = {solver.time(steps):.6g} s (step {steps}): the run is unstable or its "
            "input is bad"
        )

    def _is_finite(self, field: Array, k: int, j: int, i: int) -> bool:
        value = self._solver.backend.to_host(field[k : k + 1, j : j + 1, i : i + 1])
        return bool(np.isfinite(value).all())
