"""Steady flows in cavities, and their extrapolation to zero grid spacing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log2

from groundswell.backends import Backend
from groundswell.case.section import CaseTable
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.flow import Flow
from groundswell.solvers.cavity.steady import bring_to_steady_state

TOLERANCE = 1e-6  # of residuals: far below the errors of these grids
MIRROR = {"kind": "symmetry"}
FLAT = {"south": MIRROR, "north": MIRROR}  # with one point along y: a flow in two dimensions


def cavity(
    points: int, fluid: CaseTable, walls: CaseTable | None = None, **time: object
) -> CavityCase:
    """A unit cube with this number of points per axis, or a square if nothing varies along y."""
    walls = walls or {}
    across = 1 if walls.get("south") == MIRROR else points
    return CavityCase(
        fluid=fluid,
        grid={"points": [points, across, points]},
        walls=walls,
        time={"tolerance": TOLERANCE} | time,
    )


def convection(rayleigh: float) -> dict[str, object]:
    """Air between a hot and a cold wall."""
    return {"kind": "rayleigh", "rayleigh": rayleigh, "prandtl": 0.71}


@dataclass(frozen=True)
class Extrapolated:
    """A quantity on grids of spacings 4 h, 2 h and h, and its extrapolation."""

    coarse: float
    middle: float
    fine: float

    @property
    def order(self) -> float:
        """Observed order of convergence."""
        return log2(abs(self.coarse - self.middle) / abs(self.middle - self.fine))

    @property
    def limit(self) -> float:
        """Second-order (Richardson) extrapolation from the two finest."""
        return self.fine + (self.fine - self.middle) / 3


def converging(
    make: Callable[[int], CavityCase], intervals: int, backend: Backend
) -> dict[str, Extrapolated]:
    """Nusselt numbers and peak speeds on grids of `intervals`, half and a quarter as many."""
    found = [
        numbers(bring_to_steady_state(make(intervals // n - 1), backend)[0]) for n in (4, 2, 1)
    ]
    return {name: Extrapolated(*(numbers[name] for numbers in found)) for name in found[0]}


def numbers(flow: Flow) -> dict[str, float]:
    """Nusselt numbers and peak speeds, by name."""
    summary = flow.summary()
    peaks = {f"peak of {name}": peak["value"] for name, peak in summary.pop("peaks").items()}
    return {**summary, **peaks}
