"""A solution in time: the range and the mean of u, and the iterations of each step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.formats.text import read_table
from groundswell.plotting.style import COLOURS, grid_lines, headline, picture
from groundswell.solvers.poisson.step_history import StepRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def history_picture(results: str | Path) -> Path:
    """Draw `history.png`.

    Args:
        results: folder with `history.csv`.

    Raises:
        InputError: the file is missing or damaged.
    """
    table = Path(results) / "history.csv"
    columns = read_table(table)
    if missing := sorted({*StepRow._fields} - set(columns)):
        raise InputError(f"{table} is damaged: it has no {missing}; run the case again")
    path, times = table.with_suffix(".png"), columns["time"]
    with picture(path, 5.6) as figure:
        above, below = figure.subplots(2, sharex=True, height_ratios=(2, 1))
        _draw_values(above, times, columns)
        below.plot(times, columns["iterations"], color=COLOURS[1], drawstyle="steps-mid")
        below.set(xlabel="time (s)", ylabel="iterations of a step", xlim=(0, times[-1]))
        below.set_ylim(bottom=0)
        grid_lines(below)
        headline(above, "u by time", f"{len(times):,} steps")
    return path


def _draw_values(axes: Axes, times: Floats, columns: dict[str, Floats]) -> None:
    low, high = columns["smallest"], columns["largest"]
    axes.fill_between(times, low, high, color=COLOURS[0], alpha=0.18, linewidth=0)
    for name, colour in zip(("largest", "mean", "smallest"), COLOURS, strict=False):
        axes.plot(times, columns[name], color=colour, label=name)
    margin = 0.05 * float(np.ptp([low.min(), high.max()])) or 1.0
    axes.set(ylabel="u", ylim=(low.min() - margin, high.max() + margin))
    axes.legend(frameon=False)
    grid_lines(axes)
