"""What `groundswell check` says of a cavity, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundswell.grids.cartesian import in_words, times

Rows = dict[str, str]


def words(found: Mapping[str, Any]) -> tuple[Rows, Rows]:
    """The grid and its steps, and the fluid, from what `Setup.describe` says."""
    rows = {
        "points": in_words(found["cells"], found["spacing"], unit=""),
        "step": f"about {found['dt']:.4g}",
        "steps": f"at most {found['steps']}",
    }
    if len(found["grids"]) > 1:
        rows["coarser"] = ", ".join(map(times, found["grids"][1:])) + "; steps are cycles"
    numbers = ("rayleigh", "prandtl", "reynolds")
    fluid = {name.capitalize(): f"{found[name]:.6g}" for name in numbers if found[name]}
    layer = found["layer"]
    return rows, fluid | ({"boundary layer": f"about {layer:.3g} points"} if layer else {})
