"""The command `intensity`: intensity measures of the seismograms of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundswell.cli.options import AsJson, BackendName, backend_option


def intensity(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS",
            help="Results folder, file of seismograms (.h5, .mseed, .sac) or folder of SAC files.",
        ),
    ],
    periods: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Natural periods of oscillators in s, as in 0.5,1,2."),
    ] = None,
    damping: Annotated[float, typer.Option(help="Damping ratio of oscillators.")] = 0.05,
    measures: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Measures, as in pgv,rotd50; all by default."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the files; by default that of RESULTS.")
    ] = None,
    backend: Annotated[BackendName, backend_option("Backend.")] = BackendName.cpu,
    as_json: AsJson = False,
) -> None:
    """Compute intensity measures of seismograms, such as response spectra and RotD50.

    Writes PGA, PGV, PGD, response spectra, RotD50, RotD100, Arias intensity, CAV and significant
    durations of each station to intensity.nc and intensity.csv, and draws the spectra. For example

        groundswell intensity results --periods 0.5,1,2,5

    With `[output.intensity]` in its case, a run writes the same files.
    """
    from groundswell.cli import intensity_files

    choice = intensity_files.chosen(periods, damping, measures)
    found = intensity_files.write(path, output, choice, backend.value)
    intensity_files.show(found, as_json=as_json)
