"""Detection of wrong units: values in km/s or cm/s taken for m/s, or in g/cm^3 for kg/m^3."""

from __future__ import annotations

# Smallest and largest plausible values in SI units, their unit, and the units probably meant below
# and above. The smallest vs is that of solids. The Earth has P speeds up to 13.7 km/s.
RANGES = {
    "vp": (100.0, 3e4, "m/s", "km/s", "cm/s"),
    "vs": (1.0, 2e4, "m/s", "km/s", "cm/s"),
    "rho": (100.0, 3e4, "kg/m^3", "g/cm^3", "g/m^3"),
}


def implausible(name: str, value: float) -> tuple[str, str] | None:
    """The rule that an implausible "vp", "vs" or "rho" (SI) breaks, and the likely unit.

    None if the value is plausible, or 0, as vs of a fluid is.
    """
    least, most, unit, small, large = RANGES[name]
    if value > most:
        return f"must be at most {most:g} {unit}", large
    return (f"must be at least {least:g} {unit}", small) if 0 < value < least else None
