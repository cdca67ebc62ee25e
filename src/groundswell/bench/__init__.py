"""The tables of the methods' documents, measured on this machine beside the published figures."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from groundswell.backends import Backend
from groundswell.bench.tell import Tell, silent
from groundswell.errors import BackendError, InputError
from groundswell.exchange.devices import open_device
from groundswell.exchange.world import World, world
from groundswell.io.atomic import whole

SUBJECTS = ("earthquake", "cavity", "poisson", "exchange")
ON_RANKS = ("cavity", "poisson", "exchange")


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
    if subject not in SUBJECTS:
        raise InputError(f"no benchmark of {subject!r}; there are: {', '.join(SUBJECTS)}")
    ranks = world()
    if subject not in ON_RANKS and ranks.size > 1:
        raise InputError(
            f"{subject!r} is measured on one process, not on {ranks.size}; start it without mpiexec"
        )
    machine = open_device(backend, ranks) if backend else fastest(ranks)
    module = import_module(f"groundswell.bench.{subject}")
    measured: dict[str, Any] = module.measure(machine, tell=tell if ranks.first else silent)
    if output is not None and ranks.first:
        folder = Path(output)
        name = f"bench_{subject}" + f"_{ranks.size}_ranks" * (ranks.size > 1)
        with whole(folder / f"{name}.json") as part:
            part.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
        module.draw(measured, folder / f"{name}.png")
    return measured


def fastest(ranks: World) -> Backend:
    try:
        return open_device("cuda", ranks)
    except BackendError:
        return open_device("cpu", ranks)
