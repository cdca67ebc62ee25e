"""The command `compare`: observed seismograms beside those of a run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from groundswell.cli.options import AsJson, Components, choice_option, flag


class Compared(StrEnum):
    """The quantity of observed records."""

    velocity = "velocity"
    displacement = "displacement"
    acceleration = "acceleration"
    pressure = "pressure"


def compare(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="Results folder.", show_default=False)
    ],
    observed: Annotated[
        list[Path],
        typer.Argument(
            metavar="OBSERVED",
            help="Files of miniSEED or SAC, folders of SAC files, or another results folder.",
            show_default=False,
        ),
    ],
    band: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LOW HIGH", help="Band-pass filter of both, Hz.", show_default=False),
    ] = None,
    quantity: Annotated[
        Compared,
        choice_option(
            Compared,
            "Quantity of the observed records, in SI units; simulated motion is converted to it.",
        ),
    ] = Compared.velocity,
    components: Annotated[
        Components,
        choice_option(
            Components,
            "Up, north and east, or up, radial and transverse; observed R and T are used as they "
            "are.",
        ),
    ] = Components.zne,
    window: Annotated[
        list[str] | None,
        typer.Option(
            metavar="START:END",
            help="Window, s after time 0, as in 0:10; may be repeated. By default, all common "
            "times.",
            show_default=False,
        ),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(
            metavar="DATE", help="Date of time 0 of the run; by default, that of its case."
        ),
    ] = None,
    max_shift: Annotated[
        float | None,
        typer.Option(
            help="Largest time shift, s; by default half of a window.", show_default=False
        ),
    ] = None,
    channel: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help='Channels of the records, as in "BH?", or "00.BH?" with a location.',
        ),
    ] = "*",
    inventory: Annotated[
        Path | None,
        typer.Option(
            help="StationXML with the directions of the observed channels; components 1 and 2 are "
            "rotated to N and E."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for the files; by default `comparison` in RESULTS."),
    ] = None,
    no_pictures: Annotated[bool, flag("--no-pictures", text="Draw no pictures.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare the seismograms of a run with observed records, or with those of another run.

    Filters both alike, and shows for each component how late the simulated motion is, how well it
    correlates, its misfit and the ratio of amplitudes. Writes tables (CSV, JSON), a picture of each
    station and an overview. For example

        groundswell compare results observed.mseed --band 0.05 0.5 --components ZRT

        groundswell compare results other_results --window 0:10 --window 10:40
    """
    from groundswell.cli import comparison_files

    given = {
        "band": band,
        "quantity": quantity.value,
        "components": components.value,
        "windows": [comparison_files.ends(each) for each in window or []],
        "origin": origin,
        "max_shift": max_shift,
        "channel": channel,
        "inventory": inventory,
    }
    found = comparison_files.write(results, observed, given, output, pictures=not no_pictures)
    comparison_files.show(found, as_json=as_json)
