"""Cases of faults on the staggered grid, and the slip at the centres of their cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.solvers.earthquake import Earthquake, EarthquakeCase
from groundswell.solvers.earthquake.fault_records import at_centres
from groundswell.solvers.earthquake.setup import prepare

VP, VS, RHO = 6000.0, 3464.0, 2670.0  # TPV3 and TPV104
ETA = RHO * VS / 2
ROCK = {"kind": "homogeneous", "vp": VP, "vs": VS, "rho": RHO}


FAULT: dict[str, Any] = {
    "plane": {"y": 575.0, "x": [300.0, 900.0], "depth": [0.0, 500.0]},
    "hypocenter": [600.0, 575.0, 250.0],
    "law": "slip-weakening",
    "friction": {"static": 0.677, "dynamic": 0.525, "distance": 0.02},
    "stress": {"normal": "120 MPa", "shear": "70 MPa", "rake": 160},
    "patch": [
        {
            "shape": "circle",
            "center": [600.0, 575.0, 250.0],
            "radius": 130.0,
            "stress": {"shear": "84 MPa"},
        }
    ],
}
# Nothing slips, although there is some initial stress.
LOCKED = {**FAULT, "patch": [], "friction": {**FAULT["friction"], "static": 1e4}}
SOURCE = {
    "kind": "double-couple",
    **{"strike": 30, "dip": 80, "rake": 10, "moment": 1e13},
    **{"x": 500.0, "y": 350.0, "depth": 250.0},
    "time_function": {"kind": "gaussian", "sigma": 0.02},
}
STATION = {"name": "A", "x": 400.0, "y": 300.0}
GIVEN: dict[str, Any] = {
    "time": {"duration": 0.25},
    "grid": {"size": [1200.0, 1200.0, 800.0], "spacing": 50.0},
    "medium": ROCK,
    "boundary": {"width": 5},
    "fault": [FAULT],
    "receiver": [STATION],
    "run": {"precision": "double"},
}
# The same fault with x and y exchanged.
TURNED = {
    **FAULT,
    "plane": {"x": 575.0, "y": [300.0, 900.0], "depth": [0.0, 500.0]},
    "hypocenter": [575.0, 600.0, 250.0],
    "patch": [{**FAULT["patch"][0], "center": [575.0, 600.0, 250.0]}],
    "stress": {**FAULT["stress"], "rake": -20},
}
# A fault without ends along strike.
CLOSED: dict[str, Any] = {
    **GIVEN,
    "boundary": {"sides": "periodic", "width": 5},
    "fault": [{**FAULT, "plane": {**FAULT["plane"], "x": [0.0, 1200.0]}}],
    "receiver": [],
    "output": {"shaking_map": False},
}


def build(**changes: Any) -> EarthquakeCase:
    """The case with other sections."""
    return EarthquakeCase(**{**GIVEN, **changes})


@dataclass(frozen=True)
class PeriodicFault:
    """A fault without ends along strike, below a free surface: a one-dimensional problem.

    The motion is that of two half-spaces until waves from the lower end of the fault arrive, or
    those that left on the other side.

    Args:
        section: law, friction, stress and nucleation of the fault.
        duration: s.
        axis: normal of the fault.
    """

    section: dict[str, Any]
    spacing: float
    duration: float
    axis: int = 1

    def history(self, backend: Backend) -> dict[str, Floats]:
        """Values at the uppermost cells after each step, by name, and the times.

        "spread" is the largest difference between them.
        """
        found = Earthquake(prepare(self.case()), backend)
        (fault,), rows, columns = found.faults.slips, [], 4
        assert fault is not None
        for n in range(found.setup.steps):
            found.step()
            arrays = {name: backend.to_host(array) for name, array in fault.arrays.items()}
            values = at_centres(found.setup.faults[0].plane, arrays)
            tops = {name: top[:columns] for name, top in values.items()}
            row = {name: values[0] for name, values in tops.items()}
            rows.append({"time": found.time(n + 1), "spread": np.ptp(tops["rate_strike"]), **row})
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def case(self) -> EarthquakeCase:
        """The case of the fault."""
        h = self.spacing
        size = [4 * h, 4 * h, self._cells[1] * h]
        size[self.axis] = 2 * self._cells[0] * h
        return EarthquakeCase(
            time={"duration": self.duration},
            grid={"size": size, "spacing": h},
            medium=ROCK,
            boundary={"sides": "periodic", "width": 5},
            fault=[{"plane": self._plane, "hypocenter": self._hypocenter, **self.section}],
            run={"precision": "double"},
            output={"shaking_map": False},
        )

    @property
    def _cells(self) -> tuple[int, int]:
        """On either side of the fault, and down."""
        speeds = np.array([VS / 2, VP])
        side, deep = np.ceil(1.1 * self.duration * speeds / self.spacing).astype(int) + 6
        return int(side), int(deep)

    @property
    def _plane(self) -> dict[str, Any]:
        h, (side, deep) = self.spacing, self._cells
        across, along = "xy"[self.axis], "xy"[1 - self.axis]
        return {across: (side + 0.5) * h, along: [0, 4 * h], "depth": [0, deep * h]}

    @property
    def _hypocenter(self) -> list[float]:
        place = [2 * self.spacing, 2 * self.spacing, 0.0]
        place[self.axis] = self._plane["xy"[self.axis]]
        return place
