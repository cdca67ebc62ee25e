"""The common style of pictures: size, fonts, colours, units and round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.formats.atomic import atomic_write
from groundswell.simulation.summary import read_summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

DPI = 150
PASSES = 2  # of the layout, after which it does not change
WIDTH = 1600 / DPI  # inches
_HEADLINE = 0.72  # inches at the top of a picture
INK = "#1f2933"
QUIET = "#6b7785"
ACCENT = "#c8102e"
COLOURS = ("#0b6e4f", "#3b6fb6", ACCENT)  # of curves
_GRID = "#e4e7eb"
# White to black over yellow and red, in equal steps of lightness, so that it is readable in grey.
_SHADES = ("#fffcf0", "#fde6a0", "#fcbc55", "#f28a3c", "#dc503d", "#ab1f50", "#6b1257", "#2a0a3a")

_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "text.color": INK,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
}
_SPEED_UNITS = ((1.0, "m/s"), (1e-2, "cm/s"), (1e-3, "mm/s"), (1e-6, "µm/s"), (1e-9, "nm/s"))


@contextmanager
def picture(path: Path, height: float) -> Iterator[Figure]:
    """A figure of standard width and style, saved as PNG at the end of the block.

    Args:
        path: path of the PNG file.
        height: height in inches, without the headline.
    """
    with styled_figure(height) as figure:
        yield figure
        figure.set_dpi(DPI)
        settle_layout(figure)
        with atomic_write(path) as part:
            figure.savefig(part, format="png", dpi=DPI)


def settle_layout(figure: Figure) -> None:
    """Compute the layout once and keep it; each drawing would compute it again."""
    layout = figure.get_layout_engine()
    if layout is not None:
        for _ in range(PASSES):
            layout.execute(figure)
        figure.set_layout_engine(None)


@contextmanager
def styled_figure(height: float) -> Iterator[Figure]:
    """A figure of standard width, whose style holds in the block; see `picture`."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    height += _HEADLINE
    layout = ConstrainedLayoutEngine(compress=True, rect=(0, 0, 1, 1 - _HEADLINE / height))
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(WIDTH, height), layout=layout)
        FigureCanvasAgg(figure)  # measures text, which the placement of labels needs
        yield figure


def plane_height(across: Floats, up: Floats) -> float:
    """Height of a picture of a plane, in inches, given the positions along its axes."""
    aspect = float(np.ptp(up) / np.ptp(across))
    return min(0.62 * WIDTH * aspect, WIDTH) + 0.4


def headline(axes: Axes, title: str, subtitle: str) -> Annotation:
    """Write a bold title and a grey subtitle at the top, aligned with the left end of the axes.

    Returns:
        The subtitle, which films change.
    """
    bold = {"fontsize": 15, "fontweight": "bold"}
    for text, below, style in ((title, 10, bold), (subtitle, 34, {"color": QUIET})):
        line = axes.annotate(
            text,
            xy=(0, 1),
            xytext=(0, -below),
            xycoords=("axes fraction", "figure fraction"),
            textcoords="offset points",
            va="top",
            **style,
        )
        line.set_in_layout(False)
    return line


def title_of(attrs: Mapping[str, object], otherwise: str = "Ground motion") -> str:
    """The title in the attributes of a results file."""
    return str(attrs.get("title") or otherwise)


def title_of_run(results: Path, otherwise: str) -> str:
    """The title of the case whose results are in a folder, for pictures of tables."""
    try:
        return title_of(read_summary(results), otherwise)
    except InputError:  # a folder of files only
        return otherwise


def shades() -> Colormap:
    """The colours of quantities from nothing (white) to the largest (black)."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("shades", _SHADES)


def colour_bar(axes: Axes, cells: ScalarMappable, label: str, extend: str = "neither") -> None:
    """Draw a colour bar to the right of the axes, as high as these, with round tick labels.

    Args:
        extend: ends beyond which there are values: "neither", "min", "max" or "both".
    """
    from matplotlib.colors import LogNorm

    bar = axes.figure.colorbar(cells, cax=axes.inset_axes((1.02, 0, 0.025, 1)), extend=extend)
    bar.set_label(label)
    bar.outline.set_visible(False)
    if isinstance(cells.norm, LogNorm):
        lowest, highest = cells.get_clim()
        ticks = round_numbers(lowest, highest * (1 + 1e-9))
        bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks], minor=False)
        bar.minorticks_off()


def grid_lines(axes: Axes) -> None:
    """Draw faint grid lines, and remove the frame at the top and on the right."""
    axes.grid(color=_GRID, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)


def speed_unit(largest: float) -> tuple[float, str]:
    """A suitable unit for a speed (m/s): its value in m/s, and its name.

    From 0.1 to 1000 cm/s it is cm/s, the customary unit of ground motion.
    """
    if not largest > 0 or 1e-3 <= largest < 10:
        return 1e-2, "cm/s"
    return next(((u, name) for u, name in _SPEED_UNITS if largest >= u), _SPEED_UNITS[-1])


def distance_unit(largest: float) -> tuple[float, str]:
    """The unit of distances up to the largest one (m): its value in m, and its name."""
    return (1e3, "km") if largest >= 2e3 else (1.0, "m")


def distance_text(distance: float, largest: float) -> str:
    """A distance (m) as text, in the unit of distances up to the largest one."""
    unit, name = distance_unit(largest)
    return f"{distance / unit:.{int(unit > 1)}f} {name}"


def round_numbers(lowest: float, highest: float) -> list[float]:
    """The numbers 1, 2 and 5 times powers of ten strictly between two positive numbers."""
    if not 0 < lowest < highest:
        return []
    decades = range(math.floor(math.log10(lowest)), math.ceil(math.log10(highest)) + 1)
    numbers = (m * 10.0**d for d in decades for m in (1, 2, 5))
    return [n for n in numbers if lowest < n < highest]


def round_below(value: float) -> float:
    """The largest of 1, 2 and 5 times powers of ten that does not exceed a positive value."""
    return max(round_numbers(value / 100, value * (1 + 1e-9)))
