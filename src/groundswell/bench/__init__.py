"""The tables of the methods' documents, measured on this machine beside the published figures."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from groundswell.backends import Backend, open_backend
from groundswell.errors import BackendError, InputError
from groundswell.io.atomic import whole

SOLVERS = ("earthquake",)


def run_bench(
    solver: str, *, backend: str | None = None, output: str | Path | None = None
) -> dict[str, Any]:
    """Measure one solver and return rows of figures.

    Args:
        solver: whose tables.
        backend: "cpu" or "cuda"; by default the GPU where there is one.
        output: folder for `bench_<solver>.json` and a picture; none by default.

    Raises:
        InputError: there are no tables of that solver, or no such backend.
    """
    if solver not in SOLVERS:
        raise InputError(f"no benchmark of {solver!r}; there are: {', '.join(SOLVERS)}")
    machine = open_backend(backend) if backend else _fastest()
    module = import_module(f"groundswell.bench.{solver}")
    measured: dict[str, Any] = module.measure(machine)
    if output is not None:
        folder = Path(output)
        with whole(folder / f"bench_{solver}.json") as part:
            part.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
        module.draw(measured, folder / f"bench_{solver}.png")
    return measured


def _fastest() -> Backend:
    try:
        return open_backend("cuda")
    except BackendError:
        return open_backend("cpu")
