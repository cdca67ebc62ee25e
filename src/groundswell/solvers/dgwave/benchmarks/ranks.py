"""Several ranks: time that the exchange of elements or traces adds to a step, and weak scaling.

They correspond to figures 6, 7 and 8 of the paper.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, Protocol

from groundswell.backends import Backend, Launch
from groundswell.backends.base import in_order
from groundswell.bench import Session
from groundswell.bench.exchange.links import most_even
from groundswell.bench.rig import Rig, counts, on_some
from groundswell.bench.tables import Row
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.decomposition import process_grids
from groundswell.exchange.transfer import BufferedTransfer
from groundswell.exchange.transports.mpi import MpiTransport
from groundswell.grids.cartesian import Triple
from groundswell.solvers.dgwave.benchmarks.problems import Configuration, cubes, discretise
from groundswell.solvers.dgwave.benchmarks.speed import DEGREE, rates
from groundswell.solvers.dgwave.benchmarks.trace_exchange import TraceExchange
from groundswell.solvers.dgwave.benchmarks.traffic import Element, advance, total
from groundswell.solvers.dgwave.benchmarks.versions import Costs
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as SCHEME

SECONDS = 1200.0  # time limit of a table
TRACES = "face traces"
WEAK = tuple(Configuration("elastic", "central", name) for name in ("double", "single"))


# GPU-aware MPI driven by a thread, so that messages progress while the host computes.
THREADED: dict[str, Any] = {
    "mpi-gpu-thread": partial(BufferedTransfer, transport=partial(MpiTransport, threaded=True))
}


# --- exchange (figures 6 and 7) -------------------------------------------------------------------


class Exchange(Protocol):
    """An exchange of a rank's elements; see `TraceExchange`."""

    bytes_sent: int
    path: str
    in_graph: bool
    costs: Costs

    @property
    def compute(self) -> list[Launch]:
        """The launches of a step without exchange."""

    def step(self, *, overlap: bool) -> list[Launch]:
        """The launches of a step."""

    def check(self) -> None:
        """Raise RunFailed if a wait for another rank timed out."""

    def close(self) -> None:
        """Release shared memory; collective."""


# Creates an exchange from a backend, the ranks, a rank's problem, and the transport.
Creator = Callable[[Backend, Communicator, Discretisation, Any], Exchange]
OWN: Mapping[str, Creator] = {TRACES: TraceExchange}


def measure_exchange(session: Session, exchanges: Mapping[str, Creator] = OWN) -> Iterator[Row]:
    """Measure steps for each kind of message and transport, with and without overlap.

    Args:
        exchanges: by the name of what they send.

    Yields:
        Rows: `configuration`, `precision`, `elements` of a rank, `outer`: elements that share faces
        with other ranks, `sent`, `transport`, `path`, `overlap`, `seconds` per stage, `compute`:
        seconds per stage without exchange, `exchange`: seconds that the exchange adds to a stage,
        `sent_bytes`: most bytes that a rank sends per stage, and the speed of all ranks as
        in `measure_kernels`: `GDOFS`, `bytes`, `flops` and `share`.
    """
    rig, sizes = session.rig, session.sizes
    for configuration in sizes.configurations:
        make = partial(shared_problem, rig.comm, sizes.shared, configuration)
        problem = rig.attempt("elements", make)
        if problem is None:
            return
        element, elements = Element(configuration, DEGREE), problem.elements
        about = {**configuration.row, "elements": elements.count, "outer": elements.outer}
        unknowns = session.comm.size * prod(sizes.shared) * element.unknowns
        for sent, create in exchanges.items():
            for transport in rig.transports:
                measure = partial(_exchanged, rig, create, problem, transport)
                for costs, row in rig.attempt(transport, measure) or ():
                    cost = total(each(element) for each in costs.values())
                    speed = rates(unknowns, row["seconds"], cost, session.measured["bandwidth"])
                    yield {**about, "sent": sent, **row, **speed}


