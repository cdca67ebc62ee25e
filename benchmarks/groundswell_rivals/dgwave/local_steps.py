"""Savings of local time steps on typical meshes; the solver itself has one global step.

Cluster k = 0, 1, ... advances by 2^k times a base step, and contains elements that are stable with
that step. The base step is between half the shortest stable step and all of it, where the gain is
largest. Clusters of neighbours differ by at most one (Breuer, Heinecke & Bader, IPDPS 2016). The
gain is the number of element updates with a global step divided by the number of updates with
clusters, for the same simulated time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from groundswell.arrays import Floats, Integers, Mask
from groundswell.bench import Session
from groundswell.bench.tables import Row
from groundswell.meshes.box import Box
from groundswell.meshes.octree import uniform_forest
from groundswell.meshes.octree_refinement import balance, refine
from groundswell.meshes.partition import face_neighbours
from groundswell.solvers.dgwave.benchmarks.features import set_up
from groundswell.solvers.dgwave.mesh.curved import CurvedElements
from groundswell.solvers.dgwave.mesh.elements import RankElements
from groundswell.time_integration.step_limits import dg_step

Steps = tuple[Floats, Integers]  # of elements, s, (n,); and pairs of neighbours, (pairs, 2)

DEGREE, VP = 4, 5000.0
BASES = 2.0 ** -(np.arange(16) / 16)  # shortest cluster step over the shortest stable step


def measure_local_steps(session: Session) -> Iterator[Row]:
    """Compute the gain on each mesh; it does not depend on the backend.

    Yields:
        Rows: `mesh`, `elements`, `ratio`: longest stable step over the shortest, `clusters`:
        elements by cluster, the shortest steps first, `gain`, and `bound`: the gain if each element
        had its own step.
    """
    for name, steps_of in MESHES.items():
        steps, pairs = steps_of()
        gain, clusters = best_clusters(steps, pairs)
        bound = float((1 / steps).max() / (1 / steps).mean())
        ratio = float(steps.max() / steps.min())
        counts = np.bincount(clusters).tolist()
        row = {"mesh": name, "elements": len(steps), "ratio": ratio, "clusters": counts}
        yield {**row, "gain": gain, "bound": bound}


def best_clusters(steps: Floats, pairs: Integers) -> tuple[float, Integers]:
    """The largest gain for any shortest step, and the cluster of each element, (n,)."""
    found = []
    for base in BASES * steps.min():
        clusters = find_clusters(steps, pairs, base)
        updates = base / steps.min() / (0.5**clusters).mean()
        found.append((float(updates), clusters))
    return max(found, key=lambda each: each[0])


def find_clusters(steps: Floats, pairs: Integers, base: float) -> Integers:
    """The cluster of each element, (n,), for the shortest step `base`."""
    found = np.floor(np.log2(steps / base) + 1e-9).astype(np.int64)
    while True:
        one, two = pairs.T
        lower = found.copy()
        np.minimum.at(lower, one, found[two] + 1)
        np.minimum.at(lower, two, found[one] + 1)
        if np.array_equal(lower, found):
            return found
        found = lower


# --- meshes ---------------------------------------------------------------------------------------


def _layers(*rows: tuple[float, float, float]) -> list[dict[str, float]]:
    """Layers from top, vp and vs, in m and m/s."""
    return [{"top": top, "vp": vp, "vs": vs, "rho": 2000.0} for top, vp, vs in rows]


BEDROCK = (1000, 5200, 3000)
WET = _layers((0, 1500, 200), (30, 1700, 400), (125, 2200, 800), (500, 3300, 1600), BEDROCK)
DRY = _layers((0, 500, 200), (30, 900, 400), (125, 1700, 800), (500, 3300, 1600), BEDROCK)
LOH = _layers((0, 4000, 2000), (1000, 6000, 3464))
SEA = _layers((0, 1500, 0), (500, 2200, 1000), (1500, 3800, 2200))
MUD = _layers((0, 1500, 0), (500, 1600, 200), (531.25, 2200, 1000), (1500, 3800, 2200))
DEEP_SEA = _layers((0, 1500, 0), (3000, 4500, 2500), (4500, 6500, 3750))
ROCK = _layers((0, 3000, 1700), (2000, 5500, 3200))
HILLS = "800 * exp(-((x - 4e3)**2 + (y - 4e3)**2) / 2e6)"
VALLEY = "-2000 * exp(-((x - 4e3)**2 + (y - 4e3)**2) / 2e6)"


def _of_case(
    size: tuple[float, float, float], spacing: float, layers: list[dict[str, float]], **more: object
) -> Callable[[], Steps]:
    """The elements of a case, with matched layers."""
    x, y, _ = size
    pulse = {"kind": "gaussian", "sigma": 1.0}
    source = {"kind": "explosion", "magnitude": 3, "x": x / 2, "y": y / 2, "depth": 500}
    content = {
        "grid": {"size": size, "spacing": spacing},
        "time": {"duration": 10},
        "medium": {"kind": "layered", "layers": layers},
        "method": {"degree": DEGREE},
        "boundary": {"width": 3},
        "source": [source | {"time_function": pulse}],
        "receiver": [{"name": "A", "x": 0, "y": 0, "depth": 0}],
        **more,
    }

    def steps() -> Steps:
        setup = set_up(content)
        fastest = setup.materials.unrelaxed(np.arange(setup.geometry.count)).vp
        elements = setup.partition.elements(1, 0)
        return dg_step(setup.geometry.edges, fastest, DEGREE), _pairs(elements)

    return steps


def _pairs(elements: RankElements) -> Integers:
    """Pairs of neighbours of all elements, (pairs, 2)."""
    links = elements.links
    return np.stack([elements.numbers[links.element], links.beyond], axis=1)


def _refined(frequency: float, levels: int) -> dict[str, object]:
    return {"refinement": {"frequency": frequency, "levels": levels}}


def _topography(elevation: str) -> dict[str, object]:
    return {"topography": {"kind": "formula", "elevation": elevation}}


def _around_a_fault() -> Steps:
    """Cubes of 1 km in uniform rock, halved three times within 300 m of a square fault of 4 km."""
    lines = [np.arange(0.0, 12001.0, 1000.0)] * 3

    def near(lower: Floats, upper: Floats) -> Mask:
        low, high = np.array([3700, 5900, 3700]), np.array([8300, 6100, 8300])
        return np.asarray(((lower < high) & (upper > low)).all(axis=1))

    forest = balance(refine(uniform_forest(lines), near, 3))
    lower, upper = forest.boxes()
    elements = RankElements(forest, np.array([0, forest.count]), 0)
    return dg_step(upper - lower, VP, DEGREE), _pairs(elements)


def _pinched() -> Steps:
    """Cubes of 100 m; one layer thins to 10 m towards a side, as in pinched-out layers."""

    def pinch(points: Floats) -> Floats:
        x, y, z = np.moveaxis(points, -1, 0)
        thickness = 10 + 90 * x / 1600
        thinned = 800 + (z - 800) * thickness / 100
        above = 800 + thickness + (z - 900) * (800 - thickness) / 700
        return np.stack([x, y, np.select([z < 800, z < 900], [z, thinned], above)], axis=-1)

    box = Box((16, 4, 16), high=(1600.0, 400.0, 1600.0), deform=pinch, order=1)
    return dg_step(CurvedElements(box, DEGREE).edges, VP, DEGREE), face_neighbours(box)


MESHES: dict[str, Callable[[], Steps]] = {
    "layer over half-space (LOH.1)": _of_case((8e3, 8e3, 5e3), 1e3, LOH, **_refined(2, 1)),
    "wet sediments, vs 200 to 3000 m/s": _of_case((2e3, 2e3, 2e3), 500, WET, **_refined(5, 4)),
    "dry sediments, vs 200 to 3000 m/s": _of_case((2e3, 2e3, 2e3), 500, DRY, **_refined(5, 4)),
    "500 m of sea, rock": _of_case((2e3, 2e3, 3e3), 250, SEA, **_refined(5, 2)),
    "sea, 31 m of mud, rock": _of_case((2e3, 2e3, 3e3), 500, MUD, **_refined(5, 4)),
    "3 km of sea, rock": _of_case((4e3, 4e3, 6e3), 1e3, DEEP_SEA, **_refined(3, 2)),
    "hill of 800 m": _of_case((8e3, 8e3, 4e3), 500, ROCK, **_topography(HILLS)),
    "valley, 2 of 3 km deep": _of_case((8e3, 8e3, 3e3), 500, ROCK, **_topography(VALLEY)),
    "forest, fine around a fault": _around_a_fault,
    "layer that thins from 100 to 10 m": _pinched,
}
