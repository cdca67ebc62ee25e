"""Error of the interface between two blocks of the local Fourier basis (figure 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from groundswell.bench import Benchmark
from groundswell.bench.drawing import Page, Panel, curves, title
from groundswell.bench.tables import Column, Measured, Row, Table, field
from groundswell.plotting.style import ACCENT, INK
from groundswell.solvers.ultrasound.benchmarks.published import ACCEPTABLE, KWAVE_ERROR
from groundswell.solvers.ultrasound.benchmarks.tables import source
from groundswell_rivals.ultrasound.interface_error import (
    EIGHT_INTERFACES,
    SHAPES,
    measure_errors,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = (2, 4, 8, 16, 32)  # overlaps
CASES = ((4.0, tuple(range(2, 33, 2))), (3.0, FEW), (6.0, FEW))  # with points per wavelength
STYLES = ("-", "--", ":")  # by points per wavelength
SCIENTIFIC = "{:.1e}"


def extend(benchmark: Benchmark) -> Benchmark:
    """Add the errors, in front."""
    page = benchmark.draw
    assert isinstance(page, Page)
    page = replace(page, panels=[Panel("overlap_error", draw_errors, "one"), *page.panels])
    return replace(benchmark, tables=[ERRORS, *benchmark.tables], draw=page, missing="")


def _after_eight(row: Row) -> float | None:
    """The error of the separate computation for the same wave and overlap."""
    return EIGHT_INTERFACES.get(row.get("points_per_wavelength", 0.0), {}).get(row["overlap"])


def _error_of(shape: float) -> Column:
    return Column(
        f"L = {shape:g}", lambda row: row.get("errors", {}).get(str(shape)), SCIENTIFIC, 8
    )


def _kwave_error(measured: Measured) -> Iterator[Row]:
    overlap, error = KWAVE_ERROR
    yield {"source": "k-Wave, in tissue", "overlap": overlap, "error": error}


ERRORS = Table(
    "overlap_error",
    "Error of one interface between two blocks, relative to the transform of the whole line, by "
    "overlap and bell (figure 1)",
    [
        source("here", 17),
        Column("points a wave", "points_per_wavelength", "{:g}"),
        field("overlap"),
        Column("the solver's", "error", SCIENTIFIC),
        Column("its L", "shape", "{:.2f}"),
        *map(_error_of, SHAPES),
        Column("8 interfaces, best L", _after_eight, SCIENTIFIC),
    ],
    lambda session: measure_errors(CASES),
    ranks="one",
    others=_kwave_error,
)


def draw_errors(axes: Axes, measured: Measured) -> None:
    """Errors by overlap: a line for each bell, and the solver's bells for several wavelengths."""
    from matplotlib import colormaps

    rows = measured["overlap_error"]
    waves = list(dict.fromkeys(row["points_per_wavelength"] for row in rows))
    main = [row for row in rows if row["points_per_wavelength"] == waves[0]]
    for n, shape in enumerate(SHAPES):
        errors = [row["errors"][str(shape)] for row in main]
        colour, overlaps = colormaps["viridis"](n / len(SHAPES)), [row["overlap"] for row in main]
        axes.plot(overlaps, errors, color=colour, lw=1.2, label=f"L = {shape:g}")

    def style(wave: float) -> dict[str, object]:
        label = f"the solver's L, {wave:g} points"
        return {"color": ACCENT, "ls": STYLES[waves.index(wave) % 3], "lw": 2, "label": label}

    curves(axes, rows, "overlap", "error", "points_per_wavelength", style)
    label = f"{ACCEPTABLE:g}: acceptable in medicine (k-Wave)"
    axes.axhline(ACCEPTABLE, color=INK, ls="-.", lw=1.2, label=label)
    axes.set_yscale("log")
    axes.set_xticks(sorted({row["overlap"] for row in rows}))
    axes.set_xlabel("overlap, points")
    axes.set_ylabel("error")
    axes.legend(loc="lower left", frameon=False, fontsize=9, ncols=2)
    text = f"Error of one interface, by shape of the bell; {waves[0]:g} points per wavelength"
    title(axes, f"{text} (figure 1)")
