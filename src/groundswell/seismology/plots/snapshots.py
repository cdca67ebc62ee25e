"""Snapshots of the wave field on the surface."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.plotting.map_frame import Frame
from groundswell.plotting.style import WIDTH, headline, picture, speed_unit, title_of
from groundswell.seismology.formats.shaking_maps import open_surface
from groundswell.seismology.plots.source import draw_fault, draw_star

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

_COLUMNS, _ROWS = 3, 2
_MOST_CELLS = 500  # along an axis of a panel; more would not show
_LOOKS = 48  # times at which the strength of the motion is looked up
_QUIET_SHARE = 0.25  # of the strongest motion; less is not worth a panel


def snapshots(results: str | Path) -> Path:
    """Draw `surface.png`: vertical velocity of the surface at six times.

    Args:
        results: folder with `surface.nc`.

    Raises:
        InputError: the file is missing, damaged or empty.
    """
    results = Path(results)
    moments = _chosen(results / "surface.nc")
    unit, unit_name = speed_unit(float(np.abs(moments["velocity"]).max()))
    values = moments["velocity"].values / unit
    limit = float(np.nanpercentile(np.abs(values), 99.5)) or 1.0
    frame = Frame.of(moments)
    path = results / "surface.png"
    with picture(path, _height(frame)) as figure:
        panels = figure.subplots(_ROWS, _COLUMNS, sharex=True, sharey=True).ravel()
        for axes, time, cells in zip(panels, moments["time"].values, values, strict=False):
            mesh = _draw_moment(axes, frame, cells, float(time), limit)
            draw_fault(axes, frame, moments.attrs)
            draw_star(axes, frame, moments.attrs, size=0.5)
        for axes in panels[len(values) :]:
            axes.set_visible(False)
        headline(panels[0], title_of(moments.attrs), "Vertical velocity of the surface, up is red")
        frame.scale_bar(panels[_COLUMNS - 1])
        bar = figure.colorbar(mesh, ax=panels, aspect=40, pad=0.01, extend="both")
        bar.set_label(f"Velocity, up ({unit_name})")
    return path


def _chosen(path: Path) -> xarray.Dataset:
    """Upward velocity (time, y, x) at telling times, thinned to what a panel shows."""
    with open_surface(path) as surface:
        if not surface.sizes["time"]:
            raise InputError(f"{path} holds no samples yet; let the run come further")
        strides = {d: slice(None, None, -(-surface.sizes[d] // _MOST_CELLS)) for d in ("y", "x")}
        upward = surface.isel(strides).sel(component="Z")
        return upward.isel(time=_telling_times(upward["velocity"])).load()


def _telling_times(velocity: xarray.DataArray) -> NDArray[np.intp]:
    """Indices of six times spread evenly from the first to the last with much motion."""
    count = velocity.sizes["time"]
    looked_at = np.unique(np.linspace(0, count - 1, _LOOKS).round().astype(np.intp))
    strength = np.array([float(velocity[i].std()) for i in looked_at])
    moving = looked_at[strength >= _QUIET_SHARE * strength.max()]
    last, first = moving[-1], max(moving[0] - 1, 0)
    return np.unique(np.linspace(first, last, _ROWS * _COLUMNS + 1).round().astype(np.intp)[1:])


def _height(frame: Frame) -> float:
    return float(0.6 + _ROWS * (0.26 * WIDTH * frame.slenderness + 0.1))


def _draw_moment(
    axes: Axes, frame: Frame, values: NDArray[np.floating], time: float, limit: float
) -> QuadMesh:
    from matplotlib.patheffects import withStroke

    frame.dress(axes)
    axes.label_outer()
    axes.locator_params(nbins=3)
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
    return axes.pcolormesh(
        *frame.mesh, values, cmap="RdBu_r", vmin=-limit, vmax=limit, shading="nearest"
    )
