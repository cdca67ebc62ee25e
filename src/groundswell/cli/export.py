"""The command `export`: seismograms of a run in other formats."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from groundswell.cli.options import Components, SeismogramFormat, choice_option


class Motion(StrEnum):
    """A quantity that follows from velocity."""

    velocity = "velocity"
    displacement = "displacement"
    acceleration = "acceleration"


def export(
    results: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS",
            help="Results folder, or a run in the store of an ensemble: survey.zarr/shot-03.",
            show_default=False,
        ),
    ],
    formats: Annotated[
        list[SeismogramFormat] | None,
        choice_option(
            SeismogramFormat, "Format of the files; may be repeated. [default: mseed]", "--format"
        ),
    ] = None,
    quantities: Annotated[
        list[Motion] | None,
        choice_option(Motion, "Quantity; may be repeated. [default: velocity]", "--quantity"),
    ] = None,
    components: Annotated[
        Components,
        choice_option(Components, "Up, north and east, or up, radial and transverse."),
    ] = Components.zne,
    interval: Annotated[
        float | None,
        typer.Option(
            help="Sampling interval, s; by default that of the run or the next shorter round one.",
            show_default=False,
        ),
    ] = None,
    shot: Annotated[int, typer.Option(help="Field record number in SEG-Y.")] = 1,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the files; by default RESULTS.")
    ] = None,
) -> None:
    """Write the seismograms of a run as miniSEED, SAC, text or SEG-Y files.

    Velocity can be converted to displacement and acceleration, and rotated to radial and transverse
    components. For example

        groundswell export results --format segy --interval 0.004 --shot 101

        groundswell export results --format sac --quantity displacement --components ZRT

        groundswell export survey.zarr/shot-03 --format segy --shot 3 --output gathers
    """
    from groundswell.cli import export_files

    keys = {
        "formats": [each.value for each in formats or [SeismogramFormat.mseed]],
        "quantities": [each.value for each in quantities or [Motion.velocity]],
        "components": components.value,
        "export_interval": interval,
        "shot": shot,
    }
    for path in export_files.write(results, output, keys):
        typer.echo(path)
