"""The estimate of device memory against what the scheme allocates."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from checked import cost, decomposed
from counting_backend import Counted
from dgwave_cases import EXPLOSION, WATER, setup
from gmsh_files import cells_of, numbered, save
from variants import long_variants

from groundswell.exchange.communicator import SerialCommunicator
from groundswell.meshes.box import Box
from groundswell.solvers.dgwave.discretisation import discretise
from groundswell.solvers.dgwave.memory import device_memory
from groundswell.solvers.dgwave.mesh.elements import RankElements
from groundswell.solvers.dgwave.outputs import Outputs
from groundswell.solvers.dgwave.propagation import Propagation
from groundswell.solvers.dgwave.traces import Traces

pytestmark = pytest.mark.each_value

PROGRAM = Path(__file__).parents[3] / "support" / "memory_program.py"

ROCK = {"vp": 3000, "vs": 1700, "rho": 2500, "qp": 80, "qs": 40}
SOFT = {"vp": 1800, "vs": 900, "rho": 2000, "qp": 60, "qs": 30}
LAYERS = {"kind": "layered", "layers": [{"top": 0, **SOFT}, {"top": 100, **ROCK}]}
CLOSED = {"boundary": {"sides": "rigid", "bottom": "rigid"}}
LOSSLESS = {"attenuation": {"model": "none"}}
SEA = {"medium": WATER, "source": [EXPLOSION]}
LOSSY = {"medium": LAYERS, "attenuation": {"model": "constant", "band": [1, 20]}}
NODES = {"method__material": "node"}
HALVED = {"medium": LAYERS, **LOSSLESS, "refinement": {"frequency": 3, "levels": 1}}
HILL = {"topography": {"kind": "formula", "elevation": "20 * sin(x / 99)"}}
LAYERED_SEA = {
    "kind": "layered",
    "layers": [
        {"top": 0, "vp": 1500, "vs": 0, "rho": 1000},
        {"top": 100, "vp": 4000, "vs": 0, "rho": 2000},
    ],
}
HALVED_SEA = {
    "medium": LAYERED_SEA,
    "source": [EXPLOSION],
    "refinement": {"frequency": 4, "levels": 1},
}
BUMPS = {"topography": {"kind": "formula", "elevation": "20 * sin(x / 99) * cos(y / 88)"}}
PUSH = {key: value for key, value in EXPLOSION.items() if key != "magnitude"}
YIELDING = {
    "source": [PUSH | {"kind": "force", "force": [1e9, 0, 0]}],  # near moments rock is linear
    "plasticity": {
        "model": "drucker-prager",
        "cohesion": "1 MPa",
        "friction_angle": "30 deg",
        "relaxation_time": 0.01,
        "stress": {"ratio": 0.8},
    },
}
CASES: dict[str, dict[str, Any]] = {
    "bricks": CLOSED,
    "fluid": SEA | CLOSED,
    "linear elements": CLOSED | {"method__degree": 1},
    "double precision": CLOSED | {"run__precision": "double"},
    "matched layers": {},
    "fluid layers": SEA,
    "sponge": {"boundary": {"sides": "sponge", "bottom": "sponge", "width": 2}},
    "attenuation": LOSSY,
    "nodes": NODES,
    "refined": HALVED,
    "refined nodes": HALVED | NODES,
    "curved": HILL,
    "curved nodes": HILL | NODES,
    "yielding": CLOSED | YIELDING,
    "yielding hills": CLOSED | BUMPS | YIELDING,
    "refined and curved": HALVED | HILL,
    "refined and curved, fluid": HALVED_SEA | HILL | CLOSED,
}
NO_MAP_SECTION = {"shaking_map": False}
NO_MAP = {"output": NO_MAP_SECTION}
TOLERANCE = 0.02  # padding, profiles, sources, and rows of layers


def allocated(found: Any, elements: RankElements) -> int:
    """Bytes of all arrays of a rank, without buffers of an exchange."""
    backend = Counted()
    with patch.object(Traces, "connect", lambda *_: None):
        propagation = Propagation(backend, SerialCommunicator(), discretise(found, elements))
    _ = propagation.step, propagation.prepare
    return int(backend.now)


@pytest.mark.parametrize("name", CASES)
def test_it_is_what_a_run_allocates(name: str) -> None:
    found = setup(**CASES[name], **NO_MAP)
    assert cost(found).memory == pytest.approx(
        allocated(found, found.partition.elements(1, 0)), rel=TOLERANCE
    )
    assert decomposed(found, 1).memory == [cost(found).memory]


def test_it_is_that_of_meshes(tmp_path: Path) -> None:
    mesh = Box((4, 3, 3), high=(800.0, 800.0, 600.0))
    points, numbers = numbered(mesh)
    cells = cells_of(numbers, mesh.tags(np.arange(mesh.count)) > 0, np.ones(mesh.count, int))
    save(tmp_path / "mesh.msh", points, cells, {"sides": (1, 2), "rock": (1, 3)})
    volume = {name: ROCK[name] for name in ("vp", "vs", "rho")}
    found = setup(
        grid={"file": str(tmp_path / "mesh.msh"), "vertical": "down"},
        medium={"kind": "volumes", "volumes": {"rock": volume}},
        boundary={"surfaces": {"sides": "free-surface"}},
        **NO_MAP,
    )
    assert cost(found).memory == pytest.approx(
        allocated(found, found.partition.elements(1, 0)), rel=TOLERANCE
    )


@pytest.mark.parametrize(
    "output",
    [
        {"shaking_map": True},
        {"surface": {"interval": 0.02, "stride": 2}},
        {"volumes": {"interval": 0.02}},
    ],
    ids=lambda output: next(iter(output)),
)
def test_outputs_of_the_surface_and_snapshots_count(output: dict[str, Any]) -> None:
    found, without = (
        setup(output=NO_MAP_SECTION | more, method__degree=4) for more in (output, {})
    )
    added = allocated_by_outputs(found) - allocated_by_outputs(without)
    assert cost(found).memory - cost(without).memory == pytest.approx(added, rel=TOLERANCE)


def allocated_by_outputs(found: Any) -> int:
    backend, comm, elements = Counted(), SerialCommunicator(), found.partition.elements(1, 0)
    solver: Any = SimpleNamespace(
        setup=found, backend=backend, comm=comm, elements=elements, fault=None
    )
    solver.propagation = Propagation(backend, comm, discretise(found, elements))
    before = int(backend.now)
    solver.outputs = Outputs(solver)
    return int(backend.now) - before


@pytest.mark.parametrize("name", [*long_variants(["matched layers", "attenuation"]), "refined"])
def test_it_is_that_of_the_elements_of_each_rank(name: str) -> None:
    """Matched layers and finer neighbours are unevenly distributed."""
    found = setup(**CASES[name], **NO_MAP)
    memory = decomposed(found, 5).memory
    per_element = np.array(memory) / np.diff(found.partition.starts(5))
    assert np.ptp(per_element) > 0.05 * per_element.mean()
    for rank in range(5):
        elements = found.partition.elements(5, rank)
        shared = sum(faces.sends.count for faces in elements.shared.values())
        buffers = 2 * 3 * shared * found.trace.bytes
        assert memory[rank] == device_memory(found, elements)
        assert memory[rank] - buffers == pytest.approx(allocated(found, elements), rel=TOLERANCE)


@pytest.mark.parametrize("name", ["sponge", "matched layers", "soft ground", "plain"])
def test_rows_of_damping_are_counted_without_tables(name: str) -> None:
    soft = {**LAYERS, "layers": [{"top": 0, **SOFT, "vs": 200}, *LAYERS["layers"][1:]]}
    more = {"soft ground": {"medium": soft, **LOSSLESS}, "plain": CLOSED}
    found = setup(**(more.get(name) or CASES[name]), **NO_MAP)
    each = [found.partition.elements(3, rank) for rank in range(3)]
    rows = [len(found.absorption.damping(elements)[1]) for elements in each]
    assert [found.absorption.damping_rows(elements) for elements in each] == rows
    assert bool(sum(rows)) == (name in ("sponge", "soft ground"))


@pytest.mark.full
def test_it_includes_the_buffers_of_an_exchange(
    on_ranks: Callable[..., str], tmp_path: Path
) -> None:
    on_ranks(3, PROGRAM, tmp_path / "found.json")
    pairs = json.loads((tmp_path / "found.json").read_text())
    assert len(pairs) == 2 * 3
    for actual, estimate in pairs:
        assert estimate == pytest.approx(actual, rel=0.03)  # tables of narrowed segments, too
