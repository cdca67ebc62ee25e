"""Slip on the faults of a rank: the arrays of kernels/fault.h, and the launch that uses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from groundswell.arrays import DeviceArray, Floats, HostArray
from groundswell.backends import Backend, Items, Launch, Source
from groundswell.backends.base import Event
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.solvers.dgwave.faults.rank import RankFault
from groundswell.solvers.dgwave.kernel_source import kernel_source
from groundswell.solvers.dgwave.traces import Traces

VARIABLES = ("slip_strike", "slip_updip", "state", "work", "released")
RECORDED = (
    *("rate_strike", "rate_updip", "shear_strike", "shear_updip", "normal_stress"),
    *("peak_rate", "rupture_time"),
    *("slip_strike_before", "slip_updip_before", "state_before"),  # at the beginning of the step
)
# The rows of time series: slip and state, slip rate, stress.
SERIES_ROWS = (7, 8, 9, 0, 1, 2, 3, 4)
LOADED = ("normal_stress", "shear_strike", "shear_updip")  # the first rows of the loads


class FaultSlip:
    """Slip, the state of friction, and what is recorded, at the points of a rank's fault faces.

    Two ranks that share a face compute the same values.

    Attributes:
        slip: VARIABLES, (5, points); work and released energy in J/m^2.
        recorded: RECORDED at the beginning of the latest step, (10, points); the rupture time is
            when the slip rate first exceeded 1 mm/s, infinite before.
    """

    def __init__(
        self, backend: Backend, problem: Discretisation, fault: RankFault, traces: Traces
    ) -> None:
        self._backend, self._problem, self._fault, self._traces = backend, problem, fault, traces
        points = fault.tables.points
        self.slip, self._register = (backend.zeros((len(VARIABLES), points), "f8") for _ in "ur")
        self.recorded = backend.zeros((len(RECORDED), points), "f8")
        self.reset()
        self._module = backend.compile(fault_source(problem, fault))

    def reset(self) -> None:
        """Return to the state before the run."""
        start = np.zeros(self.slip.shape)
        start[VARIABLES.index("state")] = self._fault.tables.state
        self._backend.assign(self.slip, start)
        found = np.zeros(self.recorded.shape)
        for name, load in zip(LOADED, self._fault.tables.loads, strict=False):
            found[RECORDED.index(name)] = load
        found[RECORDED.index("rupture_time")] = np.inf
        self._backend.assign(self.recorded, found)

    def peak_rates(self, after: Event | None = None) -> Floats:
        """The largest slip rates so far at the points of all ranks' faces; 0 on those of others.

        Args:
            after: see `Backend.to_host`.
        """
        found = np.zeros((self._fault.total, self._nodes))
        found[self._fault.numbers] = self._faces(self.recorded[RECORDED.index("peak_rate")], after)
        return found.ravel()

    def released(self, areas: Floats, after: Event | None = None) -> float:
        """Energy that waves and deformation have received from the faces that this rank writes, J.

        Args:
            areas: of the points of all faults, m^2.
            after: see `Backend.to_host`.
        """
        fault = self._fault
        values = self._faces(self.slip[VARIABLES.index("released")], after)[fault.owned]
        own = areas.reshape(fault.total, self._nodes)[fault.numbers[fault.owned]]
        return float((values * own).sum())

    def _faces(self, row: DeviceArray, after: Event | None) -> HostArray:
        """Values at the points of the rank's faces, (faces, nodes)."""
        return self._backend.to_host(row, after).reshape(self._fault.count, self._nodes)

    @property
    def _nodes(self) -> int:
        """Number of points of a face, also on ranks without any."""
        return (self._problem.degree + 1) ** 2

    def launches(self, stage: Mapping[str, DeviceArray | int]) -> list[Launch]:
        """The launch that computes the flux of a stage, and advances slip and state.

        Args:
            stage: ELEMENT_ARGUMENTS of kernels/elements.h, and `stages`, `step` and `stage`.
        """
        if not self._fault.count:
            return []
        points = Items(self._fault.tables.points)
        return [self._module.launch("slide", points, **stage, **self._arguments)]

    @cached_property
    def _arguments(self) -> dict[str, DeviceArray | int]:
        """FAULT_ARGUMENTS of kernels/fault.h."""
        tables = {name: self._backend.to_device(t) for name, t in self._fault.arguments().items()}
        first = len(self._problem.elements.mortars)
        return {
            **tables,
            "fault_traces": self._traces.beyond,
            "fault_sides": len(self._fault.rows),
            "slip": self.slip,
            "slip_register": self._register,
            "recorded": self.recorded,
            "fault_jumps": self._traces.jumps[first:],
            "faults": self._fault.count,
            "begin": self._backend.to_device(np.array([self._problem.begin])),
        }


def fault_source(problem: Discretisation, fault: RankFault) -> Source:
    """The kernel of faults for a law of friction."""
    source = kernel_source("fault.h", problem)
    return replace(source, constants={**source.constants, "FRICTION": fault.tables.law})
