"""A film of u in the middle plane across y."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.case.recording import RecordSection
from groundswell.formats.netcdf import open_netcdf
from groundswell.plotting.film import MOST_FRAMES, clock, film, frames_of
from groundswell.plotting.style import colour_bar, headline, plane_height, title_of
from groundswell.solvers.poisson.case import PoissonCase
from groundswell.solvers.poisson.recordable import NO_UNIT
from groundswell.spectral_elements.recording import ElementDomain

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

FILM, POINTS = "film.nc", 160  # along the longer axis


def records_of(case: PoissonCase, domain: ElementDomain) -> tuple[RecordSection, ...]:
    """The records of a case, and that of its film."""
    return (*case.output.record, _section(case, domain)) if case.output.film else case.output.record


def _section(case: PoissonCase, domain: ElementDomain) -> RecordSection:
    """Samples of the plane across the middle of y."""
    low, high = domain.extent()
    size = (high - low)[[0, 2]]
    points = np.maximum(2, np.round(POINTS * size / size.max())).astype(int)
    steps = case.time.steps if case.time else 1
    middle = float(low[1] + high[1]) / 2
    where = {"kind": "plane", "normal": "y", "at": middle, "points": points.tolist()}
    every = max(1, -(-steps // MOST_FRAMES))
    content = {"fields": ["u"], "where": where, "every": every, "file": FILM}
    return RecordSection.model_validate(content)


def solution_label(attrs: Mapping[str, Any]) -> str:
    """u, with its unit if the case gives it, of the attributes of a file or a variable."""
    unit = attrs.get("units", NO_UNIT)
    return "u" if unit == NO_UNIT else f"u ({unit})"


def solution_film(results: str | Path) -> Path:
    """Draw `film.mp4` or `.gif`.

    Args:
        results: folder with `film.nc`.

    Raises:
        InputError: the file is damaged.
    """
    source = Path(results) / FILM
    with open_netcdf(source, ("time", "x", "z", "u")) as recorded:
        frames = slice(None, None, frames_of(recorded.sizes["time"]).step)
        plane = recorded.isel(time=frames).transpose("time", "z", "x").load()
    height = plane_height(plane["x"].values, plane["z"].values)
    return film(source.with_suffix(".mp4"), height, lambda figure: _frames(figure, plane))


def _frames(figure: Figure, plane: xarray.Dataset) -> Iterator[None]:
    """Draw the plane, and change it from frame to frame."""
    values, axes = plane["u"].values, figure.subplots()
    axes.set(xlabel="x (m)", ylabel="z (m)", aspect="equal")
    mesh = axes.pcolormesh(plane["x"], plane["z"], values[0], cmap="coolwarm", shading="nearest")
    mesh.set_clim(float(np.nanmin(values)), float(np.nanmax(values)))
    colour_bar(axes, mesh, solution_label(plane["u"].attrs))
    subtitle = headline(axes, title_of(plane.attrs, "Solution"), "")
    for n, time in enumerate(clock(plane["time"].values)):
        mesh.set_array(values[n])
        subtitle.set_text(f"Middle plane across y at {time}")
        yield
