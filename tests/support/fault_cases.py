"""Faults of SCEC problems as sections of a case, and random points on them.

The numbers are those of the problems' descriptions (strike.scec.org/cvws). Horizontal positions are
those of the problems, whose faults strike along x.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.case.fault import FaultSection
from groundswell.seismology.faults.planes import plane_points, surface_points
from groundswell.seismology.faults.points import FaultPoints

SQUARE = ["3 km", "3 km"]
TPV3: dict[str, Any] = {
    "plane": {"x": ["-15 km", "15 km"], "y": 0, "depth": ["10 km", "25 km"]},
    "hypocenter": [0, 0, "17.5 km"],
    "law": "slip-weakening",
    "friction": {"static": 0.677, "dynamic": 0.525, "distance": "0.4 m", "cohesion": "0 Pa"},
    "stress": {"normal": "120 MPa", "shear": "70 MPa", "rake": 180},
    "patch": [
        {
            "shape": "rectangle",
            "center": [0, 0, "17.5 km"],
            "size": SQUARE,
            "stress": {"shear": "81.6 MPa"},
        }
    ],
}


def square(x: str, shear: str) -> dict[str, Any]:
    """A square patch of TPV5, at a depth of 7.5 km."""
    center = [x, 0, "7.5 km"]
    return {"shape": "rectangle", "center": center, "size": SQUARE, "stress": {"shear": shear}}


TPV5: dict[str, Any] = {
    **TPV3,
    "plane": {"x": ["-15 km", "15 km"], "y": 0, "depth": [0, "15 km"]},
    "hypocenter": [0, 0, "7.5 km"],
    "patch": [square("0 m", "81.6 MPa"), square("7.5 km", "62 MPa"), square("-7.5 km", "78 MPa")],
}

DIP = 60.0
TPV10: dict[str, Any] = {
    "surface": "fault",
    "hypocenter": [0, -12e3 * np.cos(np.radians(DIP)), 12e3 * np.sin(np.radians(DIP))],
    "law": "slip-weakening",
    "friction": {"static": 0.76, "dynamic": 0.448, "distance": "50 cm", "cohesion": "0.2 MPa"},
    "stress": {"normal": "7378 * down_dip", "shear": "0.55 * 7378 * down_dip", "rake": -90},
    "patch": [
        {
            "shape": "rectangle",
            "center": [0, -12e3 * np.cos(np.radians(DIP)), 12e3 * np.sin(np.radians(DIP))],
            "size": SQUARE,
            "stress": {"shear": "2e5 + (0.76 + 0.0057) * 7378 * down_dip"},
        }
    ],
}
# The same stress as a tensor, with z down; the fault dips towards -y.
TPV10_TENSOR = {
    "xx": 0,
    "yy": "-2019.26 * down_dip",
    "zz": "-5358.74 * down_dip",
    "xy": 0,
    "xz": 0,
    "yz": "-5223.72 * down_dip",
}

EFFECTIVE = "((1000 - 2670) * 9.8 * depth)"  # vertical stress plus fluid pressure
FLUID = "1000 * 9.8 * depth"
DEEP = "15600"


def tpv24_stress(factor: str) -> str:
    """A normal stress of TPV24, isotropic below 15.6 km."""
    return f"where(depth < {DEEP}, {factor}, 1) * {EFFECTIVE} - {FLUID}"


TPV24: dict[str, Any] = {
    "name": "main",
    "plane": {"x": ["-16 km", "12 km"], "y": 0, "depth": [0, "15 km"]},
    "hypocenter": ["-8 km", 0, "10 km"],
    "law": "slip-weakening",
    "friction": {
        "static": 0.18,
        "dynamic": 0.12,
        "distance": "30 cm",
        "cohesion": "3e5 + 675 * max(0, 4000 - depth)",
    },
    "stress": {
        "tensor": {
            "xx": tpv24_stress("0.926793"),
            "yy": tpv24_stress("1.073206"),
            "zz": "-2670 * 9.8 * depth",
            "xy": f"where(depth < {DEEP}, -0.169029, 0) * {EFFECTIVE}",
            "xz": 0,
            "yz": 0,
        },
        "fluid_pressure": FLUID,
    },
    "nucleation": {
        "kind": "forced",
        "radius": "4 km",
        "speed": 0.7 * 3464,
        "duration": "0.5 s",
    },
}


def taper(distance: str, width: float) -> str:
    """The function B of TPV104 of a distance, which falls from 1 to 0 within 3 km."""
    rise = f"3e3 / ({distance} - {width + 3e3}) + 3e3 / ({distance} - {width})"
    inner = f"where({distance} < {width + 3e3}, 0.5 * (1 + tanh({rise})), 0)"
    return f"where({distance} <= {width}, 1, {inner})"


BARRIER = f"(1 - ({taper('abs(x)', 15e3)}) * ({taper('abs(depth - 7500)', 7.5e3)}))"
TPV104: dict[str, Any] = {
    "plane": {"x": ["-18 km", "18 km"], "y": 0, "depth": [0, "18 km"]},
    "hypocenter": [0, 0, "7.5 km"],
    "law": "fast-weakening",
    "friction": {
        "direct": f"0.01 + 0.01 * {BARRIER}",
        "evolution": 0.014,
        "length": "0.4 m",
        "reference_friction": 0.6,
        "reference_speed": "1e-6 m/s",
        "weakened_friction": 0.2,
        "weakening_speed": f"0.1 + 0.9 * {BARRIER}",
    },
    "stress": {"normal": "120 MPa", "shear": "40 MPa", "rake": 180},
    "initial_rate": "1e-16 m/s",
    "nucleation": {"kind": "stress", "shear": "45 MPa", "radius": "3 km", "duration": "1 s"},
}


def section(content: dict[str, Any], **changes: Any) -> FaultSection:
    """A section with other keys; a key of None is left out."""
    both = {**content, **changes}
    return FaultSection(**{key: value for key, value in both.items() if value is not None})


def random_points(fault: FaultSection, count: int = 200, seed: int = 1) -> FaultPoints:
    """Points on the plane of a fault, of unequal areas."""
    rng = np.random.default_rng(seed)
    plane = fault.plane
    assert plane is not None
    position = np.empty((count, 3))
    position[:, plane.axis] = plane.position
    position[:, 1 - plane.axis] = rng.uniform(*plane.extent, count)
    position[:, 2] = rng.uniform(*plane.depth, count)
    mean = (plane.extent[1] - plane.extent[0]) * (plane.depth[1] - plane.depth[0]) / max(count, 1)
    return plane_points(plane, position, mean * rng.uniform(0.5, 1.5, count), fault.hypocenter)


def dipping_points(count: int = 200, seed: int = 1) -> FaultPoints:
    """Points on the fault of TPV10, among them its top edge."""
    rng = np.random.default_rng(seed)
    along, down = rng.uniform(-15e3, 15e3, count), rng.uniform(0, 15e3, count)
    down[0] = 0.0
    cosine, sine = np.cos(np.radians(DIP)), np.sin(np.radians(DIP))
    position = np.stack([along, -down * cosine, down * sine], axis=-1)
    normal = np.tile([0.0, -sine, -cosine], (count, 1))
    areas = 4.5e8 / count * rng.uniform(0.5, 1.5, count)
    hypocenter = section(TPV10).hypocenter
    return surface_points((position, normal, areas), None, hypocenter)


def upright_points(azimuth: float, count: int = 200, seed: int = 1) -> FaultPoints:
    """Points of an upright surface through the origin, 12 km long."""
    rng = np.random.default_rng(seed)
    distance, depth = rng.uniform(0, 12e3, count), rng.uniform(0, 15e3, count)
    angle = np.radians(azimuth)
    position = np.stack([distance * np.sin(angle), distance * np.cos(angle), depth], axis=-1)
    normal = np.tile([np.cos(angle), -np.sin(angle), 0.0], (count, 1))
    areas: Floats = np.full(count, 12e3 * 15e3 / count)
    return surface_points((position, normal, areas), azimuth + 20)
