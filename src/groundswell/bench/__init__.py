"""The tables of the methods' documents, measured on this machine beside the published figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundswell import registry
from groundswell.backends import Backend
from groundswell.bench.tell import Tell, silent
from groundswell.errors import BackendError, InputError
from groundswell.exchange.devices import open_device
from groundswell.exchange.world import World, world
from groundswell.formats.atomic import atomic_write


@dataclass(frozen=True)
class Benchmark:
    """The tables and figures of a document, measured on this machine.

    Args:
        measure: function `(backend, tell)` that returns rows of figures; every rank calls it.
        draw: function `(measured, path)` that draws them.
        show: function `(measured)` that prints them.
        on_ranks: whether several ranks may measure.
    """

    measure: Callable[..., dict[str, Any]]
    draw: Callable[[dict[str, Any], Path], Any]
    show: Callable[[dict[str, Any]], None]
    on_ranks: bool = True


def run_bench(
    subject: str,
    *,
    backend: str | None = None,
    output: str | Path | None = None,
    tell: Tell = silent,
) -> dict[str, Any]:
    """Measure one solver, or the exchange between ranks, and return rows of figures.

    Every rank must call it; rank 0 writes.

    Args:
        subject: whose tables.
        backend: "cpu" or "cuda"; by default the GPU where there is one.
        output: folder for `bench_<subject>.json`, on several ranks `bench_<subject>_4_ranks.json`
            or so, and a picture; none by default.
        tell: called at rank 0 with what is measured next.

    Raises:
        InputError: there are no tables of that subject, or no such backend; the exchange is to be
            measured on one rank.
    """
    found, ranks = benchmark(subject), world()
    if not found.on_ranks and ranks.size > 1:
        raise InputError(
            f"{subject!r} is measured on one process, not on {ranks.size}; start it without mpiexec"
        )
    machine = open_device(backend, ranks) if backend else fastest(ranks)
    measured = found.measure(machine, tell=tell if ranks.first else silent)
    if output is not None and ranks.first:
        folder = Path(output)
        name = f"bench_{subject}" + f"_{ranks.size}_ranks" * (ranks.size > 1)
        with atomic_write(folder / f"{name}.json") as part:
            part.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
        found.draw(measured, folder / f"{name}.png")
    return measured


def benchmark(subject: str) -> Benchmark:
    """The benchmark of a solver, or of the exchange.

    Raises:
        InputError: there is none of that name.
    """
    if subject == "exchange":
        from groundswell.bench.exchange import BENCHMARK

        return BENCHMARK
    found: Benchmark = registry.find(subject).load("benchmarks")
    return found


def fastest(ranks: World) -> Backend:
    try:
        return open_device("cuda", ranks)
    except BackendError:
        return open_device("cpu", ranks)
