"""Maps of faults that have broken: slip with contours of the rupture time, and peak slip rate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.plotting.style import (
    ACCENT,
    INK,
    WIDTH,
    colour_bar,
    headline,
    picture,
    round_below,
    shades,
    speed_unit,
    title_of,
)
from groundswell.seismology.formats.fault_maps import NAME, read_fault_map
from groundswell.seismology.plots.fault_panel import FaultPanel, panels_of
from groundswell.seismology.plots.source import event_sentence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STEP = 0.5  # s between contours of the rupture time
_FEW, _MANY = 3, 40  # contours; otherwise another step is chosen
_LABELS = 8  # contours of which each has a label
_TALLEST = 1.4  # height over width of a picture
_MARGIN = 0.75  # inches of a panel for its axis and name


def slip_map(results: str | Path) -> Path:
    """Draw `fault_slip.png`: final slip with contours of the rupture time, a panel per fault.

    Args:
        results: folder with `fault.nc`.

    Raises:
        InputError: the file is missing or damaged.
    """
    fault, path = read_fault_map(Path(results) / NAME), Path(results) / "fault_slip.png"
    slip = np.hypot(fault["slip_strike"].values, fault["slip_updip"].values)
    times, panels = fault["rupture_time"].values, [*panels_of(fault)]
    unit, name = (1.0, "m") if slip.max() >= 0.1 else (1e-2, "cm")
    step = contour_step(times)
    sentence = f"Slip at most {slip.max() / unit:.3g} {name}"
    if step is not None:
        sentence += f"; contours of the rupture time every {step:g} s"
    with picture(path, _height(panels)) as figure:
        drawn = _shade(figure, panels, slip / unit, f"Slip ({name})")
        for axes, panel in zip(drawn, panels, strict=True):
            _contour(axes, panel, panel.mean(times), step)
        _star(drawn, panels, times)
        headline(drawn[0], title_of(fault.attrs, "Rupture"), event_sentence(fault.attrs) + sentence)
    return path


def rate_map(results: str | Path) -> Path:
    """Draw `fault_rate.png`: the largest slip rate at each point, a panel per fault.

    Args:
        results: folder with `fault.nc`.

    Raises:
        InputError: the file is missing or damaged.
    """
    fault, path = read_fault_map(Path(results) / NAME), Path(results) / "fault_rate.png"
    rate, panels = fault["peak_rate"].values, [*panels_of(fault)]
    unit, name = (1.0, "m/s") if rate.max() >= 0.1 else speed_unit(float(rate.max()))
    with picture(path, _height(panels)) as figure:
        drawn = _shade(figure, panels, rate / unit, f"Peak slip rate ({name})")
        _star(drawn, panels, fault["rupture_time"].values)
        sentence = f"Slip rate at most {rate.max() / unit:.3g} {name}"
        headline(drawn[0], title_of(fault.attrs, "Rupture"), event_sentence(fault.attrs) + sentence)
    return path


def contour_step(times: Floats) -> float | None:
    """Step of the contours of the rupture time, s: 0.5 s, unless these are few or many.

    Args:
        times: NaN where the fault has not broken.

    Returns:
        None if the fault has not broken, or everywhere at once.
    """
    known = times[np.isfinite(times)]
    duration = float(np.ptp(known)) if len(known) else 0.0
    if duration == 0 or _FEW <= duration / _STEP <= _MANY:
        return _STEP if duration else None
    return round_below(duration / 10)


def _height(panels: Sequence[FaultPanel]) -> float:
    """Height of the picture, in inches, with all panels on the scale of the longest fault."""
    longest = max(panel.size[0] for panel in panels)
    down = sum(panel.size[1] for panel in panels)
    return min(0.83 * WIDTH * down / longest + _MARGIN * len(panels), _TALLEST * WIDTH)


def _shade(
    figure: Figure, panels: Sequence[FaultPanel], values: Floats, label: str
) -> Sequence[Axes]:
    """Colour the triangles of each fault, all on the same scales."""
    ratios = {"height_ratios": [panel.size[1] for panel in panels]}
    drawn = figure.subplots(len(panels), squeeze=False, gridspec_kw=ratios)[:, 0]
    longest = max(panel.size[0] for panel in panels)
    style = {"vmin": 0, "vmax": float(values.max()) or 1.0, "cmap": shades(), "rasterized": True}
    for axes, panel in zip(drawn, panels, strict=True):
        cells = axes.tripcolor(panel.triangles, panel.mean(values), shading="gouraud", **style)
        cells.set_in_layout(False)  # else, each triangle becomes a path
        left, ends = panel.along.min(), (panel.down.max(), panel.down.min())
        axes.set(aspect="equal", xlim=(left, left + longest), ylim=ends, ylabel="Down dip (km)")
        axes.spines[:].set_visible(False)
        if len(panels) > 1:
            axes.set_title(panel.name, fontsize=11, loc="left")
    drawn[-1].set_xlabel("Along strike (km)")
    colour_bar(drawn[0], cells, label)
    return [*drawn]


def _contour(axes: Axes, panel: FaultPanel, times: Floats, step: float | None) -> None:
    """Draw contours of the rupture time where the fault has broken."""
    from matplotlib.patheffects import AbstractPathEffect, withStroke

    triangles = panel.where(np.isfinite(times))
    if step is None or triangles is None:
        return
    first, last = np.nanmin(times) // step + 1, np.nanmax(times) // step + 1
    levels = step * np.arange(first, last)
    if not len(levels):
        return
    known, style = np.where(np.isfinite(times), times, 0), {"colors": INK, "linewidths": 0.9}
    lines = axes.tricontour(triangles, known, levels=levels, **style)
    halo: list[AbstractPathEffect] = [withStroke(linewidth=2.2, foreground="white", alpha=0.7)]
    lines.set_path_effects(halo)
    labels = axes.clabel(lines, levels[:: -(-len(levels) // _LABELS)], fmt="%g s", fontsize=8)
    for label in labels:
        label.set_path_effects(halo)


def _star(drawn: Sequence[Axes], panels: Sequence[FaultPanel], times: Floats) -> None:
    """Draw a star in the middle of the points that break first."""
    if not np.isfinite(times).any():
        return
    first = np.nanmin(times)
    for axes, panel in zip(drawn, panels, strict=True):
        begins = panel.mean(times) == first
        if begins.any():
            at = panel.along[begins].mean(), panel.down[begins].mean()
            axes.plot(*at, "*", markersize=18, color=ACCENT, markeredgecolor="white", zorder=8)
