"""The kernels of the DG waves benchmark against the solver's own, on one rank and on several."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulated_backend import EmulatedBackend
from ranks import run_to_json

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.solvers.dgwave.benchmarks.problems import (
    CHUNK,
    TABLE_2,
    Configuration,
    cubes,
    discretise,
    fill,
)
from groundswell.solvers.dgwave.benchmarks.traffic import Element, total
from groundswell.solvers.dgwave.benchmarks.versions import SOLVER, SolverSteps, costs_of
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell_rivals.dgwave.ghosts import GHOST, LOCAL, Ghosts
from groundswell_rivals.dgwave.ladder import (
    BASE,
    VERSIONS,
    Ladder,
    Version,
    faces_of_nodes,
)
from groundswell_rivals.dgwave.traffic import surface_of

pytestmark = pytest.mark.each_value

COSTS = costs_of([*VERSIONS, SOLVER])
ACOUSTIC, CENTRAL, RIEMANN, *_, SINGLE = TABLE_2
TOLERANCE = {"double": 2e-15, "single": 1e-6}
STEPS = 2
ON_RANKS = """
import json, sys
import numpy as np
from groundswell.backends import open_backend
from groundswell.backends.base import in_order
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell_rivals.dgwave.ghost_exchange import REDUCED, WHOLE, GhostExchange
from groundswell_rivals.dgwave.ladder import F1S, Ladder
from groundswell.solvers.dgwave.benchmarks.problems import TABLE_2, cubes, discretise, fill
from groundswell.solvers.dgwave.benchmarks.trace_exchange import TraceExchange

comm, backend = get_communicator(), open_backend("cpu")
elements = cubes((3, 2, 4), comm.size, comm.rank)
problem = discretise(TABLE_2[2], 2, elements)
found = []
for transport in ("mpi", "peer", "mpi-thread"):
    for overlap in (False, True):
        for sent in (WHOLE, REDUCED, "traces"):
            ladder = Ladder(backend, problem, F1S)
            fill(backend, ladder.u, elements.numbers)
            if sent == "traces":
                exchange = TraceExchange(backend, comm, problem, transport)
            else:
                exchange = GhostExchange(backend, comm, ladder, sent, transport)
            step = in_order(exchange.step(overlap=overlap))
            step(), step()
            exchange.check()
            u = exchange.u if sent == "traces" else ladder.u
            every = comm.allgather((elements.numbers, u.copy(), exchange.bytes_sent))
            exchange.close()
            fields = np.concatenate([u for _, u, _ in every])
            order = np.argsort(np.concatenate([numbers for numbers, _, _ in every]))
            found.append([[transport, overlap, sent], sum(n for _, _, n in every),
                          fields[order].tolist()])
if comm.first:
    json.dump(found, open(sys.argv[1], "w"))
"""


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


def advanced(backend: Backend, problem: Discretisation, version: Version | None) -> Any:
    """The fields after some steps of a version, or of the solver's own kernel."""
    steps = Ladder(backend, problem, version) if version else SolverSteps(backend, problem)
    fill(backend, steps.u, problem.elements.numbers)
    if isinstance(steps, SolverSteps):
        in_order(steps.prepare)()
    step = in_order(steps.step)
    for _ in range(STEPS):
        step()
    backend.synchronize()
    return backend.to_host(steps.u)


def difference(found: Any, expected: Any) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
@pytest.mark.parametrize("configuration", [ACOUSTIC, CENTRAL, RIEMANN, SINGLE], ids=str)
@pytest.mark.parametrize(("cells", "periodic"), [((5, 3, 2), True), ((3, 4, 1), False)])
def test_versions_find_what_the_solver_finds(
    backend: Backend,
    version: Version,
    configuration: Configuration,
    cells: Any,
    periodic: bool,
) -> None:
    problem = discretise(configuration, 2, cubes(cells, periodic=periodic))
    found = advanced(backend, problem, version)
    assert difference(found, advanced(backend, problem, None)) < TOLERANCE[configuration.precision]


def test_steps_change_the_fields(backend: Backend) -> None:
    problem = discretise(RIEMANN, 2, cubes((3, 2, 2)))
    start = np.zeros((12, 9, 27))
    fill(backend, start, problem.elements.numbers)
    assert difference(advanced(backend, problem, None), start) > 0.1


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
@pytest.mark.parametrize("configuration", [ACOUSTIC, CENTRAL], ids=str)
def test_blocks_of_threads_find_the_same(
    backend: Backend, version: Version, configuration: Configuration
) -> None:
    """As on a GPU, also where free surfaces end the elements."""
    emulated = EmulatedBackend()
    problem = discretise(configuration, 2, cubes((2, 1, 2), periodic=version is BASE))
    found = advanced(emulated, problem, version)
    assert difference(found, advanced(backend, problem, None)) < TOLERANCE["double"]


