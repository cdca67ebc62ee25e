"""The command `heat`: temperatures and the thermal dose of a treatment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def heat(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="Results folder of a run.", show_default=False)
    ],
    on: Annotated[
        float, typer.Option("--on", help="Duration of the sound, s.", show_default=False)
    ],
    off: Annotated[float, typer.Option("--off", help="Duration of the cooling after it, s.")] = 0.0,
    duty: Annotated[float, typer.Option(help="Fraction of the time in which pulses are on.")] = 1.0,
    conductivity: Annotated[float, typer.Option(help="Thermal conductivity, W/(m K).")] = 0.5,
    heat_capacity: Annotated[float, typer.Option(help="Heat capacity, J/(kg K).")] = 3600.0,
    perfusion: Annotated[float, typer.Option(help="Blood perfusion, kg/(m^3 s).")] = 0.0,
    bone: Annotated[
        bool,
        typer.Option("--bone", help="Use properties of bone where sound is faster than 1800 m/s."),
    ] = False,
    start: Annotated[float, typer.Option(help="Temperature at the start, degrees Celsius.")] = 37.0,
    step: Annotated[float, typer.Option(help="Longest time step, s.")] = 0.1,
    record: Annotated[
        str | None,
        typer.Option(help="Record of amplitudes at all points, instead of the maps."),
    ] = None,
    backend: Annotated[
        Literal["cpu", "cuda"], typer.Option(help="Where to compute the temperatures.")
    ] = "cpu",
) -> None:
    """Compute the temperature and the thermal dose of a treatment with ultrasound.

    Solves Pennes' bioheat equation for the heat that the sound of a run deposits. Writes the
    temperature at the end, the largest one and the dose (CEM43) to heat.nc, and draws heat.png. For
    example

        groundswell heat results --on 10 --off 20
    """
    from groundswell.simulation.folder_lock import locked
    from groundswell.simulation.results_folder import require_writable
    from groundswell.simulation.summary import add_files
    from groundswell.solvers.ultrasound.heat.picture import heat_picture
    from groundswell.solvers.ultrasound.heat.text import lines_of
    from groundswell.solvers.ultrasound.heat.tissue import BONE, Tissue
    from groundswell.solvers.ultrasound.heat.treatment import heat as treat

    require_writable(results)
    tissue = Tissue(conductivity, heat_capacity, perfusion)
    found = treat(
        results,
        on,
        off,
        duty=duty,
        start=start,
        step=step,
        tissue=tissue,
        bone=BONE if bone else None,
        record=record,
        backend=backend,
    )
    with locked(results):
        path = found.write(results)
        drawn = heat_picture(results)
        files = [path, *([drawn] if drawn else [])]
        add_files(results, files)
    typer.echo("\n".join([*lines_of(found), *map(str, files)]))
