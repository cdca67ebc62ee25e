"""Areas of ruptures from their magnitudes."""

from __future__ import annotations

from collections.abc import Callable

# log10 of the area in km^2 is c0 + c1 M: Wells & Coppersmith (1994), BSSA 84, 974-1002, table 2A.
_WELLS_COPPERSMITH = {
    "strike-slip": (-3.42, 0.90),
    "reverse": (-3.99, 0.98),
    "normal": (-2.87, 0.82),
    "unknown": (-3.49, 0.91),
}
_KM2 = 1e6  # m^2

Scaling = Callable[[float, float | None], float]  # from magnitude and rake to an area in m^2


def mechanism(rake: float | None) -> str:
    """ "strike-slip", "reverse", "normal" or, without a rake, "unknown".

    A rake (degrees) within 45 degrees of the horizontal is strike-slip.
    """
    if rake is None:
        return "unknown"
    turned = (rake + 180.0) % 360.0 - 180.0
    if abs(turned) <= 45.0 or abs(turned) >= 135.0:
        return "strike-slip"
    return "reverse" if turned > 0 else "normal"


def wells_coppersmith(magnitude: float, rake: float | None = None) -> float:
    """Median rupture area of Wells & Coppersmith (1994), m^2."""
    c0, c1 = _WELLS_COPPERSMITH[mechanism(rake)]
    return float(_KM2 * 10.0 ** (c0 + c1 * magnitude))


def peer(magnitude: float, rake: float | None = None) -> float:
    """Rupture area 10^(M - 4) km^2 of the PEER tests of hazard codes, m^2 (Thomas et al. 2010)."""
    return float(_KM2 * 10.0 ** (magnitude - 4.0))


SCALINGS: dict[str, Scaling] = {"WC1994": wells_coppersmith, "PeerMSR": peer}
