"""Pictures of measurements: pages of panels, curves, bars and their labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell.bench.merging import model_of
from groundswell.bench.tables import Measured, Row, fit
from groundswell.plotting.style import QUIET, grid_lines, headline, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PEER, OURS, OTHER, BAND = "#9aa5b1", "#0b6e4f", "#3b6fb6", "#e4e7eb"
FILLED = 0.8  # fraction of the width of a group that bars fill

Rows = Sequence[Row]
Key = str | Callable[[Row], object]  # of rows, or a function of a row


@dataclass(frozen=True)
class Panel:
    """A panel of a page.

    Args:
        table: the table that it shows; without rows of it, there is no panel.
        draw: draws the measurements.
        ranks: number of ranks for which it is drawn: "one", "several" or "any".
    """

    table: str
    draw: Callable[[Axes, Measured], None]
    ranks: str = "any"

    def fits(self, ranks: int) -> bool:
        """Whether it is drawn for this number of ranks."""
        return fit(self.ranks, ranks)


@dataclass(frozen=True)
class Page:
    """A picture of panels in rows and columns, which draws itself to a file.

    Args:
        title: the headline.
        note: what the line below says after the devices.
        height: of a panel, inches, or a function of the measurements.
        columns: number of panels beside each other.
    """

    title: str
    note: str | Callable[[Measured], str]
    panels: Sequence[Panel]
    height: float | Callable[[Measured], float] = 3.9
    columns: int = 1

    def __call__(self, measured: Measured, path: Path) -> Path:
        """Draw the panels that have rows for this number of ranks; without any, no file."""
        shown = [panel for panel in self.panels if panel.fits(measured["ranks"])]
        panels = [panel for panel in shown if measured.get(panel.table)]
        if panels:
            height = self.height(measured) if callable(self.height) else self.height
            rows = -(-len(panels) // self.columns)
            with picture(path, height=height * rows) as figure:
                every = figure.subplots(rows, self.columns, squeeze=False).flat
                self._draw([*every][: len(panels)], panels, measured)
        return path

    def _draw(self, every: Sequence[Axes], panels: Sequence[Panel], measured: Measured) -> None:
        for axes, panel in zip(every, panels, strict=True):
            grid_lines(axes)
            axes.set_axisbelow(True)
            panel.draw(axes, measured)
        note = self.note(measured) if callable(self.note) else self.note
        headline(every[0], self.title, f"{devices(measured)}; {note}")


def devices(measured: Measured) -> str:
    """The devices, as in "2 x NVIDIA H200"; ranks share a CPU."""
    device, ranks = model_of(measured), measured["ranks"]
    between = " ranks on " if measured.get("backend") == "cpu" else " x "
    return f"{ranks}{between}{device}" if ranks > 1 else device


def title(axes: Axes, text: str, **style: Any) -> None:
    """The title of a panel."""
    axes.set_title(text, loc="left", fontsize=11, **style)


def legend(axes: Axes, columns: int = 1, place: str = "upper left", *, size: int = 9) -> None:
    """A legend without a frame; if it is at the top, with room above the data."""
    axes.legend(loc=place, frameon=False, fontsize=size, ncols=columns)
    if place.startswith("upper"):
        axes.margins(y=0.2)


def value_of(row: Row, key: Key) -> Any:
    """The value of a row."""
    return row[key] if isinstance(key, str) else key(row)


def distinct(rows: Iterable[Row], key: Key) -> list[Any]:
    """The values of rows, in the order in which they occur."""
    return list(dict.fromkeys(value_of(row, key) for row in rows))


def curves(
    axes: Axes, rows: Rows, x: Key, y: Key, by: Key, style: Callable[[Any], dict[str, Any]]
) -> None:
    """A curve of y over x for each value of `by`.

    Args:
        style: the options of `Axes.plot`, such as colour and label, for a value of `by`.
    """
    for name in distinct(rows, by):
        chosen = [row for row in rows if value_of(row, by) == name]
        points = [(value_of(row, x), value_of(row, y)) for row in chosen]
        axes.plot(*zip(*points, strict=True), **style(name))


# --- bars -----------------------------------------------------------------------------------------


def lying_bars(
    axes: Axes,
    bars: Mapping[str, float],
    colours: Sequence[str],
    text: Callable[[float], str] = "{:.3g}".format,
) -> None:
    """Horizontal bars by name, from the top, with their values at the ends."""
    axes.barh(list(bars), list(bars.values()), color=list(colours))
    for n, value in enumerate(bars.values()):
        axes.text(value, n, f" {text(value)}", va="center")
    axes.invert_yaxis()
    axes.grid(visible=False)


def places_of(
    rows: Rows, group: Key, by: str, names: Iterable[object]
) -> tuple[list[object], float, list[float]]:
    """The groups, the width of a bar, and the place of each row's bar in its group.

    Args:
        names: the values of `by` in the order of bars in a group.
    """
    groups, order = distinct(rows, group), list(names)
    width = FILLED / max(len(order), 1)
    shifts = [width * (order.index(row[by]) + 0.5 - len(order) / 2) for row in rows]
    found = [groups.index(value_of(row, group)) for row in rows]
    return groups, width, [n + shift for n, shift in zip(found, shifts, strict=True)]


def grouped_bars(
    axes: Axes,
    rows: Rows,
    group: Key,
    by: str,
    value: Key,
    colours: Mapping[Any, str],
) -> list[float]:
    """Bars in groups, coloured by a key, with a label for each colour; returns their places."""
    used = [name for name in colours if any(row[by] == name for row in rows)]
    groups, width, places = places_of(rows, group, by, used)
    for name in used:
        chosen = [(p, row) for p, row in zip(places, rows, strict=True) if row[by] == name]
        heights = [value_of(row, value) for _, row in chosen]
        axes.bar([p for p, _ in chosen], heights, 0.9 * width, color=colours[name], label=str(name))
    name_groups(axes, range(len(groups)), groups)
    return places


def stacked_bars(
    axes: Axes,
    places: Sequence[float],
    parts: Sequence[Mapping[str, float]],
    colours: Mapping[str, str],
    width: float = FILLED,
) -> list[float]:
    """Bars of parts on top of each other, one bar at each place; returns their heights."""
    bottom = [0.0] * len(places)
    for name, colour in colours.items():
        heights = [part.get(name, 0.0) for part in parts]
        drawn = [n for n, height in enumerate(heights) if height]
        if drawn:
            x, height, low = ([values[n] for n in drawn] for values in (places, heights, bottom))
            axes.bar(x, height, width, low, color=colour, label=name.replace("_", " "))
        bottom = [a + b for a, b in zip(bottom, heights, strict=True)]
    return bottom


def name_groups(
    axes: Axes, places: Iterable[float], names: Iterable[object], size: int = 9
) -> None:
    """Names below groups of bars, in place of ticks and vertical lines."""
    axes.set_xticks(list(places), [str(name) for name in names], fontsize=size)
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")


def above(
    axes: Axes,
    places: Iterable[float],
    heights: Iterable[float],
    texts: Iterable[str],
    size: float = 11,
) -> None:
    """Grey texts above bars."""
    for x, y, text in zip(places, heights, texts, strict=True):
        axes.text(x, y, text, ha="center", va="bottom", color=QUIET, fontsize=size)
