"""Several ranks: time that the exchange of elements or traces adds to a step, and weak scaling.

They correspond to figures 6, 7 and 8 of the paper.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from functools import partial
from math import prod
from typing import Any

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
from groundswell.solvers.dgwave.benchmarks.ghosts import REDUCED, WHOLE, GhostExchange
from groundswell.solvers.dgwave.benchmarks.ladder import F1S, Ladder
from groundswell.solvers.dgwave.benchmarks.problems import (
    Configuration,
    cubes,
    discretise,
    fill,
)
from groundswell.solvers.dgwave.benchmarks.speed import DEGREE, rates, register_limits
from groundswell.solvers.dgwave.benchmarks.trace_exchange import TraceExchange
from groundswell.solvers.dgwave.benchmarks.traffic import COSTS, Element, total
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as SCHEME

SECONDS = 1200.0  # time limit of a table
TRACES = "face traces"
SENT = (WHOLE, REDUCED, TRACES)
Exchange = GhostExchange | TraceExchange
FUSED = ("volume_and_flux", "integrate")  # kernels that are used with ghost elements
WEAK = tuple(Configuration("elastic", "central", name) for name in ("double", "single"))


# GPU-aware MPI driven by a thread, so that messages progress while the host computes.
THREADED: dict[str, Any] = {
    "mpi-gpu-thread": partial(BufferedTransfer, transport=partial(MpiTransport, threaded=True))
}


# --- exchange (figures 6 and 7) -------------------------------------------------------------------


def measure_exchange(session: Session) -> Iterator[Row]:
    """Measure steps for each kind of message and transport, with and without overlap.

    Yields:
        Rows: `configuration`, `precision`, `elements` of a rank, `outer`: elements that share faces
        with other ranks, `sent`, `transport`, `path`, `overlap`, `seconds` per stage, `compute`:
        seconds per stage without exchange, `overhead`: the fraction of a stage that the exchange
        adds, `sent_bytes`: most bytes that a rank sends per stage, and the speed of all ranks as
        in `measure_kernels`: `GDOFS`, `bytes`, `flops` and `share`.
    """
    rig, sizes = session.rig, session.sizes
    for configuration in sizes.configurations:
        gc.collect()
        make = partial(shared_ladder, rig, sizes.shared, configuration)
        ladder = rig.attempt("elements", make)
        if ladder is None:
            return
        for sent in SENT:
            for transport in rig.transports:
                make_rows = partial(_exchanged, rig, ladder, sent, transport)
                for row in rig.attempt(transport, make_rows) or ():
                    yield _row(session, configuration, ladder, row)


def shared_ladder(rig: Rig, cells: Triple, configuration: Configuration) -> Ladder:
    """The kernels of this rank; see `shared_problem`."""
    problem = shared_problem(rig.comm, cells, configuration)
    blocks = register_limits(rig.backend, problem, F1S)[0]
    ladder = Ladder(rig.backend, problem, F1S, blocks)
    fill(rig.backend, ladder.u, ladder.elements.numbers)
    return ladder


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


def _exchanged(rig: Rig, ladder: Ladder, sent: str, transport: str) -> list[Row]:
    """Steps without and with overlap."""
    gc.collect()
    by = THREADED.get(transport, transport)
    exchange: Exchange
    if sent == TRACES:
        exchange = TraceExchange(rig.backend, rig.comm, ladder.problem, by)
    else:
        exchange = GhostExchange(rig.backend, rig.comm, ladder, sent, by)
    with rig.holding(exchange):
        compute = rig.seconds(in_order(exchange.compute), in_graph=True) / SCHEME.stages
        times = {overlap: _seconds(rig, exchange, overlap=overlap) for overlap in (False, True)}
        exchange.check()
        exchange.close()
    about: Row = {"sent": sent, "transport": transport, "path": exchange.path}
    about["sent_bytes"] = max(rig.comm.allgather(exchange.bytes_sent))
    about["compute"] = compute
    return [
        {
            **about,
            "overlap": overlap,
            "seconds": seconds,
            "overhead": max(0.0, 1 - compute / seconds),
        }
        for overlap, seconds in times.items()
    ]


def _seconds(rig: Rig, exchange: Exchange, *, overlap: bool) -> float:
    """Seconds per stage."""
    step = in_order(exchange.step(overlap=overlap))
    return rig.seconds(step, in_graph=exchange.in_graph) / SCHEME.stages


def _row(session: Session, configuration: Configuration, ladder: Ladder, found: Row) -> Row:
    elements, element = ladder.elements, Element(configuration, DEGREE)
    unknowns = session.comm.size * prod(session.sizes.shared) * element.unknowns
    names = ("advance",) if found["sent"] == TRACES else FUSED
    cost = total(COSTS[name](element) for name in names)
    return {
        **configuration.row,
        **{"elements": elements.count, "outer": elements.outer},
        **found,
        **rates(unknowns, found["seconds"], cost, session.measured["bandwidth"]),
    }


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
            unknowns, cost = count * elements * element.unknowns, COSTS["advance"](element)
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
