"""Vertical strike-slip ruptures of the SCEC/USGS code verification, in a half-space.

Harris et al. (2009), Seismol. Res. Lett. 80, 119-126, and (2018), 89, 1146-1162: TPV5 has slip
weakening and two more squares of other stress, TPV104 rate-and-state friction with fast velocity
weakening. Both start at a depth of 7.5 km. In TPV27, rock yields, and the stress grows with depth;
it starts at 10 km. All are right-lateral.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.seismology.problems.case_sections import Table

ROCK = {"kind": "homogeneous", "vp": 6000.0, "vs": 3464.0, "rho": 2670.0}
DEPTH = 7.5e3  # of the hypocenter, m
SQUARE = 3e3  # m
WIDEST = 3e3  # m, over which the friction of TPV104 changes


@dataclass(frozen=True)
class Rupture:
    """A problem, or a part of it.

    Args:
        half_length: of the fault, m.
        width: down dip, m.
        duration: s.
        stations: distances along strike and down dip, m.
        margin: rock between the fault and the sides of the region, m.
        depth: of the hypocenter, m.
    """

    name: str
    half_length: float
    width: float
    duration: float
    stations: tuple[tuple[float, float], ...]
    margin: float = 4e3
    depth: float = DEPTH

    def sections(self, edge: float, *, at_centres: bool) -> Table:
        """Sections of a case.

        Args:
            edge: of cells or elements, m; it divides the fault.
            at_centres: whether the fault lies at their centres.
        """
        x, y, z = (
            float(edge * np.ceil(length / edge))
            for length in (
                2 * (self.half_length + self.margin),
                2 * self.margin,
                self.width + self.margin,
            )
        )
        start = float(edge * np.floor(self.margin / edge))
        across = float(edge * np.floor(self.margin / edge) + edge / 2 * at_centres)
        plane = {"y": across, "x": [start, start + 2 * self.half_length], "depth": [0, self.width]}
        middle = [start + self.half_length, across, self.depth]
        points = [
            {"name": f"P{n}", "along_strike": along, "down_dip": down}
            for n, (along, down) in enumerate(self.stations)
        ]
        return {
            "grid": {"size": [x, y, z], "spacing": edge},
            "medium": ROCK,
            "time": {"duration": self.duration},
            "fault": [{"plane": plane, "hypocenter": middle, **self.friction(middle)}],
            "output": {"shaking_map": False, "fault_points": {"point": points}},
            **({"plasticity": YIELDING_ROCK} if self.name == "TPV27" else {}),
        }

    def friction(self, middle: list[float]) -> Table:
        """Law, friction, stress and nucleation around the hypocenter."""
        if self.name == "TPV27":
            return TPV27_FAULT
        return _tpv5(middle, self.half_length) if self.name == "TPV5" else _tpv104()


# The stress of TPV26 and TPV27 per metre of depth, Pa. Its deviator fades from 15 to 20 km.
_WHOLE = "min(1, max(0, 4 - depth / 5000))"
_WATER, _EFFECTIVE = 9800.0, 16366.0
_STRESS: Table = {
    "fluid_pressure": f"{_WATER} * depth",
    "tensor": {
        "xx": f"-depth * ({_WATER} + {_EFFECTIVE} * (1 - 0.073207 * {_WHOLE}))",
        "yy": f"-depth * ({_WATER} + {_EFFECTIVE} * (1 + 0.073206 * {_WHOLE}))",
        "zz": f"-depth * ({_WATER} + {_EFFECTIVE})",
        "xy": f"depth * {_EFFECTIVE} * 0.169029 * {_WHOLE}",
        "xz": 0.0,
        "yz": 0.0,
    },
}
YIELDING_ROCK: Table = {
    "model": "drucker-prager",
    "cohesion": 1.36e6,
    "friction_angle": float(np.degrees(np.arctan(0.1934))),
    "relaxation_time": 0.03,
    "fluid_pressure": _STRESS["fluid_pressure"],
    "stress": {"tensor": _STRESS["tensor"]},
}
TPV27_FAULT: Table = {
    "law": "slip-weakening",
    "friction": {
        **{"static": 0.18, "dynamic": 0.12, "distance": 0.3},
        "cohesion": "4e5 + 720 * max(0, 5000 - depth)",
    },
    "stress": _STRESS,
    "nucleation": {"kind": "forced", "radius": 4e3, "speed": 0.7 * 3464.0, "duration": 0.5},
}

TPV5 = Rupture("TPV5", 15e3, 15e3, 8.0, ((4.5e3, DEPTH), (-4.5e3, DEPTH), (0.0, 3e3), (0.0, 12e3)))
TPV104 = Rupture("TPV104", 18e3, 18e3, 8.0, ((9e3, DEPTH), (-9e3, DEPTH), (0.0, 3e3), (12e3, 12e3)))
# The middle of both, while the rupture is on its way to their ends.
START_OF_TPV5 = Rupture("TPV5", 4e3, 11e3, 1.7, ((2e3, DEPTH), (0.0, DEPTH)), margin=2e3)
START_OF_TPV27 = Rupture(
    "TPV27", 6e3, 15e3, 3.0, ((3e3, 10e3), (0.0, 7e3), (0.0, 10e3)), margin=3e3, depth=10e3
)
START_OF_TPV104 = Rupture("TPV104", 4e3, 11e3, 1.5, ((1.5e3, DEPTH), (0.0, DEPTH)), margin=2e3)


def _tpv5(middle: list[float], half_length: float) -> Table:
    x, y, depth = middle
    squares = ((0.0, 81.6e6), (7.5e3, 62e6), (-7.5e3, 78e6))  # along strike, shear stress
    return {
        "law": "slip-weakening",
        "friction": {"static": 0.677, "dynamic": 0.525, "distance": 0.4},
        "stress": {"normal": 120e6, "shear": 70e6, "rake": 180},
        "patch": [
            {
                "shape": "rectangle",
                "center": [x + along, y, depth],
                "size": [SQUARE, SQUARE],
                "stress": {"shear": shear},
            }
            for along, shear in squares
            if abs(along) < half_length
        ],
    }


def _tpv104() -> Table:
    along, down = _taper("abs(along_strike)", 15e3), _taper(f"abs(down_dip - {DEPTH})", DEPTH)
    strengthened = f"(1 - ({along}) * ({down}))"
    return {
        "law": "fast-weakening",
        "friction": {
            "direct": f"0.01 + 0.01 * {strengthened}",
            "evolution": 0.014,
            "length": 0.4,
            "reference_friction": 0.6,
            "reference_speed": 1e-6,
            "weakened_friction": 0.2,
            "weakening_speed": f"0.1 + 0.9 * {strengthened}",
        },
        "initial_rate": 1e-16,
        "stress": {"normal": 120e6, "shear": 40e6, "rake": 180},
        "nucleation": {"kind": "stress", "shear": 45e6, "radius": 3e3, "duration": 1.0},
    }


def _taper(distance: str, inner: float) -> str:
    """An expression that falls smoothly from 1 to 0 over WIDEST beyond a distance."""
    rise = f"{WIDEST} / ({distance} - {inner + WIDEST}) + {WIDEST} / ({distance} - {inner})"
    falling = f"where({distance} < {inner + WIDEST}, 0.5 * (1 + tanh({rise})), 0)"
    return f"where({distance} <= {inner}, 1, {falling})"
