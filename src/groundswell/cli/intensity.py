"""The command `intensity`: measures of seismograms that a run has written."""

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
            help="Results folder, a file of seismograms (.h5, .mseed, .sac), or a folder of SAC "
            "files.",
        ),
    ],
    periods: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Periods of oscillators in s, such as 0.5,1,2."),
    ] = None,
    damping: Annotated[float, typer.Option(help="Share of critical damping.")] = 0.05,
    measures: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Measures, such as pgv,rotd50; all by default."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the files; by default that of RESULTS.")
    ] = None,
    backend: Annotated[BackendName, backend_option("Backend.")] = BackendName.cpu,
    as_json: AsJson = False,
) -> None:
    """Measure the ground motion of seismograms.

    Writes PGA, PGV, PGD, response spectra, RotD50, RotD100, Arias intensity, CAV and significant
    durations of each station to intensity.nc and intensity.csv, and draws the spectra. For example

        groundswell intensity results --periods 0.5,1,2,5

    A run does the same with `output.intensity` in its case.
    """
    from groundswell.cli import intensity_files

    choice = intensity_files.chosen(periods, damping, measures)
    found = intensity_files.write(path, output, choice, backend.value)
    intensity_files.show(found, as_json=as_json)
