"""The operator by degree and conjugate gradients by size, as Chalmers et al. (2023) measure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.backends import Backend, Blocks, Items, Source
from groundswell.backends.base import in_order
from groundswell.bench import Session
from groundswell.bench.tables import Row
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.linear.cg import RecordedIteration
from groundswell.meshes.hexahedra import Floats
from groundswell.solvers.poisson.benchmarks.problems import SCREENING, Cubes, kinds
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.element_operator import ElementOperator
from groundswell.solvers.poisson.fused_cg import FusedConjugateGradients
from groundswell.solvers.poisson.kernel_variants import choose_variant

ROOFLINE = Path(__file__).with_name("roofline.h")
TIMES, REPEATS = 50, 3  # launches that are timed together, and how often
ITERATIONS = 100


class AtOnce(SerialCommunicator):
    """A rank without others that measures at the same time: ranks of a host share its memory."""

    def __init__(self, job: Communicator) -> None:
        self._job = job

    def share(self, value: Any) -> list[Any]:
        self._job.allgather(None)
        return [value]


def streaming_rate(backend: Backend, count: int) -> float:
    """Bytes per second of a kernel that reads eight values and writes one, `count` times."""
    module = backend.compile(Source(ROOFLINE, {"DOUBLE_PRECISION": 1}))
    x, y = backend.resident_zeros((8 * count,), "f8"), backend.resident_zeros((count,), "f8")
    run = module.launch("stream_eight", Items(count), x, y, count)
    run()
    return 9 * 8 * count / min(backend.measure_seconds(run) for _ in range(10))


def compute_rate(backend: Backend, times: int = 1000) -> float:
    """Floating-point operations per second of a kernel without memory traffic."""
    blocks, threads = 16 * backend.processors, 256
    at_once = 96 if backend.on_host else 48  # see roofline.h
    module = backend.compile(Source(ROOFLINE, {"DOUBLE_PRECISION": 1}))
    y = backend.zeros((blocks * threads,), "f8")
    run = module.launch("multiply_add", Blocks(blocks, threads), y, blocks, times)
    run()
    operations = 2 * at_once * times * blocks * threads
    return operations / min(backend.measure_seconds(run) for _ in range(3))


def measure_operator(session: Session) -> Iterator[Row]:
    """One rank's operator by degree, on cubes of elements (figure 3).

    Other jobs may use the memory of the machine, so streaming is measured before and after. They
    can only reduce the rate of computing, so this is the largest so far.
    """
    backend, sizes, measured = session.backend, session.sizes, session.measured
    after = streaming_rate(backend, sizes.stream)
    for degree, edge in sizes.operator.items():
        cubes = Cubes.on(backend, SerialCommunicator(), degree, edge)
        measured["peak"] = peak = max(measured["peak"], compute_rate(backend))
        for metric in kinds(backend):
            before, seconds = after, _applied(backend, cubes, metric)
            after = streaming_rate(backend, sizes.stream)
            rate = (before + after) / 2
            limit = max(cubes.traffic(metric).operator / rate, cubes.operator_flops / peak)
            yield {
                "degree": degree,
                "elements": cubes.box.count,
                "dofs": cubes.dofs,
                "metric": metric,
                "seconds": seconds,
                "rate": rate,
                "peak": peak,
                "gflops": cubes.operator_flops / seconds / 1e9,
                "roofline": cubes.operator_flops / limit / 1e9,
                "share": limit / seconds,
            }


def measure_iterations(session: Session) -> Iterator[Row]:
    """100 iterations on cubes of elements on each rank (figures 4 to 6)."""
    for degree, edges in session.sizes.edges.items():
        for edge in edges:
            yield from _on_cube(session, session.comm, degree, edge)


def _on_cube(session: Session, comm: Communicator, degree: int, edge: int) -> Iterator[Row]:
    cubes = Cubes.on(session.backend, comm, degree, edge)
    for metric in kinds(session.backend):
        yield _iterated(session, cubes, metric)


def measure_weak(session: Session) -> Iterator[Row]:
    """Time of the largest cubes, on each rank alone at the same time, and on all ranks together."""
    comm, rows = session.comm, session.measured.get("iterations", ())
    for degree in dict.fromkeys(row["degree"] for row in rows):
        edge = max(row["edge"] for row in rows if row["degree"] == degree)
        largest = [row for row in rows if (row["degree"], row["edge"]) == (degree, edge)]
        by_itself = _on_cube(session, AtOnce(comm), degree, edge)
        for alone, row in zip(by_itself, largest, strict=True):
            seconds = max(comm.allgather(alone["seconds"]))
            told = {name: row[name] for name in ("degree", "edge", "ranks", "metric", "seconds")}
            yield {**told, "alone": seconds, "efficiency": seconds / row["seconds"]}


def _applied(backend: Backend, cubes: Cubes, metric: str) -> float:
    """Seconds of the operator."""
    everyone = np.arange(cubes.box.count)
    x, y = (backend.zeros((n,), "f8") for n in (cubes.assembled, cubes.local))
    backend.assign(x, cubes.load)
    elements = ElementOperator(
        backend, cubes.space, Coefficients.screened(SCREENING), "f8", metric=metric
    )
    energies = backend.zeros((elements.blocks(everyone),), "f8")
    run = in_order(elements.launches(everyone, x, y, energies))
    run()
    repeated = in_order([run] * TIMES)
    return min(backend.measure_seconds(repeated) for _ in range(REPEATS)) / TIMES


def operator_on(backend: Backend, cubes: Cubes, metric: str) -> ElementOperator:
    """The fastest operator on the cubes for their number of components."""
    variant = choose_variant(
        *("float64", cubes.degree, metric, cubes.screening),
        components=cubes.components,
        on_host=backend.on_host,
    )
    coefficients = Coefficients.screened(cubes.screening)
    return ElementOperator(backend, cubes.space, coefficients, "f8", metric=metric, variant=variant)


def _iterated(session: Session, cubes: Cubes, metric: str) -> Row:
    backend, bandwidth = session.backend, session.bandwidth()
    elements, ranks = operator_on(backend, cubes, metric), cubes.comm.size
    solver = FusedConjugateGradients(backend, elements, max_iterations=ITERATIONS)
    seconds, residual = time_iterations(backend, solver, cubes.load, cubes.comm)
    return {
        **cubes.sizes,
        "metric": metric,
        "way": str(cubes.space.exchange) if ranks > 1 else "",
        "seconds": seconds,
        "fom": cubes.merit / seconds / 1e9,
        "throughput": cubes.dofs / ranks / seconds,
        "share": cubes.traffic(metric).iteration / seconds / bandwidth,
        "residual": residual,
    }


def time_iterations(
    backend: Backend, solver: RecordedIteration, load: Floats, comm: Communicator
) -> tuple[float, float]:
    """Seconds of an iteration on the slowest rank, and the last residual relative to the first.

    Closes the solver.

    Args:
        load: right-hand side of each component.
    """
    seconds = []
    for _ in range(REPEATS + 1):  # the first one warms up
        backend.assign(solver.b, np.broadcast_to(load, solver.b.shape))
        comm.allgather(None)
        outcome = solver.solve()
        seconds.append(max(comm.allgather(outcome.seconds)) / solver.max_iterations)
    solver.close()
    return min(seconds[1:]), float(outcome.residuals[-1] / outcome.residuals[0])
