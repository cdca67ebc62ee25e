"""Time of a step on several ranks: its parts, transports, and weak scaling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from groundswell.backends.base import in_order
from groundswell.bench.rig import FASTEST, Rig, counts, on_some
from groundswell.bench.tables import Row
from groundswell.solvers.ultrasound.benchmarks.blocks import (
    CUTS,
    LOSSY,
    Blocks,
    Overlaps,
    blocks_of_eight,
    propagation_on,
)
from groundswell.solvers.ultrasound.benchmarks.single import (
    parts_of,
    step_kind,
    transform_pair,
    transform_seconds,
)
from groundswell.solvers.ultrasound.propagation import Propagation

STAGED = "mpi"  # through host memory
SECONDS = 1200.0  # limit of the time for a table


# --- a step and its parts -------------------------------------------------------------------------


def measure_breakdown(rig: Rig, edge: int, overlaps: Sequence[int]) -> Iterator[Row]:
    """Parts of a step with MPI through the host, and with the fastest other transport.

    Yields:
        Rows: `cut`, `processes`, `overlap`, `extended` points of a rank, their largest prime
        `factor`, `step`, `transport`, `seconds` per step, and its parts: the time of the
        `transforms` by the library, of other `kernels`, and the time that the `exchange` adds to
        the step.
    """
    for cut in CUTS:
        for overlap in overlaps:
            found = _steps(rig, edge, cut, overlap)
            times = {name: step["seconds"] for name, step in found.get("steps", {}).items()}
            for name in _staged_and_fastest(times):
                parts = parts_of(times[name], found["compute"], found["transforms"])
                yield {**found["about"], "transport": name, **parts}


def _staged_and_fastest(times: Mapping[str, float]) -> list[str]:
    others = [name for name in times if name != STAGED]
    fastest = min(others, key=lambda name: times[name], default=STAGED)
    return [name for name in dict.fromkeys([STAGED, fastest]) if name in times]


def measure_transports(rig: Rig, edges: Sequence[int], overlaps: Sequence[int]) -> Iterator[Row]:
    """Steps with each transport.

    Yields:
        Rows: `edge` of the cube of eight ranks, `cut`, `processes`, `overlap`, `transport`, `path`,
        `seconds` per step, and `speedup` over MPI through the host.
    """
    for edge in edges:
        for cut in CUTS:
            for overlap in overlaps:
                found = _steps(rig, edge, cut, overlap)
                steps = found.get("steps", {})
                staged = steps.get(STAGED, {}).get("seconds")
                for name, step in steps.items():
                    about = {"edge": edge, **found["about"], "transport": name}
                    speedup = staged / step["seconds"] if staged else None
                    yield {**about, **step, "speedup": speedup}


def _steps(rig: Rig, edge: int, cut: str, overlap: int) -> dict[str, Any]:
    """Times of a step by transport, kept for other tables; empty if the time limit is reached."""
    key = (edge, cut, overlap)
    if key not in rig.remembered:
        blocks = blocks_of_eight(edge, cut, overlap, rig.comm.size)
        found = _measure(rig, blocks, rig.transports)
        if not found:
            return {}
        found["about"] = {"cut": cut, "overlap": overlap, "processes": blocks.processes}
        found["about"] |= {"extended": blocks.extended, "factor": blocks.largest_factor}
        found["about"] |= {"step": found["step"]}
        rig.remembered[key] = found
    return dict(rig.remembered[key])


def _measure(rig: Rig, blocks: Blocks, transports: Sequence[str]) -> dict[str, Any]:
    """Times: `compute`, a step without exchange; its `transforms`; `steps` by transport."""
    propagation = rig.attempt("a block", lambda: _propagation(rig, blocks))
    if propagation is None:
        return {}
    compute, transforms = _seconds(rig, propagation), _transforms(rig, propagation)
    steps = {}
    if any(blocks.overlap):
        overlaps = Overlaps(rig, blocks, propagation)
        found = {
            name: rig.attempt(name, partial(_step, rig, overlaps, propagation, name))
            for name in transports
        }
        steps = {name: step for name, step in found.items() if step is not None}
    about = {"step": step_kind(propagation)}
    return about | {"compute": compute, "transforms": transforms, "steps": steps}


def _propagation(rig: Rig, blocks: Blocks) -> Propagation:
    return propagation_on(rig.backend, LOSSY, blocks.window(rig.comm.rank))


def _step(rig: Rig, overlaps: Overlaps, propagation: Propagation, transport: str) -> Row:
    """Seconds per step, and the path of its messages."""
    with rig.holding(overlaps):
        overlaps.connect(transport)
        in_graph = all(exchange.in_graph for exchange in overlaps.exchanges)
        seconds = _seconds(rig, propagation, in_graph=in_graph)
        path = overlaps.exchanges[0].path
        overlaps.close()
    return {"seconds": seconds, "path": path}


def _seconds(rig: Rig, propagation: Propagation, *, in_graph: bool = True) -> float:
    return rig.seconds(in_order(propagation.launches), in_graph=in_graph)


def _transforms(rig: Rig, propagation: Propagation) -> float:
    pair = rig.seconds(in_order(transform_pair(propagation)), in_graph=True)
    return transform_seconds(propagation, pair)


# --- weak scaling ---------------------------------------------------------------------------------


def measure_weak(rig: Rig, edge: int, overlap: int) -> Iterator[Row]:
    """Steps with one cube per rank in a row along z, on 1, 2, 4 and so on up to all ranks.

    A single rank transforms only its cube, without overlaps.

    Yields:
        Rows: `ranks`, `processes`, `cells` of a block, `extended` points of a rank, `seconds` per
        step, the time of the `exchange`, its `share` of the step, and the `efficiency` relative to
        one rank.
    """
    alone = None
    for count in counts(rig.comm.size):
        row = on_some(rig, count, SECONDS, partial(_weak, edge=edge, overlap=overlap))
        if row:
            alone = alone or row["seconds"]
            yield row | {"efficiency": alone / row["seconds"]}


def _weak(rig: Rig, edge: int, overlap: int) -> Row | None:
    ranks = rig.comm.size
    processes = (1, 1, ranks)
    blocks = Blocks((edge,) * 3, processes, (0, 0, overlap if ranks > 1 else 0))
    usual = FASTEST[rig.backend.name]
    fastest = usual if usual in rig.transports else rig.transports[0]
    found = _measure(rig, blocks, [fastest])
    steps = found.get("steps", {})
    if not found or ranks > 1 > len(steps):
        return None
    compute = found["compute"]
    seconds = steps[fastest]["seconds"] if steps else compute
    parts = parts_of(seconds, compute, found["transforms"])
    about = {"ranks": ranks, "processes": processes, "cells": blocks.cells}
    about |= {"extended": blocks.extended, "transport": fastest if steps else "none"}
    return {**about, **parts, "share": parts["exchange"] / seconds}
