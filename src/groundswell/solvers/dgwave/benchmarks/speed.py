"""Speed on one device: kernel versions, rooflines, and two degrees (figures 4 and 5).

Speeds are in unknowns (values of all fields at all nodes) per second and stage.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from math import prod

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.bench import Session
from groundswell.bench.rig import alone
from groundswell.bench.tables import Measured, Row
from groundswell.errors import BackendError
from groundswell.grids.cartesian import Triple
from groundswell.solvers.dgwave.benchmarks.problems import (
    TABLE_2,
    Configuration,
    cubes,
    discretise,
    fill,
)
from groundswell.solvers.dgwave.benchmarks.traffic import Element, KernelCost, total
from groundswell.solvers.dgwave.benchmarks.versions import (
    SOLVER,
    Steps,
    Version,
    costs_of,
)
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as SCHEME

DEGREE, LOW_DEGREE = 7, 3  # 512 and 64 nodes
ROOM = 0.7  # fraction of free memory that a problem may use
STAGES = SCHEME.stages
LONG_STAGE = 0.05  # s: stages of a CPU that take longer are timed once, and not all of them if
MOST_SECONDS = 3.0  # they take longer than this in all


# --- versions of the kernels (figure 4) -----------------------------------------------------------


def measure_kernels(session: Session, rivals: Sequence[Version] = ()) -> Iterator[Row]:
    """Measure the solver in all configurations; with a GPU, first on its host, on as many elements.

    Args:
        rivals: versions to measure before it, only the first of them on the host of a GPU.

    Yields:
        Rows: `configuration`, `precision`, `degree`, `device` ("cpu" or "cuda"), `version`,
        `elements`, `seconds` per stage, `stages`: number of different stages that were timed,
        `kernels`: seconds of each kernel per stage, `GDOFS`:
        billion unknowns per second and stage, `bytes` and `flops` per unknown, `share`: fraction of
        the `bandwidth`, `over_base`: speed-up over the first rival, `over_cpu`: speed-up over the
        solver on the CPU, both None if that was not measured, and `blocks`, see `Steps`.
    """
    here = session.backend
    mesh = cubes(fitting_cells(here, session.sizes.cells))
    host = None if here.on_host else _open_host(session)
    for configuration in session.sizes.compared:
        on_host: list[Row] = []
        problem = discretise(configuration, DEGREE, mesh)
        if host:
            rate = session.measured["host_bandwidth"]
            on_host = _measured_all(host, problem, configuration, (*rivals[:1], SOLVER), rate)
            yield from _compared(on_host, on_host)
        rows = _measured_all(here, problem, configuration, (*rivals, SOLVER), session.bandwidth())
        yield from _compared(rows, rows if here.on_host else on_host)


def cpu_of(measured: Measured) -> str:
    """The CPU that speed-ups compare with; empty if none was measured."""
    here = measured["devices"][0] if measured["backend"] == "cpu" else ""
    return str(measured.get("host", here))


def _open_host(session: Session) -> Backend | None:
    """The CPU of a machine with a GPU; None, with a note, if it cannot run kernels."""
    try:
        host = open_backend("cpu")
        session.measured["host"] = host.device
        session.measured["host_bandwidth"] = host.measure_bandwidth()
    except BackendError as error:
        session.measured["notes"].append(f"kernels: the CPU: {error}")
        return None
    return host


def _compared(rows: Sequence[Row], on_cpu: Sequence[Row]) -> Iterator[Row]:
    """Add speed-ups: over the first rival, and over the last CPU row (solver)."""
    base = rows[0] if len(rows) > 1 else None
    for row in rows:
        over_base = row["GDOFS"] / base["GDOFS"] if base else None
        over_cpu = row["GDOFS"] / on_cpu[-1]["GDOFS"] if on_cpu else None
        yield row | {"over_base": over_base, "over_cpu": over_cpu}


def _measured_all(
    backend: Backend,
    problem: Discretisation,
    configuration: Configuration,
    versions: Sequence[Version],
    bandwidth: float,
) -> list[Row]:
    """Measure a row for each version, without comparisons."""
    for version in versions:
        version.build(backend, problem)  # compiles all of them in parallel
    return [_measured(backend, problem, configuration, each, bandwidth) for each in versions]


def _measured(
    backend: Backend,
    problem: Discretisation,
    configuration: Configuration,
    version: Version,
    bandwidth: float,
) -> Row:
    timed = [_timed(backend, problem, make) for make in version.build(backend, problem)]
    fastest = min(timed, key=lambda row: float(row["seconds"]))
    element, count = Element(configuration, problem.degree), problem.elements.count
    cost = total(version.costs[name](element) for name in fastest["kernels"])
    return {
        **configuration.row,
        "degree": problem.degree,
        "device": backend.name,
        "version": version.name,
        "elements": count,
        **fastest,
        **rates(count * element.unknowns, fastest["seconds"], cost, bandwidth),
    }


def rates(unknowns: int, seconds: float, cost: KernelCost, bandwidth: float) -> Row:
    """The speed of a stage, its cost per unknown, and the fraction of bandwidth that it reaches."""
    speed = unknowns / seconds
    counted = {"bytes": cost.bytes, "flops": cost.flops, "bandwidth": bandwidth}
    return {"GDOFS": speed / 1e9, **counted, "share": speed * cost.bytes / bandwidth}


def _timed(backend: Backend, problem: Discretisation, make: Callable[[], Steps]) -> Row:
    """Measure seconds per stage, and of each kernel in it."""
    gc.collect()
    steps = make()
    fill(backend, steps.u, problem.elements.numbers)
    about: Row = {"stages": STAGES, "blocks": steps.blocks}
    if backend.on_host:
        first = _seconds_of_stage(backend, steps, 0)  # its arrays are not in memory before
        if first > LONG_STAGE:
            return about | _timed_once(backend, steps, first)
    stage = alone(backend, steps.step) / STAGES
    kernels = {name: alone(backend, found) / STAGES for name, found in steps.kernels.items()}
    return about | {"seconds": stage, "kernels": kernels}


def _timed_once(backend: Backend, steps: Steps, stage: float) -> Row:
    """Measure long stages once, the last of them if there is no time for all.

    Args:
        stage: seconds of a stage, at most.
    """
    count = max(1, min(STAGES, int(MOST_SECONDS / stage)))
    timed = range(STAGES - count, STAGES)
    kernels = {
        name: sum(backend.measure_seconds(launches[n]) for n in timed) / count
        for name, launches in steps.kernels.items()
    }
    return {"seconds": sum(kernels.values()), "kernels": kernels, "stages": count}


def _seconds_of_stage(backend: Backend, steps: Steps, stage: int) -> float:
    """Seconds of all kernels in a stage."""
    launches = [found[stage] for found in steps.kernels.values()]
    return backend.measure_seconds(in_order(launches))


# --- rooflines ------------------------------------------------------------------------------------


def find_rooflines(session: Session, rivals: Sequence[Version] = ()) -> Iterator[Row]:
    """Rooflines of the device's kernels in `measure_kernels` and `measure_degrees`.

    Args:
        rivals: the versions measured there.

    Yields:
        Rows: `configuration`, `precision`, `degree`, `version`, `kernel`, `seconds` per stage,
        `GDOFS`, `flops` and `bytes` per unknown, `intensity`: flops per byte, `GFLOPS`,
        `roofline`: GFLOP/s at the measured bandwidth, and `share`: fraction of the roofline.
    """
    measured, costs = session.measured, costs_of((*rivals, SOLVER))
    others = [row for row in measured["degrees"] if row["degree"] != DEGREE]
    for row in [*measured["kernels"], *others]:
        if row["device"] != measured["backend"]:
            continue
        configuration = _configuration(row)
        element = Element(configuration, row["degree"])
        for kernel, seconds in row["kernels"].items():
            cost, unknowns = costs[kernel](element), row["elements"] * element.unknowns
            yield {
                **configuration.row,
                **{name: row[name] for name in ("degree", "version")},
                "kernel": kernel,
                "seconds": seconds,
                **rates(unknowns, seconds, cost, measured["bandwidth"]),
                "intensity": cost.flops / cost.bytes,
                "GFLOPS": cost.flops * unknowns / seconds / 1e9,
                "roofline": cost.flops / cost.bytes * measured["bandwidth"] / 1e9,
            }


def _configuration(row: Row) -> Configuration:
    equations, flux = row["configuration"].split(", ")
    return Configuration(equations, flux, row["precision"])


# --- degrees (figure 5) ---------------------------------------------------------------------------


def measure_degrees(session: Session, rivals: Sequence[Version] = ()) -> Iterator[Row]:
    """Measure elements of 64 and 512 nodes, with the same total number of nodes.

    Args:
        rivals: versions to measure before the solver.

    Yields:
        Rows as in `measure_kernels`, with `over_64`: speed-up over elements of 64 nodes, instead of
        the other comparisons.
    """
    backend = session.backend
    edge = fitting_edge(backend, session.sizes.nodes)
    meshes = {
        degree: cubes((edge * (DEGREE + 1) // (degree + 1),) * 3) for degree in (LOW_DEGREE, DEGREE)
    }
    for configuration in session.sizes.compared:
        problems = [discretise(configuration, n, mesh) for n, mesh in meshes.items()]
        for version in (*rivals, SOLVER):
            bandwidth = session.bandwidth()
            rows = [_measured(backend, p, configuration, version, bandwidth) for p in problems]
            yield from (row | {"over_64": row["GDOFS"] / rows[0]["GDOFS"]} for row in rows)


def fitting_cells(backend: Backend, cells: Triple) -> Triple:
    """These numbers of elements along x, y, z, or those of a smaller cube if memory is short."""
    nodes = prod(cells) * (DEGREE + 1) ** 3
    if nodes * max(map(_bytes_of_node, TABLE_2)) <= ROOM * backend.memory_info()[0]:
        return cells
    return (fitting_edge(backend, nodes),) * 3


def fitting_edge(backend: Backend, nodes: int) -> int:
    """Number of elements of 512 nodes along the edge of a cube with `nodes` nodes, or that fit."""
    gc.collect()
    backend.measure_bandwidth()  # this returns unused memory to the device
    free = ROOM * backend.memory_info()[0]
    fitting = min(nodes, free / max(map(_bytes_of_node, TABLE_2)))
    return max(1, round((fitting / (DEGREE + 1) ** 3) ** (1 / 3)))


def _bytes_of_node(configuration: Configuration) -> float:
    """Device memory per node: fields, register, and contributions or two sets of traces."""
    element = Element(configuration, LOW_DEGREE)
    fields, traces = element.unknowns, 2 * element.traces
    most = 2 * fields + max(fields, traces)
    return float(most * configuration.size / (LOW_DEGREE + 1) ** 3)
