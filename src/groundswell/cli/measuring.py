"""The commands `verify` and `bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundswell.cli.options import (
    EXAMPLE,
    SOLVERS,
    AsJson,
    BackendName,
    backend_option,
    flag,
    print_json,
)
from groundswell.errors import InputError

# Help texts
VERIFY = f"""Solve problems with known answers and compare the results.

The references are analytic and published solutions. The exit code is 1 if a result misses its
tolerance. Problems that need a missing library are skipped. For example

    groundswell verify {EXAMPLE} --full --backend cuda

    groundswell verify {EXAMPLE} --only TEXT
"""

BENCH = f"""Benchmark a solver, or the exchange between ranks, and show published figures.

Rows are printed and written to the folder as they are measured. Other programs' kernels and
exchanges are measured only in a clone of the repository. For example

    groundswell bench {EXAMPLE} --output measured

    mpiexec -n 2 groundswell bench {EXAMPLE}

    mpiexec -n 2 groundswell bench exchange --output measured

    groundswell bench {EXAMPLE} --full --only TEXT
"""


def verify(
    solver: Annotated[
        str | None, typer.Argument(metavar="SOLVER", help=f"{SOLVERS}; all by default.")
    ] = None,
    full: Annotated[bool, flag("--full", text="Finer and larger problems, for a GPU.")] = False,
    backend: Annotated[BackendName, backend_option("Backend.")] = BackendName.cpu,
    only: Annotated[
        str, typer.Option(metavar="TEXT", help="Only problems with this text in their names.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    from groundswell.verify import run_problems
    from groundswell.verify.table import VerificationTable

    table, found = VerificationTable(), []
    progress = _tell if as_json else table.begin
    chosen = run_problems(solver, full=full, backend=backend.value, only=only, progress=progress)
    for row in chosen:
        found.append(row)
        if not as_json:
            table.add(row)
    if as_json:
        print_json([row.as_dict() for row in found])
    else:
        table.end()
    if any(row.status == "failed" for row in found):
        raise typer.Exit(1)


def bench(
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help=f"{SOLVERS}; or exchange.")],
    backend: Annotated[
        BackendName | None, backend_option("Backend; by default the GPU if there is one.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for measurements and pictures.")
    ] = None,
    full: Annotated[
        bool, flag("--full", text="Measure all sizes; takes several times as long.")
    ] = False,
    quick: Annotated[
        bool, flag("--quick", text="Measure small sizes, for a first look on a laptop.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT", help="Only tables with this text in their names; may be repeated."
        ),
    ] = None,
    degrees: Annotated[
        str, typer.Option(metavar="N,N,...", help="Only these polynomial degrees.")
    ] = "",
    most_dofs: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", help="Only problems of at most this many unknowns per rank."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    from groundswell.bench import Selection, run_bench
    from groundswell.exchange.mpi_communicator import get_communicator

    if quick and full:
        raise InputError("--quick and --full exclude each other; leave one out")
    measured = run_bench(
        subject,
        backend=backend.value if backend else None,
        output=output,
        selection=Selection(full, only or (), _degrees(degrees), most_dofs, quick),
        shown=not as_json,
        progress=_tell if as_json else None,
    )
    if as_json and get_communicator().first:
        print_json(measured)


def _degrees(text: str) -> list[int]:
    """The degrees of a list such as "3,7"."""
    parts = text.split(",") if text else []
    if not all(part.strip().isdecimal() for part in parts):
        raise InputError(f"--degrees {text}: give whole numbers, as in --degrees 3,7")
    return [int(part) for part in parts]


def _tell(text: str) -> None:
    typer.echo(text, err=True)
