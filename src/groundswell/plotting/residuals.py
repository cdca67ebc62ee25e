"""Convergence plots of tables of residuals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from groundswell.errors import InputError
from groundswell.formats.text import read_table
from groundswell.plotting.style import COLOURS, grid_lines, headline, picture, title_of_run

_MOST_DOTS = 60  # with more iterations, markers would overlap


def residuals_picture(
    table: Path, count: str, residuals: Mapping[str, Sequence[str]], label: str
) -> Path:
    """Plot residuals on a logarithmic axis to a PNG file next to their table; returns its path.

    Args:
        table: file written by `write_table`.
        count: column of the horizontal axis and its label, such as "step".
        residuals: names in the legend, each with the columns whose largest value is plotted;
            values of zero are omitted.
        label: label of the vertical axis.

    Raises:
        InputError: the table is missing or damaged.
    """
    from matplotlib.ticker import MaxNLocator

    columns = read_table(table)
    if missing := {count}.union(*residuals.values()) - set(columns):
        raise InputError(f"{table} is damaged: it has no {sorted(missing)}; run the case again")
    path, at = table.with_suffix(".png"), columns[count]
    largest = {name: np.max([columns[c] for c in of], axis=0) for name, of in residuals.items()}
    shown = {name: values for name, values in largest.items() if (values > 0).any()}
    with picture(path, 4.5) as figure:
        axes = figure.add_subplot()
        for (name, values), colour in zip(shown.items(), COLOURS, strict=False):
            seen = values > 0
            axes.semilogy(at[seen], values[seen], color=colour, label=name)
        if len(at) <= _MOST_DOTS:
            for line in axes.lines:
                line.set_marker(".")
        if len(shown) > 1:
            axes.legend(frameon=False)
        axes.set(xlabel=count, ylabel=label)
        axes.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))
        grid_lines(axes)
        title = title_of_run(table.parent, "Convergence")
        headline(axes, title, f"Residuals over {at[-1]:,.0f} {count}s")
    return path