@pytest.mark.gpu
@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
@pytest.mark.parametrize("configuration", TABLE_2, ids=str)
@pytest.mark.parametrize("degree", [3, 7])
def test_versions_on_a_gpu(
    gpu: Any, version: Version, configuration: Configuration, degree: int
) -> None:
    problem = discretise(configuration, degree, cubes((3, 2, 4)))
    found = advanced(gpu, problem, version)
    assert difference(found, advanced(gpu, problem, None)) < TOLERANCE[configuration.precision]


def test_faces_of_nodes() -> None:
    """Their section 6.2.2: none inside; at the corner of faces 0, 2 and 4 the bits of these."""
    bits = faces_of_nodes(7)
    assert bits.shape == (512,) and bits[0] == 0b00010101 and bits[511] == 0b00101010
    assert (bits == 0).sum() == 216
    assert [int((bits >> face & 1).sum()) for face in range(6)] == [64] * 6
    assert bits[3 * 64 + 5 * 8] == 1 and bits[3 * 64 + 7 * 8 + 7] == 0b00001010


def test_fields_of_many_elements_repeat(backend: Backend) -> None:
    u = np.zeros((2 * CHUNK + 5, 4, 8), np.float32)
    fill(backend, u, np.arange(len(u)))
    assert np.array_equal(u[CHUNK : 2 * CHUNK], u[:CHUNK]) and np.array_equal(u[-5:], u[:5])
    assert np.abs(u[1:CHUNK]).max(axis=(1, 2)).min() > 0


# --- several ranks --------------------------------------------------------------------------------


def test_ghosts_of_a_rank() -> None:
    """Each is an element of another rank, in the order in which that rank sends it."""
    parts = [cubes((3, 2, 4), 3, rank) for rank in range(3)]
    every = [Ghosts.of(elements) for elements in parts]
    for elements, ghosts in zip(parts, every, strict=True):
        leaves = [parts[peer].numbers[every[peer].sends[elements.rank]] for peer in ghosts.receives]
        assert [len(found) for found in leaves] == list(ghosts.receives.values())
        remote = ghosts.kinds == GHOST
        found = np.concatenate(leaves)[ghosts.numbers[remote]]
        assert np.array_equal(found, elements.neighbours[remote])
        assert np.array_equal(np.flatnonzero(remote.any(axis=1)), np.arange(elements.outer))
    assert (Ghosts.of(cubes((3, 2, 4))).kinds == LOCAL).all()


@pytest.mark.full
def test_ranks_find_what_one_finds(
    on_ranks: Callable[..., str], backend: Backend, tmp_path: Path
) -> None:
    """By all transports, whatever is sent, hidden or not."""
    expected = advanced(backend, discretise(RIEMANN, 2, cubes((3, 2, 4))), None)
    rows = run_to_json(on_ranks, 3, ON_RANKS, tmp_path)
    assert len(rows) == 18
    for (_, _, sent), _, fields in rows:
        assert difference(np.array(fields), expected) < TOLERANCE["double"], sent
    sizes = {sent: size for (_, _, sent), size, _ in rows}
    whole, reduced, traces = sizes.values()
    assert reduced / whole == pytest.approx((9 * 27 + 3) / (31 * 27 + 3))
    assert traces < reduced / 2


# --- traffic --------------------------------------------------------------------------------------


def test_costs_of_high_degree() -> None:
    """Values of an unknown: 2 for the volume, 4.8 to integrate, 3.8 and traces for the solver."""
    values = {}
    for name, cost in COSTS.items():
        values[name] = cost(Element(RIEMANN, 7)).bytes / 8
    assert values["volume"] == pytest.approx(2, rel=1e-2)
    assert values["integrate"] == pytest.approx(4.8)
    assert values["volume_and_flux"] == pytest.approx(2 + 0.5, rel=2e-2)
    assert values["advance"] == pytest.approx(3.8 + 1.0, rel=1e-2)
    assert values["flux"] == pytest.approx(1 + 2 * 296 / 512, rel=2e-2)


def test_operations_of_an_element() -> None:
    """Of degree 1, where every node lies on three faces, by hand."""
    element = Element(RIEMANN, 1)
    assert (element.unknowns, element.face_nodes, surface_of(element)) == (72, 24, 8)
    flops = {name: round(72 * cost(element).flops, 6) for name, cost in COSTS.items()}
    assert flops["volume"] == 8 * (3 * 2 * 12 + 18)
    assert flops["flux"] == 24 * (18 + 12 + 18 + 9)
    assert flops["volume_and_flux"] == flops["volume"] + flops["flux"]
    assert flops["integrate"] == pytest.approx(72 * 3.6)
    assert flops["advance"] == pytest.approx(flops["volume"] + 24 * 30 + 72 * 3.6)
    every = total(COSTS[name](element) for name in ("volume", "flux"))
    assert every.bytes == COSTS["volume"](element).bytes + COSTS["flux"](element).bytes
