"""Profiles under a lid against published tables: a cube at Re = 1000, and a square at Re = 5000.

Cube: Albensoeder & Kuhlmann (2005, J. Comput. Phys. 206:536, tables 5 and 6), a spectral solution.
Square: Ghia, Ghia & Shin (1982, J. Comput. Phys. 48:387), whose own errors reach several per cent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.flow import Flow
from groundswell.solvers.cavity.steady import bring_to_steady_state
from groundswell.solvers.cavity.verification.cases import MIRROR
from groundswell.solvers.cavity.verification.lid import LID, STILL, lid
from groundswell.verify import Check

TOLERANCE = 1e-5  # of residuals: far below the differences from the tables


@dataclass(frozen=True)
class Profiles:
    """Velocities on the middle lines, of a lid of speed 1 at the top that moves along x.

    Args:
        z, u: positions on the vertical line, and velocities along x.
        x, w: positions on the horizontal line, and velocities along z.
    """

    z: tuple[float, ...]
    u: tuple[float, ...]
    x: tuple[float, ...]
    w: tuple[float, ...]

    def of(self, flow: Flow, lines: tuple[Floats, Floats]) -> Floats:
        """Velocities of a flow at these positions, u and then w, given those on the two lines."""
        u, w = (CubicSpline(flow.axes[a], line) for a, line in zip((2, 0), lines, strict=True))
        return np.concatenate([u(self.z), w(self.x)])

    def difference(self, found: Floats) -> float:
        """Root mean square of the differences from the table, per cent of the lid's speed."""
        return float(100 * np.sqrt(np.mean((found - np.array([*self.u, *self.w])) ** 2)))


# fmt: off
CUBE = Profiles(
    z=(0.9766, 0.9688, 0.9609, 0.9531, 0.8516, 0.7344, 0.6172, 0.5, 0.4531, 0.2813, 0.1719, 0.1016,
       0.0703, 0.0625, 0.0547),
    u=(0.58964, 0.48443, 0.39821, 0.33171, 0.12183, 0.07334, 0.03905, 0.00802, -0.00612, -0.10999,
       -0.25160, -0.27293, -0.23696, -0.22283, -0.20623),
    x=(0.0625, 0.0703, 0.0781, 0.0938, 0.1563, 0.2266, 0.2344, 0.5, 0.8047, 0.8594, 0.9063, 0.9453,
       0.9531, 0.9609, 0.9688),
    w=(0.21738, 0.22746, 0.23503, 0.24407, 0.22924, 0.17580, 0.16987, 0.03674, -0.15223, -0.31117,
       -0.43423, -0.33511, -0.29032, -0.24095, -0.18864),
)
SQUARE = Profiles(
    z=CUBE.z,
    u=(0.48223, 0.46120, 0.45992, 0.46036, 0.33556, 0.20087, 0.08183, -0.03039, -0.07404, -0.22855,
       -0.33050, -0.40435, -0.43643, -0.42901, -0.41165),
    x=CUBE.x,
    w=(0.42447, 0.43329, 0.43648, 0.42951, 0.35368, 0.28066, 0.27280, 0.00945, -0.30018, -0.36214,
       -0.41442, -0.52876, -0.55408, -0.55069, -0.49774),
)
# fmt: on

# Intervals along an axis of two grids, quick and in full, and the largest differences, per cent.
CUBE_GRIDS, CUBE_WITHIN = ((32, 48), (96, 128)), (1.0, 0.2)
SQUARE_GRIDS, SQUARE_WITHIN = (256, 512), 1.5
GRIDS_ON_CPU = (128, 256)  # of the square; the finer ones take half an hour on one core


def cube_1000(backend: Backend, full: bool) -> Iterator[Check]:
    """Profiles of the cube at Re = 1000, extrapolated from two grids."""
    coarse, fine = CUBE_GRIDS[full]
    found = _extrapolated({n: _cube_profiles(n, backend) for n in (coarse, fine)})
    title = "lid on a cube, Re = 1000: profiles"
    difference, note = CUBE.difference(found), f"{coarse}³ and {fine}³ intervals"
    yield Check.at_most(title, difference, CUBE_WITHIN[full], "%", note)


def square_5000(backend: Backend, full: bool) -> Iterator[Check]:
    """Profiles of the square at Re = 5000, extrapolated from two grids; in full only."""
    if not full:
        return
    coarse, fine = SQUARE_GRIDS if backend.name == "cuda" else GRIDS_ON_CPU
    found = _extrapolated({n: _square_profiles(n, backend) for n in (coarse, fine)})
    title = "lid, Re = 5000: profiles"
    difference, note = SQUARE.difference(found), f"{coarse}² and {fine}² intervals"
    yield Check.at_most(title, difference, SQUARE_WITHIN, "%", note)


def _extrapolated(found: dict[int, Floats]) -> Floats:
    """Values on two grids, by intervals, extrapolated with second order."""
    (coarse, first), (fine, second) = found.items()
    return np.asarray(second + (second - first) / ((fine / coarse) ** 2 - 1))


def half_cube(reynolds: float, intervals: int) -> CavityCase:
    """Half of a cube under a lid, up to the plane of symmetry, for an even number of intervals."""
    still = dict.fromkeys(("west", "east", "south", "bottom"), STILL)
    return CavityCase(
        fluid={"kind": "reynolds", "reynolds": reynolds},
        grid={
            "size": [1.0, 0.5, 1.0],
            "points": [intervals - 1, intervals // 2, intervals - 1],
        },
        walls=still | {"north": MIRROR} | LID,
        time={"tolerance": TOLERANCE},
    )


def _cube_profiles(intervals: int, backend: Backend) -> Floats:
    flow, *_ = bring_to_steady_state(half_cube(1000, intervals), backend)
    u, w = (flow.fields[name][:, -1] for name in "uw")  # in the plane of symmetry
    middle = intervals // 2
    return CUBE.of(flow, (u[:, middle], w[middle]))


def _square_profiles(intervals: int, backend: Backend) -> Floats:
    flow = lid(5000, intervals - 1, backend, tolerance=TOLERANCE)
    return SQUARE.of(flow, (flow.centre_line("u", 2), flow.centre_line("w", 0)))
