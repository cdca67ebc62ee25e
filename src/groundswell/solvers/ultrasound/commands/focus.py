"""The command `focus`: phases of an array that focus through a medium."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def focus(
    case: Annotated[Path, typer.Argument(metavar="CASE", help="Case file.", show_default=False)],
    target: Annotated[
        str,
        typer.Option(metavar="POINT", help="The target, as in 30,17.5,0, mm.", show_default=False),
    ],
    amplitudes: Annotated[
        bool, typer.Option("--amplitudes", help="Also choose the weights of the elements.")
    ] = False,
    output: Annotated[
        str | None, typer.Option(help="Name of the new case; by default CASE_focused.toml.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Find phases of the elements of an ultrasound array that focus on a target.

    Runs the case with a point source at the target, and writes a new case with the reversed phases
    of the sound that arrives at the elements. Shows by how much the pressure at the target grows.
    For example

        groundswell focus case.toml --target 30,17.5

        mpiexec -n 4 groundswell focus case.toml --target 30,17.5
    """
    from groundswell.solvers.ultrasound.commands.focusing import focus_case

    for line in focus_case(case, target, output, amplitudes=amplitudes, quiet=quiet):
        typer.echo(line)
