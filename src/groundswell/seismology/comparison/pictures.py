"""Pictures of comparisons: one of each station, and an overview."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import counted
from groundswell.plotting.labels import label_trace
from groundswell.plotting.style import ACCENT, INK, QUIET, distance_text, headline, picture
from groundswell.seismology.comparison.measures import Row
from groundswell.seismology.comparison.pairs import Pair
from groundswell.seismology.comparison.tables import plain, signed
from groundswell.seismology.plots.record_section import evenly

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OVERVIEW = "overview.png"
_PANEL = 1.5  # inches, height of a component
_ROW = 0.5  # inches, height of a station in the overview
_MOST_STATIONS = 24
_AMPLITUDE = 0.42  # largest amplitude of a station in the overview, in heights of rows
_NAMES = {
    **{"E": "East", "N": "North", "Z": "Up", "H": "Pressure"},
    **{"R": "Radial", "T": "Transverse"},
}
_LINES = (("observed", INK, 1.3), ("simulated", ACCENT, 0.9))


def station_picture(pair: Pair, rows: Sequence[Row], unit: str, caption: str, folder: Path) -> Path:
    """Draw `NETWORK.STATION.png`: both traces of each component, with shift and correlation.

    Args:
        rows: the measures of the station.
        unit: of the traces.
        caption: what is compared.
    """
    path, components = folder / f"{pair.station}.png", [*pair.observed]
    largest = max(float(np.abs(of).max()) for of in _traces(pair)) or 1.0
    factor, name = _prefixed(largest, unit)
    with picture(path, 0.6 + _PANEL * len(components)) as figure:
        panels = figure.subplots(len(components), 1, sharex=True, squeeze=False)[:, 0]
        for axes, component in zip(panels, components, strict=True):
            own = [row for row in rows if row.component == component]
            _draw_component(axes, pair, component, own)
            axes.set_ylim(-1.15 * largest, 1.5 * largest)
            axes.yaxis.set_major_formatter(lambda value, _: f"{value / factor:.6g}")
            axes.set_ylabel(f"{_NAMES[component]}\n({name})")
        panels[-1].set_xlabel("Time after time 0 (s)")
        panels[0].legend(frameon=False, ncols=2, loc="lower right", fontsize=9)
        headline(panels[0], pair.station, caption)
    return path


def _prefixed(largest: float, unit: str) -> tuple[float, str]:
    """A unit in which the largest value is at least 1: its value in `unit`, and its name."""
    large = [(1e3, "k")] if unit == "Pa" else []  # there is no motion of km/s
    prefixes = (*large, (1.0, ""), (1e-3, "m"), (1e-6, "µ"))
    return next(((f, p + unit) for f, p in prefixes if largest >= f), (1e-9, f"n{unit}"))


def _traces(pair: Pair) -> list[Floats]:
    return [*pair.observed.values(), *pair.simulated.values()]


def _draw_component(axes: Axes, pair: Pair, component: str, rows: Sequence[Row]) -> None:
    for (label, colour, width), of in zip(_LINES, (pair.observed, pair.simulated), strict=True):
        axes.plot(pair.time, of[component], color=colour, linewidth=width, label=label)
    has_windows = len({(row.start, row.end) for row in rows}) > 1
    for n, row in enumerate(rows):
        if has_windows:
            axes.axvspan(row.start, row.end, color=QUIET, alpha=0.08 + 0.08 * (n % 2), linewidth=0)
        axes.annotate(
            _words(row, is_short=has_windows),
            (row.start, 0.97),
            xytext=(4, 0),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            va="top",
            fontsize=8,
            color=QUIET,
        )
    axes.margins(x=0)
    axes.spines[["top", "right"]].set_visible(False)


def _words(row: Row, *, is_short: bool) -> str:
    """The measures of a row; only shift and correlation if it is short."""
    words = []
    if isfinite(row.shift):
        words += [f"shift {signed(row.shift)} s", f"correlation {plain(row.correlation)}"]
    if isfinite(row.misfit) and not is_short:
        words += [f"misfit {plain(row.misfit)}", f"ratio {plain(row.ratio)}"]
    return ", ".join(words) or "no motion"


def overview(
    pairs: Sequence[Pair], rows: Sequence[Row], title: str, caption: str, folder: Path
) -> Path:
    """Draw `overview.png`: both traces of all components, stations sorted by distance.

    Each station is scaled by its largest component. The number after a trace is the correlation in
    the first window. At most 24 stations are shown, evenly distributed in the order of distance.

    Args:
        title: of the run.
        caption: what is compared.
    """
    order = np.argsort([pair.distance for pair in pairs], kind="stable")
    shown = [pairs[n] for n in evenly(order, _MOST_STATIONS)]
    names = [name for name in _NAMES if any(name in pair.observed for pair in shown)]
    path, found = folder / OVERVIEW, {(r.station, r.component): r for r in reversed(rows)}
    with picture(path, 1.1 + max(_ROW * len(shown), 2.5)) as figure:
        panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
        for axes, name in zip(panels, sorted(names, key="ZRTNEH".index), strict=True):
            for height, pair in enumerate(shown):
                if name in pair.observed:
                    row = found.get((pair.station, name))
                    _draw_trace(axes, pair, name, height, row)
            axes.set_title(_NAMES[name], fontsize=11)
            _dress(axes, shown)
        total = counted(len(pairs), "station")
        stations = f"{len(shown)} of {total}" if len(shown) < len(pairs) else total
        sentence = f"{caption}. {stations}, observed black, simulated red; with correlations"
        headline(panels[0], title, sentence)
    return path


def _draw_trace(axes: Axes, pair: Pair, component: str, height: int, row: Row | None) -> None:
    scale = _AMPLITUDE / (max(float(np.abs(of).max()) for of in _traces(pair)) or 1.0)
    for (_, colour, width), of in zip(_LINES, (pair.observed, pair.simulated), strict=True):
        axes.plot(pair.time, height - scale * of[component], color=colour, linewidth=0.7 * width)
    if row is not None and isfinite(row.correlation):
        label_trace(axes, f"{row.correlation:.2f}", height)


def _dress(axes: Axes, pairs: Sequence[Pair]) -> None:
    largest = max((pair.distance for pair in pairs if isfinite(pair.distance)), default=0.0)
    labels = [
        f"{pair.station}\n{distance_text(pair.distance, largest)}"
        if isfinite(pair.distance)
        else pair.station
        for pair in pairs
    ]
    axes.set_yticks(range(len(labels)), labels=labels, fontsize=9, linespacing=0.95)
    axes.set_xlabel("Time after time 0 (s)")
    axes.set_ylim(len(pairs) - 0.3, -0.75)
    axes.margins(x=0)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
