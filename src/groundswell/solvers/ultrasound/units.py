"""Units and formats of the texts about waves."""

from __future__ import annotations

from collections.abc import Mapping

MM, NS, US, MHZ = 1e-3, 1e-9, 1e-6, 1e6  # m, s, s, Hz
_PRESSURE_UNITS = ((1e6, "MPa"), (1e3, "kPa"), (1.0, "Pa"), (1e-3, "mPa"))
_INTENSITY_UNITS = ((1e4, "W/cm²"), (1e1, "mW/cm²"), (1e-2, "µW/cm²"))


def percent(share: float) -> str:
    """A fraction as text, in per cent with its sign."""
    return f"{float(f'{100 * share:.2g}'):+g} %"  # +100 %, not +1e+02 %


def pressure_unit(largest: float) -> tuple[float, str]:
    """A suitable unit for a pressure (Pa): its value in Pa, and its name."""
    return next(((u, name) for u, name in _PRESSURE_UNITS if largest >= u), (1.0, "Pa"))


def intensity_text(value: float) -> str:
    """An intensity (W/m^2) as text, in the units of ultrasound."""
    found = next((each for each in _INTENSITY_UNITS if value >= each[0]), _INTENSITY_UNITS[-1])
    return f"{value / found[0]:.3g} {found[1]}"


def place_text(position: Mapping[str, float]) -> str:
    """Coordinates as text."""
    return ", ".join(f"{axis} = {at / MM:.4g}" for axis, at in position.items()) + " mm"
