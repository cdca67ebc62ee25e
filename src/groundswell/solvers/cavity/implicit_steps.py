"""Implicit steps to a steady flow, for flows that are nearly unstable.

Steps that differ from point to point distort the motion of a flow: waves that decay in time may
grow in the iteration. An implicit Euler step damps them. As in flow in time, its new values are
part of the rates of change on all grids, and its old values are a forcing on the finest one in use.
"""

from __future__ import annotations

from collections.abc import Callable

from groundswell.backends import Backend, Cells, Launch, Source
from groundswell.backends.source import precision
from groundswell.solvers.cavity.case import FIELDS
from groundswell.solvers.cavity.level import Level
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.level_kernels import KERNELS

# A step ends when its residual is this fraction of that of its old values, or after so many cycles.
# Smaller fractions do not change how the steps approach the steady flow.
FRACTION, MAX_CYCLES = 0.5, 20


class ImplicitSteps:
    """Implicit steps, if the finest grid makes them."""

    def __init__(self, backend: Backend, finest: LevelGrid) -> None:
        self._module = None
        if finest.is_implicit:
            constants = precision(finest.dtype) | {"INERTIA": finest.inertia}
            self._module = backend.compile(Source(KERNELS / "time_step.h", constants))

    @property
    def is_used(self) -> bool:
        """Whether steps are implicit."""
        return self._module is not None

    def iterate(self, cycle: Launch, residual: Callable[[], float]) -> int:
        """Make the cycles of a step, and return their number.

        Args:
            residual: measures the step's residual.
        """
        made, wanted = 0, FRACTION * residual()
        while made == 0 or (residual() > wanted and made < MAX_CYCLES):
            cycle()
            made += 1
        return made

    def begin(self, level: Level) -> list[Launch]:
        """The launches after which the present values of a grid are the old ones of a step."""
        return [] if self._module is None else [self._keep(level, name) for name in FIELDS]

    def _keep(self, level: Level, name: str) -> Launch:
        assert self._module is not None
        cells, layout = level.part.cells, level.layout
        return self._module.launch(
            "begin_implicit_step",
            Cells(*cells),
            now=level.copies[0][name].interior,
            forcing=level.forcing[name].interior,
            is_carried=int(name != "p"),
            row=layout.row,
            plane=layout.plane,
            **dict(zip(("nx", "ny", "nz"), cells, strict=True)),
        )
