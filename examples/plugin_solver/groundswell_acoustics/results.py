"""What a run leaves behind, its reader and its picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.formats import netcdf
from groundswell.formats.atomic import whole
from groundswell.outputs.ring_buffer import Output
from groundswell.plotting.style import colour_bar, headline, picture, title_of
from groundswell.report.pictures import Picture

if TYPE_CHECKING:
    import xarray

NAME = "pressure.nc"


class Outputs:
    """Writes the pressure at the end."""

    def __init__(self, solver: Any) -> None:
        self._solver = solver

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """Files that grow during the run: none."""
        return {}

    def write(self, folder: Path) -> list[Path]:
        """Gather the pressure of all ranks; rank 0 writes it."""
        import xarray

        solver, case = self._solver, self._solver.setup.case
        p = solver.distributed_fields()["p"].gather(solver.backend, solver.world)
        if p is None:
            return []
        axes = zip("zyx", p.shape, strict=True)
        places = {axis: case.grid.spacing * (np.arange(n) + 0.5) for axis, n in axes}
        found = xarray.Dataset({"p": (tuple("zyx"), p)}, places, {"title": case.title})
        with whole(folder / NAME) as part:
            found.to_netcdf(part, engine="h5netcdf")
        return [folder / NAME]


def fields(folder: Path) -> xarray.Dataset:
    """Pressure at the end, (z, y, x), Pa."""
    return netcdf.load(folder / NAME, ("p", "x", "y", "z"))


def draw_pressure(folder: Path) -> Path:
    """Draw the pressure in the middle plane across y."""
    found, path = fields(folder), folder / "pressure.png"
    plane = found["p"].isel(y=found.sizes["y"] // 2)
    largest = float(np.abs(plane).max()) or 1.0
    with picture(path, 6.0) as figure:
        axes = figure.add_subplot()
        image = axes.pcolormesh(found.x, found.z, plane, cmap="RdBu_r", vmin=-largest, vmax=largest)
        axes.set(xlabel="x (m)", ylabel="z (m)", aspect="equal")
        colour_bar(axes, image, "Pressure (Pa)")
        headline(axes, title_of(found.attrs, "Pressure"), "In the middle plane, at the end")
    return path


PICTURES = [Picture(NAME, "pressure.png", "Pressure in the middle plane", draw_pressure)]
