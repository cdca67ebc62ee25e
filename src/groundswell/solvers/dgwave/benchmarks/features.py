"""Cost of features of the mesh and the medium, relative to bricks with one material each.

The solver itself builds each problem from a case.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import partial
from typing import Any

from groundswell.backends import Backend
from groundswell.bench import Session
from groundswell.bench.rig import alone
from groundswell.bench.tables import Row
from groundswell.solvers.dgwave.benchmarks.problems import EDGE, PRECISIONS, RHO, VP, VS, fill
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.cost import bytes_per_update
from groundswell.solvers.dgwave.setup import Setup, prepare
from groundswell.solvers.dgwave.solver import DgWave
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as SCHEME

DEGREE = 7
BRICKS, NODAL, CURVED = "bricks", "nodal materials", "topography"
YIELDING = "rock that may yield"  # but does not
STRONG = {"cohesion": 1e8, "friction_angle": 30.0, "relaxation_time": 0.03}
Content = dict[str, Any]


def measure_features(session: Session) -> Iterator[Row]:
    """Measure elastic waves with the Riemann flux, one feature at a time.

    Yields:
        Rows: `feature`, `precision`, number of `elements`, `seconds` per stage, `GDOFS`: billions
        of unknowns per second and stage, `bytes` per unknown and stage, `share`: fraction of the
        `bandwidth`, and `cost`: time per unknown relative to bricks.
    """
    for precision in PRECISIONS:
        rows: list[Row] = []
        for feature, content in features(session.sizes.featured, DEGREE).items():
            row = _measured(session.backend, content, precision)
            row["bandwidth"] = session.bandwidth()
            row["share"] = row["GDOFS"] * 1e9 * row["bytes"] / row["bandwidth"]
            rows.append({"feature": feature, "precision": precision, **row})
            yield rows[-1] | {"cost": rows[0]["GDOFS"] / rows[-1]["GDOFS"]}


def _measured(backend: Backend, content: Content, precision: str) -> Row:
    gc.collect()
    setup = set_up(content | {"run": {"precision": precision}})
    solver = DgWave(setup, backend)
    fill(backend, solver.propagation.u, solver.elements.numbers)
    seconds = alone(backend, solver.propagation.step) / SCHEME.stages
    of_kernels = (setup.equations, setup.materials, setup.absorption, setup.dtype)
    counted = {"elements": setup.geometry.count, "bytes": bytes_per_update(*of_kernels, setup.rock)}
    return {**counted, "seconds": seconds, "GDOFS": setup.unknowns / seconds / 1e9}


def set_up(content: Content) -> Setup:
    """The set-up of a case with this content."""
    return prepare(DgWaveCase.from_dict(content))


def features(cells: int, degree: int, *, fluid: bool = False) -> dict[str, Content]:
    """Cases by feature, with about cells^3 elements."""
    make = partial(_case, degree, fluid)
    by_node = {"material": "node"}
    size = cells * EDGE
    hill = f"{EDGE / 2} * sin(2 * pi * x / {size}) * sin(2 * pi * y / {size})"
    width = max(1, cells // 8)
    inside = max(1, cells - 2 * width)
    topography = {"kind": "formula", "elevation": hill}
    return {
        BRICKS: make(cells),
        NODAL: make(cells, method=by_node),
        CURVED: make(cells, topography=topography),
        f"{CURVED}, {NODAL}": make(cells, method=by_node, topography=topography),
        YIELDING: make(cells, plasticity={"model": "drucker-prager", **STRONG}),
        "attenuation, 3 mechanisms": make(cells, attenuation={"model": "constant"}),
        "matched layers at all sides": make(inside, sides="pml", width=width),
        "slow upper half, refined": make(cells // 2, refinement={"frequency": 8.0}),
    }


def _case(
    degree: int, fluid: bool, cells: int, sides: str = "periodic", width: int = 1, **more: Any
) -> Content:
    """A box of cells^3 elements; refinement halves those of the upper half."""
    refined, attenuated = "refinement" in more, "attenuation" in more
    edge = 2 * EDGE if refined else EDGE
    size = cells * edge
    vs = 0.0 if fluid else VS
    rock: Content = {"vp": VP, "vs": vs, "rho": RHO} | ({"qp": 80, "qs": 40} if attenuated else {})
    slow = {"vp": VP / 2, "vs": vs / 2, "rho": RHO} if refined else rock
    ends = "pml" if sides == "pml" else "absorbing"
    pulse = {"kind": "gaussian", "sigma": 1.0}
    middle = {"x": size / 2, "y": size / 2, "depth": size / 2}
    return {
        "grid": {"size": [size] * 3, "spacing": edge},
        "time": {"duration": 10.0},
        "medium": {
            "kind": "layered",
            "layers": [{"top": 0.0, **slow}, {"top": size / 2, **rock}],
        },
        "boundary": {"top": ends, "sides": sides, "bottom": ends, "width": width},
        "source": [{"kind": "explosion", "magnitude": 3, "time_function": pulse, **middle}],
        "receiver": [{"name": "A", **middle}],
        **more,
        "method": {"degree": degree} | more.get("method", {}),
    }
