"""Detection of omitted units: values in km/s taken for m/s, or in g/cm^3 for kg/m^3."""

from __future__ import annotations

# Smallest plausible value in SI units, its unit, and the unit probably meant below it.
# That of vs is for solids.
MINIMUM = {
    "vp": (100.0, "m/s", "km/s"),
    "vs": (1.0, "m/s", "km/s"),
    "rho": (100.0, "kg/m^3", "g/cm^3"),
}


def omitted_unit(name: str, value: float) -> tuple[str, str] | None:
    """The rule that an implausibly small "vp", "vs" or "rho" (SI) breaks, and the likely unit.

    None if the value is plausible, or 0, as vs of a fluid is.
    """
    least, unit, meant = MINIMUM[name]
    return (f"must be at least {least:g} {unit}", meant) if 0 < value < least else None
