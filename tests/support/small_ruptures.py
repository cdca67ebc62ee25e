"""A small rupture: a square fault of four faces, part of which is loaded beyond its strength."""

from __future__ import annotations

from typing import Any

ROCK = {"vp": 6000.0, "vs": 3464.0, "rho": 2670.0}
FAULT: dict[str, Any] = {
    "plane": {"y": 400.0, "x": [200.0, 600.0], "depth": [0.0, 400.0]},
    "hypocenter": [400.0, 400.0, 200.0],
    "law": "slip-weakening",
    "friction": {"static": 0.677, "dynamic": 0.525, "distance": 0.02, "cohesion": 0.0},
    "stress": {"normal": "120 MPa", "shear": "70 MPa", "rake": 160},
    "patch": [
        {
            "shape": "circle",
            "center": [400.0, 400.0, 200.0],
            "radius": 120.0,
            "stress": {"shear": "84 MPa"},
        }
    ],
}
CHANGES = {"medium": {"kind": "homogeneous", **ROCK}, "source": [], "fault": [FAULT]}
