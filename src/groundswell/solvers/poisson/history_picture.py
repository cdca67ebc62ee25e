"""A solution in time: the range and the mean of u, flows through sides, and iterations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.formats.netcdf import open_netcdf
from groundswell.formats.text import read_json, read_table
from groundswell.plotting.style import COLOURS, grid_lines, headline, picture, title_of_run
from groundswell.solvers.poisson.film import solution_label
from groundswell.solvers.poisson.step_history import StepRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("-", "--", ":")  # of further sides with the same colours
MOST_SIDES = len(STYLES) * len(COLOURS)  # of more, those with the largest flows


def history_picture(results: str | Path) -> Path:
    """Draw `history.png`.

    Args:
        results: folder with `history.csv` and, for flows and the unit of u, with `flows.nc` and
            `solution.json`.

    Raises:
        InputError: a file is missing or damaged.
    """
    folder = Path(results)
    table = folder / "history.csv"
    columns = read_table(table)
    if missing := sorted({*StepRow._fields} - set(columns)):
        raise InputError(f"{table} is damaged: it has no {missing}; run the case again")
    path, times, flows = table.with_suffix(".png"), columns["time"], _read_flows(folder)
    with picture(path, 5.6 + 2.0 * bool(flows)) as figure:
        heights = (2, 1.3, 1) if flows else (2, 1)
        above, *between, below = figure.subplots(len(heights), sharex=True, height_ratios=heights)
        _draw_values(above, times, columns, _label(folder))
        for axes in between:
            _draw_flows(axes, times, flows)
        below.plot(times, columns["iterations"], color=COLOURS[1], drawstyle="steps-mid")
        below.set(xlabel="time (s)", ylabel="iterations", xlim=(0, times[-1]))
        below.set_ylim(bottom=0)
        grid_lines(below)
        figure.align_ylabels()
        title = title_of_run(folder, "u by time")
        headline(above, title, f"u by time, {len(times):,} steps")
    return path


def _label(folder: Path) -> str:
    """u, with its unit if the case gives it."""
    path = folder / "solution.json"
    found = read_json(path) if path.exists() else {}
    return solution_label({"units": found["unit"]} if "unit" in found else {})


def _read_flows(folder: Path) -> dict[str, Floats]:
    """Flows through the sides with the largest ones, by name; none without sides."""
    path = folder / "flows.nc"
    if not path.exists():
        return {}
    with open_netcdf(path, ["time", "stored"]) as dataset:
        if "flow" not in dataset:
            return {}
        names, flows = dataset["side"].values, dataset["flow"].values
    largest = np.sort(np.argsort(-np.abs(flows).max(axis=0))[:MOST_SIDES])
    return {str(names[n]): flows[:, n] for n in largest}


def _draw_values(axes: Axes, times: Floats, columns: dict[str, Floats], label: str) -> None:
    low, high = columns["smallest"], columns["largest"]
    axes.fill_between(times, low, high, color=COLOURS[0], alpha=0.18, linewidth=0)
    for name, colour in zip(("largest", "mean", "smallest"), COLOURS, strict=False):
        axes.plot(times, columns[name], color=colour, label=name)
    margin = 0.05 * float(np.ptp([low.min(), high.max()])) or 1.0
    axes.set(ylabel=label, ylim=(low.min() - margin, high.max() + margin))
    axes.legend(frameon=False)
    grid_lines(axes)


def _draw_flows(axes: Axes, times: Floats, flows: dict[str, Floats]) -> None:
    for n, (name, flow) in enumerate(flows.items()):
        style, colour = divmod(n, len(COLOURS))
        axes.plot(times, flow, STYLES[style], color=COLOURS[colour], label=name)
    axes.set(ylabel="flow in")
    axes.legend(frameon=False)
    grid_lines(axes)
