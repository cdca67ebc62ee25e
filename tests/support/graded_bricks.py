"""Bricks that are graded along each axis, and layers that they follow."""

from __future__ import annotations

from typing import Any

X, Y, Z = (100, 300, 150, 250), (400, 200, 200), (50, 50, 200, 300)
GRADED = {"grid__spacing": [list(X), list(Y), list(Z)]}
SOFT, ROCK = {"vp": 1800, "vs": 900, "rho": 2000}, {"vp": 3000, "vs": 1700, "rho": 2500}
LAYERS = {"kind": "layered", "layers": [{"top": 0, **SOFT}, {"top": 100, **ROCK}]}


def layers(*tops: float, **more: Any) -> dict[str, Any]:
    """Soft ground and rock in turn, from the surface and from each depth in metres."""
    stack = [
        {"top": top, **(SOFT if n % 2 == 0 else ROCK), **more} for n, top in enumerate((0, *tops))
    ]
    return {"kind": "layered", "layers": stack}
