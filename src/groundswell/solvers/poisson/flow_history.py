"""Flows through sides by time, and what has flowed in, which balances what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.formats.netcdf import Variable, create_netcdf
from groundswell.solvers.poisson.step_history import StepTable
from groundswell.solvers.poisson.time_scheme import KEPT

FLOW = "what flows in: the integral of k du/dn"
HEAT = "what has flowed in since time 0"
# Cases give u a unit, but not the coefficients; of heat, flows are in W and totals in J.
UNITS = {"units": "1", "comment": "in the units of the case's coefficients and of u"}


class FlowTotals:
    """What has flowed in since time 0, by the scheme of u itself.

    So what has flowed in through all sides and from the source is the change of what is stored,
    exactly but for the residuals, whatever the step.

    Args:
        flows: how many there are.
        leading: a0 of the scheme.
        dt: the step, s.
    """

    def __init__(self, flows: int, leading: float, dt: float) -> None:
        self._leading, self._dt = leading, dt
        self._earlier, self._base = np.zeros((KEPT, flows)), np.zeros(flows)
        self._slopes: list[Floats] = []
        self.flows, self.newest = np.zeros(flows), np.zeros(flows)

    def restore(self, totals: Floats) -> None:
        """Continue after steps with these totals, (steps, flows)."""
        self._earlier[:] = 0
        newest = totals[::-1][:KEPT]
        self._earlier[: len(newest)] = newest

    def begin(self, factors: Sequence[float]) -> None:
        """Begin a step from earlier totals, newest first."""
        self._base, self._slopes = np.asarray(factors) @ self._earlier[: len(factors)], []

    def add(self, flows: Floats, factors: Sequence[float] = ()) -> None:
        """Add the flows of a solution of the step; see `Stage`."""
        before = zip(factors, self._slopes, strict=True)
        base = self._base + sum((a * slope for a, slope in before), np.zeros(()))
        self._slopes.append(self._dt * flows)
        self.flows, self.newest = flows, base + self._slopes[-1] / self._leading

    def end(self) -> None:
        """End the step."""
        self._earlier = np.vstack([self.newest, self._earlier[:-1]])


class FlowHistory(StepTable):
    """A row for each step: its end, flows, totals, and the change of what is stored.

    Args:
        sides: their names; the last flow is that of the source less the screening.
    """

    def __init__(self, backend: Backend, steps: int, sides: Sequence[str]) -> None:
        self._sides, flows = list(sides), len(sides) + 1
        super().__init__(backend, steps, 2 * flows + 2)
        self._flow, self._total = slice(1, flows + 1), slice(flows + 1, -1)

    @property
    def totals(self) -> Floats:
        """What had flowed in after each step so far, (steps, sides and source)."""
        return self.read()[:, self._total]

    def summary(self) -> dict[str, Any]:
        """Flows at the end, and what has flowed in until then."""
        last = self.read()[-1]
        flows, totals = last[self._flow].tolist(), last[self._total].tolist()
        return {
            "flows": dict(zip(self._sides, flows, strict=False)),
            "heat_in": dict(zip(self._sides, totals, strict=False)),
            "heat_from_source": totals[-1],
            "heat_stored": float(last[-1]),
        }

    def write(self, folder: Path) -> Path:
        """Write `flows.nc`."""
        rows, path = self.read(), folder / "flows.nc"
        flows, totals = rows[:, self._flow], rows[:, self._total]
        by_side = {"flow": (flows, FLOW), "heat": (totals, HEAT)}
        alone = {
            "source": (flows[:, -1], "the integral of f - c u"),
            "source_heat": (totals[:, -1], "its integral since time 0"),
            "stored": (rows[:, -1], "change of the integral of capacity times u since time 0"),
        }
        variables = {"time": Variable(("time",), rows[:, 0], attrs={"units": "s"})}
        dimensions: dict[str, int | None] = {"time": len(rows)}
        if self._sides:
            dimensions["side"] = len(self._sides)
            variables["side"] = Variable(("side",), self._sides)
            for name, (values, text) in by_side.items():
                attrs = {"long_name": text, **UNITS}
                variables[name] = Variable(("time", "side"), values[:, :-1], attrs=attrs)
        for name, (values, text) in alone.items():
            variables[name] = Variable(("time",), values, attrs={"long_name": text, **UNITS})
        create_netcdf(path, dimensions, variables, {"title": "Flows through sides"})
        return path
