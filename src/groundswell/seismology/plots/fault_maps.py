"""Maps of faults that have broken: slip with contours of the rupture time, and peak slip rate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.plotting.style import (
    INK,
    colour_bar,
    headline,
    picture,
    round_below,
    shades,
    title_of,
)
from groundswell.seismology.formats.fault_maps import NAME, read_fault_map
from groundswell.seismology.plots.fault_panel import (
    FaultPanel,
    mark_start,
    panel_axes,
    panels_height,
    panels_of,
    rate_unit,
)
from groundswell.seismology.plots.source import event_sentence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STEP = 0.5  # s between contours of the rupture time
_FEW, _MANY = 3, 40  # contours; otherwise another step is chosen
_LABELS = 8  # contours of which each has a label


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
    with picture(path, panels_height(panels)) as figure:
        drawn = _shade(figure, panels, slip / unit, f"Slip ({name})")
        for axes, panel in zip(drawn, panels, strict=True):
            _contour(axes, panel, panel.mean(times), step)
        mark_start(drawn, panels, times)
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
    unit, name = rate_unit(float(rate.max()))
    with picture(path, panels_height(panels)) as figure:
        drawn = _shade(figure, panels, rate / unit, f"Peak slip rate ({name})")
        mark_start(drawn, panels, fault["rupture_time"].values)
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


def _shade(
    figure: Figure, panels: Sequence[FaultPanel], values: Floats, label: str
) -> Sequence[Axes]:
    """Colour the triangles of each fault, all on the same scales."""
    drawn = panel_axes(figure, panels)
    style = {"vmin": 0, "vmax": float(values.max()) or 1.0, "cmap": shades(), "rasterized": True}
    for axes, panel in zip(drawn, panels, strict=True):
        cells = axes.tripcolor(panel.triangles, panel.mean(values), shading="gouraud", **style)
        cells.set_in_layout(False)  # else, each triangle becomes a path
    colour_bar(drawn[0], cells, label)
    return drawn


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
