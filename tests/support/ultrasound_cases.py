"""A valid ultrasound case in two dimensions, and variations of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from changed_content import DROP as DROP
from changed_content import changed_content

from groundswell.simulation.preparation import prepare
from groundswell.solvers.ultrasound.case import UltrasoundCase

BURST = {"kind": "burst", "frequency": "1 MHz", "cycles": 3}
ARC = {
    "kind": "arc", "apex": ["1 mm", "5 mm"], "radius": "8 mm", "diameter": "6 mm",
    "focus": ["9 mm", "5 mm"],
}  # fmt: skip
VALID: dict[str, Any] = {
    "solver": "ultrasound",
    "grid": {"points": [50, 40], "spacing": "0.25 mm"},
    "medium": {"speed": 1500.0, "density": 1000.0},
    "time": {"duration": "2 us"},
    "source": [{"shape": ARC, "pressure": "1 kPa", "signal": BURST}],
}


def changed(**changes: Any) -> dict[str, Any]:
    """The valid case with values put at paths such as `source__0__mode`."""
    return changed_content(VALID, changes)


def build(folder: str | Path = "", **changes: Any) -> UltrasoundCase:
    """The case with changes."""
    return UltrasoundCase.from_dict(changed(**changes), folder)


def setup(folder: str | Path = "", **changes: Any) -> Any:
    """The set-up of the case with changes."""
    return prepare(build(folder, **changes))
