"""`groundswell info --step`: the launches of a step of a case."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import typer

from groundswell.cli.options import BackendName, print_json
from groundswell.simulation.simulation import Simulation


def show_step(
    case: Path, backend: BackendName | None, settings: Mapping[str, object], *, as_json: bool
) -> None:
    """Print the launches of a step on rank 0; all ranks must call it."""
    with Simulation(case, backend, settings=settings) as simulation:
        listing = simulation.launches
        if as_json:
            print_json({"solver": simulation.setup.case.solver, **listing.as_dict()})
        else:
            typer.echo(listing)
