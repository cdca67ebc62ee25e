"""Plots of a cavity flow: temperature and streamlines, and the convergence history."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.formats.netcdf import open_netcdf
from groundswell.plotting.residuals import residuals_picture
from groundswell.plotting.style import INK, QUIET, WIDTH, colour_bar, headline, picture, title_of
from groundswell.report.pictures import Picture

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

_STREAMLINE_DENSITY = 1.1
_RESIDUALS = {"mass": "mass", "momentum_x": "momentum along x", "heat": "heat"}


def flow_picture(results: str | Path) -> Path:
    """Draw `flow.png`: temperature (or speed) and streamlines in the mid-plane normal to y.

    Args:
        results: folder with `flow.nc`.

    Raises:
        InputError: the file is damaged.
    """
    results = Path(results)
    plane = _middle(results / "flow.nc")
    path = results / "flow.png"
    aspect = float(np.ptp(plane["z"].values) / np.ptp(plane["x"].values))
    with picture(path, min(0.62 * WIDTH * aspect, WIDTH) + 0.4) as figure:
        axes = figure.add_subplot()
        quantity = _draw_plane(axes, plane)
        headline(axes, title_of(plane.attrs, "Flow"), f"Middle plane: {quantity} and streamlines")
    return path


def convergence_picture(results: str | Path) -> Path:
    """Draw `residuals.png`: residuals of mass, momentum and heat against the step.

    Args:
        results: folder with `residuals.csv`.

    Raises:
        InputError: the file is damaged.
    """
    table = Path(results) / "residuals.csv"
    return residuals_picture(table, "step", _RESIDUALS, "root mean square, in units of the flow")


def _draw_plane(axes: Axes, plane: xarray.Dataset) -> str:
    """Draw the temperature, or the speed if the temperature is uniform; returns which."""
    x, z, temperature = (plane[name].values for name in ("x", "z", "T"))
    is_heated = bool(np.ptp(temperature) > 0)
    values = temperature if is_heated else np.hypot(plane["u"].values, plane["w"].values)
    colours = axes.contourf(x, z, values, levels=24, cmap="RdBu_r" if is_heated else "viridis")
    axes.contour(x, z, values, levels=12, colors="white", linewidths=0.5, linestyles="solid")
    xs, zs = (np.linspace(s[0], s[-1], 160) for s in (x, z))
    u, w = (plane[name].interp(x=xs, z=zs).values for name in ("u", "w"))
    if np.hypot(u, w).max() > 0:
        axes.streamplot(
            xs, zs, u, w, color=INK, linewidth=0.8, density=_STREAMLINE_DENSITY, arrowsize=0.8
        )
    axes.set(xlabel="x", ylabel="z", aspect="equal", xlim=x[[0, -1]], ylim=z[[0, -1]])
    axes.tick_params(color=QUIET)
    name = "temperature" if is_heated else "speed"
    colour_bar(axes, colours, name.capitalize())
    return name


def _middle(path: Path) -> xarray.Dataset:
    """All fields in the mid-plane normal to y."""

    with open_netcdf(path, ("y",)) as flow:
        return flow.interp(y=float(flow["y"][[0, -1]].mean())).load()


PICTURES = [
    Picture("flow.nc", "flow.png", "The flow in the middle plane", flow_picture),
    Picture("residuals.csv", "residuals.png", "Residuals by step", convergence_picture),
]