def shared_problem(
    comm: Communicator, cells: Triple, configuration: Configuration
) -> Discretisation:
    """The discrete problem of a rank, in a box that is divided equally.

    Args:
        cells: number of cubes of each rank along x, y and z.
    """
    grid = most_even(process_grids(comm.size, 3))[::-1]
    x, y, z = (n * parts for n, parts in zip(cells, grid, strict=True))
    elements = cubes((x, y, z), comm.size, comm.rank)
    return discretise(configuration, DEGREE, elements)


def _exchanged(
    rig: Rig, create: Creator, problem: Discretisation, transport: str
) -> list[tuple[Costs, Row]]:
    """Steps without and with overlap, and the costs of their kernels."""
    gc.collect()
    exchange = create(rig.backend, rig.comm, problem, THREADED.get(transport, transport))
    with rig.holding(exchange):
        compute = rig.seconds(in_order(exchange.compute), in_graph=True) / SCHEME.stages
        times = {overlap: _seconds(rig, exchange, overlap=overlap) for overlap in (False, True)}
        exchange.check()
        exchange.close()
    about: Row = {"transport": transport, "path": exchange.path, "compute": compute}
    about["sent_bytes"] = max(rig.comm.allgather(exchange.bytes_sent))
    return [
        (exchange.costs, {**about, "overlap": overlap, "seconds": seconds, "exchange": added})
        for overlap, seconds in times.items()
        for added in [max(0.0, seconds - compute)]
    ]


def _seconds(rig: Rig, exchange: Exchange, *, overlap: bool) -> float:
    """Seconds per stage."""
    step = in_order(exchange.step(overlap=overlap))
    return rig.seconds(step, in_graph=exchange.in_graph) / SCHEME.stages


# --- weak scaling (figure 8) ----------------------------------------------------------------------


def measure_weak(session: Session) -> Iterator[Row]:
    """Measure steps of the solver with a fixed number of elements per rank, on 1, 2, 4, ... ranks.

    Yields:
        Rows: `configuration`, `precision`, `ranks`, `elements` of a rank, `transport`, `seconds`
        per stage, the speed of all ranks as in `measure_kernels`, and `efficiency` relative to one
        rank.
    """
    rig, bandwidths = session.rig, session.measured["bandwidths"]
    for configuration in WEAK:
        first = None
        element = Element(configuration, DEGREE)
        for count in counts(rig.comm.size):
            measure = partial(_weak, cells=session.sizes.weak, configuration=configuration)
            found = on_some(rig, count, SECONDS, measure)
            if not found:
                continue
            first = first or found["seconds"]
            elements, available = prod(session.sizes.weak), sum(bandwidths[:count])
            unknowns, cost = count * elements * element.unknowns, advance(element)
            yield {
                **configuration.row,
                **{"ranks": count, "elements": elements},
                **found,
                **rates(unknowns, found["seconds"], cost, available),
                "efficiency": first / found["seconds"],
            }


def _weak(rig: Rig, cells: Triple, configuration: Configuration) -> Row | None:
    transport = "auto" if rig.comm.size == 1 else fastest(rig.transports)
    return rig.attempt(transport, partial(_scaled, rig, cells, configuration, transport))


def _scaled(rig: Rig, cells: Triple, configuration: Configuration, transport: str) -> Row:
    gc.collect()
    problem = shared_problem(rig.comm, cells, configuration)
    exchange = TraceExchange(rig.backend, rig.comm, problem, transport)
    with rig.holding(exchange):
        seconds = _seconds(rig, exchange, overlap=True)
        exchange.check()
        exchange.close()
    return {"transport": transport if rig.comm.size > 1 else "none", "seconds": seconds}


def fastest(transports: Sequence[str]) -> str:
    """Peer memory if it works, otherwise the first transport."""
    return "peer" if "peer" in transports else transports[0]
