"""Numbers without a unit that were meant in a larger one: km/s taken for m/s, g/cm^3 for kg/m^3."""

from __future__ import annotations

LEAST = {"vp": (100.0, "m/s", "km/s"), "rho": (100.0, "kg/m^3", "g/cm^3")}  # in SI, of any ground


def forgotten_unit(name: str, value: float) -> tuple[str, str] | None:
    """What is allowed and the unit probably meant, of a "vp" or "rho" (SI) too small for ground."""
    least, unit, meant = LEAST[name]
    return (f"must be at least {least:g} {unit}", meant) if 0 < value < least else None
