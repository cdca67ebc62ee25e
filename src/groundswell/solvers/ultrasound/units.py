"""Units and formats of the texts about waves."""

from __future__ import annotations

MM, NS, US, MHZ = 1e-3, 1e-9, 1e-6, 1e6  # m, s, s, Hz


def percent(share: float) -> str:
    """A fraction as text, in per cent with its sign."""
    return f"{float(f'{100 * share:.2g}'):+g} %"  # +100 %, not +1e+02 %
