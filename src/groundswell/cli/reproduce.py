"""The command `reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundswell.cli.options import (
    EXAMPLE,
    AsJson,
    BackendName,
    backend_option,
    flag,
    print_json,
)

HELP = f"""Reproduce the tables and figures of the documents that the solvers follow, on one page.

The page shows published values beside measurements of this machine, with the hardware of both, and
lists what this machine cannot measure. With several processes, it also has the items that need
them. The exit code is 1 if an item fails; the page shows its message and all others. For example

    groundswell reproduce --quick

    groundswell reproduce {EXAMPLE} --output measured

    mpiexec -n 2 groundswell reproduce --quick

    groundswell reproduce --no-run --merge results
"""


def reproduce(
    documents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOLVER",
            help="Solvers whose documents are reproduced; all by default.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool, flag("--quick", text="Small sizes; at most five minutes on two cores.")
    ] = False,
    output: Annotated[
        Path, typer.Option(help="Folder for the page, pictures and measurements.")
    ] = Path("reproduction"),
    backend: Annotated[
        BackendName | None, backend_option("Backend; by default the GPU if there is one.")
    ] = None,
    merge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILES",
            help="Files of `bench --output` or `reproduce` from other machines, or a folder with "
            "such files; may be repeated.",
        ),
    ] = None,
    no_run: Annotated[
        bool, flag("--no-run", text="Measure nothing; show only what --merge reads.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    from groundswell.reproduction import Options, failed_here, write_pages
    from groundswell.reproduction import reproduce as measure_and_compare

    names, files = _sorted_out(documents or [], merge or [])
    options = Options(backend.value if backend else None, quick, output, _tell)
    found = measure_and_compare(names, options, merge=files, is_measured=not no_run)
    if found is None:
        return  # only rank 0 writes
    pages = write_pages(found, output)
    if as_json:
        print_json(found.as_dict())
    else:
        typer.echo(f"{found.summary}\n{pages[0]}")
    if failures := [text for section in found.sections for text in failed_here(section)]:
        _tell("\n".join(f"failed: {text}" for text in failures))
        raise typer.Exit(1)


def _sorted_out(names: list[str], merged: list[str]) -> tuple[list[str], list[str]]:
    """Names and files; a pattern after --merge that the shell has expanded ends among the names."""
    files = [name for name in names if merged and name.endswith(".json")]
    return [name for name in names if name not in files], [*merged, *files]


def _tell(text: str) -> None:
    typer.echo(text, err=True)
