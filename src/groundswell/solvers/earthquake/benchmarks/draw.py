"""Plot of the throughput on one device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundswell.bench.drawing import OURS, PEER, Page, Panel, devices, lying_bars
from groundswell.bench.tables import Measured
from groundswell.solvers.earthquake.benchmarks.tables import PUBLISHED

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _throughput(axes: Axes, measured: Measured) -> None:
    """Bars of published and measured throughput."""
    ours = {f"{devices(measured)}, Groundswell": measured["throughput"][0]["MLUPS"]}
    lying_bars(axes, PUBLISHED | ours, [PEER] * len(PUBLISHED) + [OURS], "{:,.0f}".format)
    axes.set_xlabel(
        "million lattice points updated a second; AWP-ODC: 160 x 160 x 2048 points for each of\n"
        "several devices, exchange included"
    )


def _note(measured: Measured) -> str:
    cells = " x ".join(map(str, measured["throughput"][0]["cells"]))
    return f"single precision, {cells} points"


draw = Page(
    "Anelastic waves on one device",
    _note,
    [Panel("throughput", _throughput, "one")],
    5.5,
)
