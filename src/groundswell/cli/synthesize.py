"""The command `groundswell synthesize`."""

from __future__ import annotations

import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from groundswell.cli.options import (
    BackendName,
    Precision,
    SeismogramFormat,
    backend_option,
    choice_option,
    flag,
)


class SlipRate(StrEnum):
    """The shape of slip rates with a rise time."""

    brune = "brune"
    cosine = "cosine"
    triangle = "triangle"


def synthesize(
    tensors: Annotated[
        list[Path],
        typer.Argument(
            metavar="TENSOR...",
            help="Results folders of runs with a force along x, y and z, a store of an ensemble of "
            "such runs, or stores of stations.",
            show_default=False,
        ),
    ],
    rupture: Annotated[
        Path | None,
        typer.Option(
            help="Rupture: SRF, FSP, file of events (QuakeML, CMTSOLUTION, ...), rupture.nc of a "
            "run, case (TOML) with its sources, or table (CSV) with x, y or longitude, latitude, "
            "depth, strike, dip, rake, area, slip, rise_time and optionally onset and mu."
        ),
    ] = None,
    variations: Annotated[
        Path | None,
        typer.Option(
            help="Table of variations of the rupture (CSV) with any of hypocentre_x, hypocentre_y, "
            "hypocentre_depth and rupture_speed (all four), onset, rise_time and slip_scale."
        ),
    ] = None,
    slip_rate: Annotated[
        SlipRate,
        choice_option(
            SlipRate, "Shape of the slip rate for tables, which contain only rise times."
        ),
    ] = SlipRate.cosine,
    output: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("synthetics"),
    formats: Annotated[
        list[SeismogramFormat] | None,
        choice_option(
            SeismogramFormat, "Format of more files of seismograms; may be repeated.", "--format"
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            help="Sampling interval of these files, s; by default that of the strain or the next "
            "shorter round one.",
            show_default=False,
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(min=0, help="Largest distance of a subfault from a recorded point, m."),
    ] = 1.0,
    store: Annotated[
        Path | None,
        typer.Option(help="Folder for stores, one per station; replaces --rupture."),
    ] = None,
    half: Annotated[bool, flag("--half", text="Use 16 bits per value in stores.")] = False,
    backend: Annotated[BackendName, backend_option("Backend.")] = BackendName.cpu,
    precision: Annotated[
        Precision,
        choice_option(Precision, "Floating-point type of the computation."),
    ] = Precision.single,
) -> None:
    """Compute seismograms of ruptures from strain Green tensors.

    A tensor consists of three runs with `[output.strain_green_tensor]` and a force at the station,
    along x, y and z. They yield the seismograms of any rupture on the recorded points. For example

        groundswell synthesize run_x run_y run_z --rupture rupture.srf

        groundswell synthesize run_x run_y run_z --store stores --half

        groundswell synthesize stores/*.h5 --rupture rupture.srf --variations table.csv
    """
    from groundswell.errors import InputError
    from groundswell.seismology.formats.export import chosen_output
    from groundswell.seismology.green import command
    from groundswell.seismology.green.late_slip import LateSlip
    from groundswell.seismology.green.source_files import RuptureWarning

    if (rupture is None) == (store is None):
        raise InputError("give either --rupture or --store")
    if store is not None:
        written = command.pack(tensors, store, half=half)
    else:
        assert rupture is not None  # one of the two is given
        from groundswell.backends import open_backend

        given = command.Rupture(rupture, variations, slip_rate.value, tolerance)
        dtype = "float64" if precision == Precision.double else "float32"
        names = ("hdf5", *(of.value for of in formats or []))
        files = chosen_output("an option", formats=names, export_interval=interval)
        device = open_backend(backend.value)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LateSlip)
            warnings.simplefilter("always", RuptureWarning)
            written = command.synthesize(tensors, given, output, device, files, dtype)
        from groundswell.cli.text_tables import warn

        shown = [each for each in caught if issubclass(each.category, LateSlip | RuptureWarning)]
        warn(dict.fromkeys(str(each.message) for each in shown))
    typer.echo("\n".join(map(str, written)))
