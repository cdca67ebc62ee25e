"""Ruptures of a dipping and of a branching fault on finer and finer meshes: TPV10 and TPV24.

Neither has an exact solution. With an error of order p, the differences between three meshes, of
which the edges are divided into a, b and c parts, are

    |u(a) - u(b)| / |u(b) - u(c)| = (a^-p - b^-p) / (b^-p - c^-p).

Slip is not smooth at the tip of a rupture. Elements of any degree are of low order, once they
resolve the cohesive zone: Wollherr, Gabriel & Uphoff (2018), Geophys. J. Int. 214, 1556-1584. At
ends of a fault and beside a branch, slip has infinite slopes, as at the tip of a crack, and errors
are of first order. Orders are therefore those of the other faces.

Problems: Harris et al. (2018), Seismol. Res. Lett. 89, 1146-1162. The runs are shorter, and so
are the faults along strike: ruptures reach their ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import cos, inf, radians, sin, tan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.backends import Backend
from groundswell.meshes.box import Box
from groundswell.seismology.problems.case_sections import Table
from groundswell.simulation.temporary import run_built
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.verification.mesh_files import SIDES, Ends, write_mesh
from groundswell.verify import Check

if TYPE_CHECKING:
    import xarray

DEGREE = 3
DIP, BRANCH = radians(60.0), radians(30.0)
QUANTITIES = ("rupture time", "slip"), ("s", "m")
ORDERS = 0.01, 10.0  # that are looked for


@dataclass(frozen=True)
class Problem:
    """A rupture in a box that is bent so that surfaces inside it become faults.

    Args:
        counts, low, high: the elements before their edges are divided, and the box, m.
        bend: maps points (..., 3) of the box to their positions.
        surfaces: the faults in the box.
        sections: other sections of the case.
        edge: of the faces of these elements on the faults, m.
        parts: into which edges are divided, by whether the backend is the host.
        orders: the least of QUANTITIES.
        ends: x and y of upright lines at which faults end or meet, m. Faces whose middles are
            nearer to one than `edge` are not compared.
        bottom: depth of the lower end of faults, m; the same applies to faces above it.
    """

    name: str
    counts: tuple[int, int, int]
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    bend: Callable[[Floats], Floats]
    surfaces: Mapping[str, Ends]
    sections: Table
    edge: float
    parts: Mapping[bool, tuple[int, int, int]]
    orders: tuple[float, float]
    ends: tuple[tuple[float, float], ...] = ()
    bottom: float = inf

    def run(self, parts: int, backend: Backend) -> xarray.Dataset:
        """The fault at the end, with elements whose edges are divided into parts."""
        with TemporaryDirectory() as folder:
            path = Path(folder, "fault.med")
            write_mesh(path, self.box(parts), self.surfaces)
            return run_built(self.case(path, backend)).fault

    def box(self, parts: int) -> Box:
        """The mesh with elements whose edges are divided into parts."""
        x, y, z = (parts * count for count in self.counts)
        return Box((x, y, z), self.low, self.high, deform=self.bend, order=1)

    def case(self, mesh: Path, backend: Backend) -> DgWaveCase:
        """The case on the mesh in a file."""
        surfaces = dict.fromkeys(SIDES, "absorbing") | {"top": "free-surface"}
        return DgWaveCase(
            grid={"file": str(mesh), "vertical": "down"},
            method={"degree": DEGREE},
            boundary={"surfaces": surfaces},
            run={"precision": "single", "backend": backend.name},
            output={"shaking_map": False},
            **self.sections,
        )

    def means(self, found: xarray.Dataset) -> Floats:
        """Rupture time and slip as means over the faces of undivided elements, (2, faces)."""
        slip = np.hypot(found.slip_strike.values, found.slip_updip.values)
        return self._means(found, found.rupture_time.values, slip)

    def is_inside(self, found: xarray.Dataset) -> Mask:
        """Whether each of these faces is compared, see `ends` and `bottom`, (faces,)."""
        x, y, depth = self._means(found, *(found[name].values for name in ("x", "y", "depth")))
        far = [np.hypot(x - at[0], y - at[1]) >= self.edge for at in self.ends]
        return np.all([depth <= self.bottom - self.edge, *far], axis=0)

    def _means(self, found: xarray.Dataset, *values: Floats) -> Floats:
        """Means of values at points over the faces of undivided elements, (values, faces)."""
        area, *places = (_by_face(found[n].values) for n in ("area", "along_strike", "down_dip"))
        fault = _by_face(found.fault.values)[:, 0]
        keys = [fault, *(np.floor(place.mean(axis=1) / self.edge) for place in places)]
        _, face = np.unique(np.column_stack(keys), axis=0, return_inverse=True)
        sums = [np.bincount(face.ravel(), (_by_face(v) * area).sum(axis=1)) for v in values]
        return np.array(sums) / np.bincount(face.ravel(), area.sum(axis=1))


def _by_face(values: Floats) -> Floats:
    """Values at points as an array (faces, points of a face)."""
    return values.reshape(-1, (DEGREE + 1) ** 2)


def tpv10(backend: Backend, full: bool) -> Iterator[Check]:
    """A normal fault that dips by 60 degrees and reaches the surface, if `full`."""
    if full:
        yield from _orders(TPV10, backend)


def tpv24(backend: Backend, full: bool) -> Iterator[Check]:
    """A rupture that reaches a branch of its fault, if `full`."""
    if full:
        yield from _orders(TPV24, backend)


def _orders(problem: Problem, backend: Backend) -> Iterator[Check]:
    """Orders of convergence, from faces that break with each of the meshes, except at ends."""
    parts = problem.parts[backend.on_host]
    runs = (problem.run(n, backend) for n in parts)
    found, inside = zip(
        *((problem.means(run), problem.is_inside(run)) for run in runs), strict=True
    )
    means, compared = np.array(found), np.all(inside, axis=0)
    broken = np.isfinite(means).all(axis=(0, 1))
    chosen, left_out = (means[..., broken & faces] for faces in (compared, ~compared))
    both = zip(_differences(chosen), _differences(left_out), strict=True)
    for name, unit, (those, at_ends), least in zip(*QUANTITIES, both, problem.orders, strict=True):
        note = f"differences {_in_words(those, unit)}; {chosen.shape[-1]} faces"
        if left_out.size:
            note += f"; {_in_words(at_ends, unit)} on {left_out.shape[-1]} faces at ends"
        order = observed_order(those[0] / those[1], parts)
        yield Check.at_least(f"{problem.name}: order of the {name}", order, least, note=note)


def _differences(means: Floats) -> Floats:
    """Root-mean-square differences between successive meshes, (2 quantities, 2).

    Args:
        means: of faces on each of the meshes, (3, 2 quantities, faces).
    """
    squares = np.diff(means, axis=0) ** 2
    return np.asarray(np.sqrt(squares.sum(axis=-1) / max(means.shape[-1], 1)).T)


def _in_words(both: Floats, unit: str) -> str:
    return f"{both[0]:.2g} and {both[1]:.2g} {unit}"


def observed_order(ratio: float, parts: tuple[int, int, int]) -> float:
    """The order of errors for this ratio of differences, see above; NaN outside ORDERS."""
    from scipy.optimize import brentq  # takes long to import

    def excess(order: float) -> float:
        coarse, middle, fine = (float(n) ** -order for n in parts)
        return (coarse - middle) / (middle - fine) - ratio

    low, high = ORDERS
    return float(brentq(excess, low, high)) if excess(low) < 0 < excess(high) else float("nan")


# --- TPV10: stress and strength grow with the distance down dip -----------------------------------


_BOX_ENDS, _ENDS = (-4.5e3, -1.5e3, 1.5e3, 4.5e3), (-13.5e3, -1.5e3, 1.5e3, 7.5e3)  # along y, m


def _dipping(points: Floats) -> Floats:
    """Planes normal to y dip by 60 degrees to smaller y, up to 1.5 km from the fault's trace.

    Farther away, elements are longer, and their dip decreases, so that the sides are upright:
    depths are those below the uppermost faces.
    """
    x, y, z = np.moveaxis(points, -1, 0)
    y = np.interp(y, _BOX_ENDS, _ENDS)
    dipping = np.interp(y, _ENDS, (0.0, 1.0, 1.0, 0.0))
    return np.stack([x, y - dipping * z / tan(DIP), z], axis=-1)


_DOWN = 12e3  # of the hypocenter, down dip, m
_MIDDLE = [0.0, -_DOWN * cos(DIP), _DOWN * sin(DIP)]
TPV10 = Problem(
    name="TPV10",
    counts=(6, 6, 12),
    low=(-4.5e3, -4.5e3, 0.0),
    high=(4.5e3, 4.5e3, 18e3 * sin(DIP)),
    bend=_dipping,
    surfaces={"fault": ((-3e3, 3e3), (0.0, 0.0), (0.0, 15e3 * sin(DIP)))},
    sections={
        "time": {"duration": 2.2},
        "medium": {"kind": "homogeneous", "vp": 5716.0, "vs": 3300.0, "rho": 2700.0},
        "fault": [
            {
                "surface": "fault",
                "hypocenter": _MIDDLE,
                "law": "slip-weakening",
                "friction": {"static": 0.76, "dynamic": 0.448, "distance": 0.5, "cohesion": 2e5},
                "stress": {
                    "normal": "7378 * down_dip",
                    "shear": "0.55 * 7378 * down_dip",
                    "rake": -90,
                },
                "patch": [
                    {
                        "shape": "rectangle",
                        "center": _MIDDLE,
                        "size": [3e3, 3e3],
                        "stress": {"shear": "2e5 + (0.76 + 0.0057) * 7378 * down_dip"},
                    }
                ],
            }
        ],
    },
    edge=1500.0,
    parts={True: (2, 3, 4), False: (2, 4, 8)},
    orders=(1.0, 1.0),
)

# --- TPV24: a fault with a branch -----------------------------------------------------------------


def _branching(points: Floats) -> Floats:
    """Lines along -y turn by 60 degrees towards x, so that those at y < 0 are branches."""
    below = -np.minimum(points[..., [1]], 0.0)
    return points + below * np.array([cos(BRANCH), 1.0 - sin(BRANCH), 0.0])


def _tpv24_fault(name: str, **more: object) -> Table:
    """Total stress, Pa, that is the same on both faults."""
    water, effective = 9800.0, 16366.0
    return {
        "name": name,
        "surface": name,
        "law": "slip-weakening",
        "friction": {
            **{"static": 0.18, "dynamic": 0.12, "distance": 0.3},
            "cohesion": "3e5 + 675 * max(0, 4000 - depth)",
        },
        "stress": {
            "fluid_pressure": f"{water} * depth",
            "tensor": {
                "xx": f"-(0.926793 * {effective} + {water}) * depth",
                "yy": f"-(1.073206 * {effective} + {water}) * depth",
                "zz": f"-({effective} + {water}) * depth",
                "xy": f"0.169029 * {effective} * depth",
                "xz": 0.0,
                "yz": 0.0,
            },
        },
        **more,
    }


TPV24 = Problem(
    name="TPV24",
    counts=(18, 12, 18),
    low=(-14e3, -8e3, 0.0),
    high=(4e3, 4e3, 18e3),
    bend=_branching,
    surfaces={
        "main": ((-12e3, 2e3), (0.0, 0.0), (0.0, 15e3)),
        "branch": ((0.0, 0.0), (-4e3, 0.0), (0.0, 15e3)),
    },
    sections={
        "time": {"duration": 4.0},
        "medium": {"kind": "homogeneous", "vp": 6000.0, "vs": 3464.0, "rho": 2670.0},
        "fault": [
            _tpv24_fault(
                "main",
                hypocenter=[-8e3, 0.0, 10e3],
                nucleation={"kind": "forced", "radius": 4e3, "speed": 2424.8, "duration": 0.5},
            ),
            _tpv24_fault("branch"),
        ],
    },
    edge=1000.0,
    parts={True: (1, 2, 3), False: (2, 4, 6)},
    orders=(1.0, 0.9),  # on an H200: 1.55 and 0.99
    ends=((-12e3, 0.0), (0.0, 0.0), (2e3, 0.0), (4e3 * cos(BRANCH), -4e3 * sin(BRANCH))),
    bottom=15e3,
)
