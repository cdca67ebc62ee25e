"""Detection of velocities that are not finite."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from groundswell.backends import Array, Backend, Cells, Module
from groundswell.backends.base import Event
from groundswell.errors import RunFailed
from groundswell.grids.cartesian import Layout, Part
from groundswell.solvers.earthquake.setup import Setup


class FiniteCheck:
    """Searches the velocities of one rank, on the device, for values that are not finite.

    Args:
        velocities: interior (nz, ny, nx) of each velocity field, by name.

    Attributes:
        launches: the launches of the search.
    """

    def __init__(
        self,
        setup: Setup,
        backend: Backend,
        module: Module,
        part: Part,
        layout: Layout,
        velocities: Mapping[str, Array],
    ) -> None:
        self._setup, self._backend, self._part, self._layout = setup, backend, part, layout
        self._velocities = velocities
        self._found = backend.to_device(np.array([-1], np.int64))
        self.launches = [
            module.launch("find_nonfinite", Cells(*part.cells), field, self._found)
            for field in velocities.values()
        ]

    def check(self, steps: int, after: Event | None = None) -> None:
        """Read the result of the last search, or of the last one before the event `after`.

        Args:
            steps: number of steps that have been enqueued.

        Raises:
            RunFailed: a value is not finite; names the field, the position and the time.
        """
        offset = int(self._backend.to_host(self._found, after)[0])
        if offset < 0:
            return
        k, rest = divmod(offset, self._layout.plane)
        j, i = divmod(rest, self._layout.row)
        names = [
            name for name, field in self._velocities.items() if not self._is_finite(field, k, j, i)
        ]
        raise RunFailed(
            f"{', '.join(names) or 'a velocity'} is not finite at {self._position(i, j, k)}, at or "
            f"before t = {steps * self._setup.dt:.6g} s (step {steps}): the run is unstable or its "
            "input is bad"
        )

    def _position(self, i: int, j: int, k: int) -> str:
        cells = np.add((i, j, k), self._part.start) - self._part.grid.before
        axes = zip(("x", "y", "depth"), cells, self._part.grid.spacing, strict=True)
        return ", ".join(f"{axis} = {(n + 0.5) * h:.6g} m" for axis, n, h in axes)

    def _is_finite(self, field: Array, k: int, j: int, i: int) -> bool:
        value = self._backend.to_host(field[k : k + 1, j : j + 1, i : i + 1])
        return bool(np.isfinite(value).all())
