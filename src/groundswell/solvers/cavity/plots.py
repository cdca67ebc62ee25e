"""Plots of a cavity flow: temperature and streamlines, and the convergence history."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.formats.netcdf import open_netcdf
from groundswell.formats.text import read_table
from groundswell.plotting.residuals import residuals_picture
from groundswell.plotting.style import (
    COLOURS,
    INK,
    QUIET,
    colour_bar,
    grid_lines,
    headline,
    picture,
    plane_height,
    title_of,
    title_of_run,
)
from groundswell.report.pictures import Picture
from groundswell.solvers.cavity.case import AXES
from groundswell.solvers.cavity.film import draw_solids, flow_film, label_of
from groundswell.solvers.cavity.results import kind_of_fluid

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

_STREAMLINE_DENSITY = 1.1
_VELOCITY = dict(zip(AXES, "uvw", strict=True))  # the component along each axis
_NUSSELT = {"nusselt_hot": "hot wall", "nusselt_cold": "cold wall"}
_RESIDUALS = {
    "mass": ["mass"],
    "momentum": ["momentum_x", "momentum_y", "momentum_z"],
    "heat": ["heat"],
}


def flow_picture(results: str | Path) -> Path:
    """Draw `flow.png`: temperature (or speed) and streamlines in the middle plane.

    The plane contains the axes of heating and of gravity, or of the motion of a wall; gravity
    points down.

    Args:
        results: folder with `flow.nc`.

    Raises:
        InputError: the file is damaged.
    """
    results = Path(results)
    plane = _middle(results / "flow.nc")
    path = results / "flow.png"
    across, up = _axes_of(plane)
    with picture(path, plane_height(plane[across].values, plane[up].values)) as figure:
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


def history_picture(results: str | Path) -> Path:
    """Draw `history.png`: mean Nusselt numbers of the hot and the cold wall against time.

    The axes show the range after a tenth of the steps: at first, fluid at rest meets the walls.

    Args:
        results: folder with `history.csv`.

    Raises:
        InputError: the file is damaged.
    """
    table = Path(results) / "history.csv"
    columns, path = read_table(table), table.with_suffix(".png")
    if "time" not in columns:
        raise InputError(f"{table} is damaged: it has no time; run the case again")
    shown = {n: columns[n] for n in _NUSSELT if n in columns} or {"cycles": columns["cycles"]}
    times = columns["time"]
    with picture(path, 4.0) as figure:
        axes = figure.add_subplot()
        for (name, values), colour in zip(shown.items(), COLOURS, strict=False):
            axes.plot(times, values, color=colour, label=_NUSSELT.get(name, name))
        late = np.concatenate([values[len(times) // 10 :] for values in shown.values()])
        axes.set(xlabel=_time_label(table.parent), xlim=(0, times[-1]), ylim=_around(late))
        is_heat = len(shown) > 1
        axes.set_ylabel("mean Nusselt number" if is_heat else "cycles in a step")
        axes.legend(frameon=False)
        grid_lines(axes)
        title = "Heat through the walls" if is_heat else "Cycles in steps in time"
        subtitle = f"{title}, {len(times):,} steps in time"
        headline(axes, title_of_run(table.parent, title), subtitle)
    return path


def _time_label(results: Path) -> str:
    """The label of an axis of times, with their unit if the run has one."""
    try:
        return "time (s)" if kind_of_fluid(results) == "properties" else "time"
    except InputError:  # a folder of files only
        return "time"


def _around(values: Floats) -> tuple[float, float]:
    """Limits of an axis that show these values."""
    low, high = float(values.min()), float(values.max())
    margin = 0.1 * (high - low) or 0.1 * abs(high) or 1.0
    return low - margin, high + margin


def _draw_plane(axes: Axes, plane: xarray.Dataset) -> str:
    """Draw the temperature, or the speed if the temperature is uniform; returns which."""
    across, up = _axes_of(plane)
    x, y, temperature = plane[across].values, plane[up].values, plane["T"].values
    along, upward = (plane[_VELOCITY[axis]] for axis in (across, up))
    is_heated = bool(np.ptp(temperature) > 0)
    values = temperature if is_heated else np.hypot(along.values, upward.values)
    colours = axes.contourf(x, y, values, levels=24, cmap="RdBu_r" if is_heated else "viridis")
    if is_heated:
        axes.contour(x, y, values, levels=12, colors="white", linewidths=0.5, linestyles="solid")
    even = {axis: np.linspace(s[0], s[-1], 160) for axis, s in ((across, x), (up, y))}
    u, v = (speed.interp(even).values for speed in (along, upward))
    if np.hypot(u, v).max() > 0:
        axes.streamplot(
            even[across],
            even[up],
            u,
            v,
            color=INK if is_heated else "white",  # slow flow is dark
            linewidth=0.8,
            density=_STREAMLINE_DENSITY,
            arrowsize=0.8,
        )
    bottom, top = (-1, 0) if plane.attrs.get("down") == up else (0, -1)
    label = partial(label_of, plane.attrs)
    axes.set(xlabel=label(across, "m"), ylabel=label(up, "m"), aspect="equal")
    axes.set(xlim=x[[0, -1]], ylim=y[[bottom, top]])
    axes.tick_params(color=QUIET)
    draw_solids(axes, plane, across, up)
    name = "temperature" if is_heated else "speed"
    colour_bar(axes, colours, label(name.capitalize(), "K" if is_heated else "m/s"))
    return name


def _middle(path: Path) -> xarray.Dataset:
    """All fields in the middle plane, with dimensions (up, across)."""
    with open_netcdf(path, AXES) as flow:
        across, up = _axes_of(flow)
        (normal,) = set(AXES) - {across, up}
        middle = float(flow[normal][[0, -1]].mean())
        plane = flow.interp({normal: middle}).assign_attrs(middle=middle)
        return plane.transpose(up, across).load()


def _axes_of(flow: xarray.Dataset) -> tuple[str, str]:
    """The horizontal and the vertical axis of the middle plane."""
    across, up = str(flow.attrs.get("middle_plane", "x z")).split()
    return across, up


PICTURES = [
    Picture("flow.nc", "flow.png", "The flow in the middle plane", flow_picture),
    Picture("film.nc", "film.mp4", "The middle plane over time", flow_film, is_film=True),
    Picture("history.csv", "history.png", "Heat through the walls by time", history_picture),
    Picture("residuals.csv", "residuals.png", "Residuals by step", convergence_picture),
]
