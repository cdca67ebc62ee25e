"""Snapshots of the wave field on the surface."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Indices, Reals
from groundswell.errors import InputError
from groundswell.plotting.map_frame import MapFrame
from groundswell.plotting.refinement import coloured_map
from groundswell.plotting.style import WIDTH, headline, picture, speed_unit, title_of
from groundswell.seismology.formats.shaking_maps import open_surface
from groundswell.seismology.plots.source import draw_fault, draw_star
from groundswell.seismology.plots.surface_map import Lines, map_frame

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

_COLUMNS, _ROWS = 3, 2  # at most
_WIDTH = 0.78  # of all panels of a row, relative to that of the picture
_MAX_CELLS = 500  # along an axis of a panel; the picture resolves no more
_TRIAL_TIMES = 48  # number of times at which the amplitude is computed
_MIN_AMPLITUDE = 0.25  # smallest amplitude of a panel, relative to the largest


def snapshots(results: str | Path, lines: Lines | None = None) -> Path | None:
    """Draw `surface.png`: vertical velocity of the surface at up to six times.

    Draws nothing if the surface has fewer than two points along x or y.

    Args:
        results: folder with `surface.nc`.
        lines: as in `map_frame`.

    Raises:
        InputError: the file is missing, damaged or empty.
    """
    results = Path(results)
    selected = _select(results / "surface.nc")
    if min(selected.sizes["x"], selected.sizes["y"]) < 2:
        return None
    unit, unit_name = speed_unit(float(np.abs(selected["velocity"]).max()))
    values = selected["velocity"].values / unit
    limit = float(np.nanpercentile(np.abs(values), 99.5)) or 1.0
    frame = map_frame(selected, results, lines)
    path = results / "surface.png"
    columns = min(_COLUMNS, len(values))
    rows = -(-len(values) // columns)
    height = 0.6 + rows * (_WIDTH / columns * WIDTH * frame.slenderness + 0.1)
    with picture(path, height) as figure:
        panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, time, cells in zip(panels, selected["time"].values, values, strict=False):
            mesh = _draw_panel(axes, frame, cells, float(time), limit)
            draw_fault(axes, frame, selected.attrs)
            draw_star(axes, frame, selected.attrs, size=0.5)
        for axes in panels[len(values) :]:
            axes.set_visible(False)
        for axes in panels[len(values) - columns : len(values)]:
            axes.tick_params(labelbottom=True)  # those above an empty place, too
        headline(panels[0], title_of(selected.attrs), "Vertical velocity of the surface, up is red")
        frame.scale_bar(panels[columns - 1])
        bar = figure.colorbar(mesh, ax=panels, aspect=40, pad=0.01, extend="both")
        bar.set_label(f"Velocity, up ({unit_name})")
    return path


def _select(path: Path) -> xarray.Dataset:
    """Upward velocity (time, y, x) at the times of the panels, subsampled to their resolution."""
    with open_surface(path) as surface:
        if not surface.sizes["time"]:
            raise InputError(f"{path} has no samples yet; let the run continue")
        strides = {d: slice(None, None, -(-surface.sizes[d] // _MAX_CELLS)) for d in ("y", "x")}
        upward = surface.isel(strides).sel(component="Z")
        return upward.isel(time=_panel_times(upward["velocity"])).load()


def _panel_times(velocity: xarray.DataArray) -> Indices:
    """Indices of six times, evenly distributed while the amplitude is large."""
    count = velocity.sizes["time"]
    trials = np.unique(np.linspace(0, count - 1, _TRIAL_TIMES).round().astype(np.intp))
    amplitude = np.array([float(velocity[i].std()) for i in trials])
    moving = trials[amplitude >= _MIN_AMPLITUDE * amplitude.max()]
    last, first = moving[-1], max(moving[0] - 1, 0)
    return np.unique(np.linspace(first, last, _ROWS * _COLUMNS + 1).round().astype(np.intp)[1:])


def _draw_panel(axes: Axes, frame: MapFrame, values: Reals, time: float, limit: float) -> QuadMesh:
    from matplotlib.patheffects import withStroke

    frame.dress(axes)
    axes.label_outer()
    axes.locator_params(nbins=3, steps=[1, 2, 5, 10])  # labels of few digits: panels are narrow
    axes.annotate(
        f"{time:.3g} s",
        (0.03, 0.97),
        xycoords="axes fraction",
        ha="left",
        va="top",
        fontweight="bold",
        zorder=8,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )
    return coloured_map(axes, frame, values, cmap="RdBu_r", vmin=-limit, vmax=limit)
