"""A valid case of DG waves, and variations of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from changed_content import DROP as DROP
from changed_content import changed_content

from groundswell.simulation.preparation import prepare
from groundswell.solvers.dgwave.case import DgWaveCase

PULSE = {"kind": "gaussian", "sigma": "0.1 s"}
PLACE = {"x": "430 m", "y": "450 m", "depth": "310 m"}
EXPLOSION = {"kind": "explosion", "magnitude": 3, **PLACE, "time_function": PULSE}
SHEAR = {
    "kind": "double-couple", "strike": 30, "dip": 80, "rake": 10, "magnitude": 3, **PLACE,
    "time_function": PULSE,
}  # fmt: skip
WATER = {"kind": "homogeneous", "vp": 1500, "vs": 0, "rho": 1000}
VALID: dict[str, Any] = {
    "solver": "dgwave",
    "grid": {"size": [800, 800, 600], "spacing": 200},
    "time": {"duration": 0.1},
    "medium": {"kind": "homogeneous", "vp": 3000, "vs": 1700, "rho": 2500},
    "method": {"degree": 2},
    "boundary": {"width": 2},
    "source": [SHEAR],
    "receiver": [{"name": "A", "x": 100, "y": 100, "depth": 0}],
}


def changed(**changes: Any) -> dict[str, Any]:
    """The valid case with values put at paths such as `source__0__mode`."""
    return changed_content(VALID, changes)


def build(folder: str | Path = "", **changes: Any) -> DgWaveCase:
    """The case with changes."""
    return DgWaveCase.from_dict(changed(**changes), folder)


def setup(folder: str | Path = "", **changes: Any) -> Any:
    """The set-up of the case with changes."""
    return prepare(build(folder, **changes))
