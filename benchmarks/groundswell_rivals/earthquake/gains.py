"""What codecs of messages gain, beside AWP-ODC's gains by compression in MPI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundswell.bench.drawing import BAND, OTHER, OURS, PEER, grouped_bars, legend, title
from groundswell.bench.tables import Measured, Row
from groundswell.plotting.style import INK
from groundswell.solvers.earthquake.benchmarks.published import (
    COMPRESSED,
    COMPRESSION,
    GPU_AWARE,
    LONESTAR,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {"mpc": OURS, "zfp16": OTHER, "zfp8": "#93b3d9"}
ON_A100 = [
    100 * (LONESTAR[COMPRESSED].gain_over(LONESTAR[GPU_AWARE], nodes) - 1)
    for nodes in LONESTAR[COMPRESSED].steps
]  # by MPC, per cent
LINES = {"mpc": "--", "zfp": ":"}


def name_of_link(row: Row) -> str:
    """The bandwidth of an emulated link, or the machine's own."""
    return f"{row['link'] / 1e9:.3g} GB/s" if row["link"] else "the machine's"


def published_gain(codec: str) -> str:
    """AWP-ODC's gain in flop/s by a codec; empty without a codec."""
    gain = next((gain for name, gain in COMPRESSION.items() if codec.startswith(name)), None)
    if gain is None:
        return ""
    more = f", A100s {min(ON_A100):.0f} to {max(ON_A100):.0f} %" if codec == "mpc" else ""
    return f"{100 * gain:+.0f} %{more}"


def draw_gains(axes: Axes, measured: Measured) -> None:
    """Gain in speed by codec and link, with AWP-ODC's."""
    rows = [
        {**row, "name": name_of_link(row), "percent": 100 * row["gain"]}
        for row in measured["links"]
        if row["codec"] != "none" and row["gain"] is not None
    ]
    label = "AWP-ODC, MPC over GPU-aware MPI, A100s"
    axes.axhspan(min(ON_A100), max(ON_A100), color=BAND, zorder=0, label=label)
    for codec, gain in COMPRESSION.items():
        name = f"AWP-ODC, {codec.upper()}: {100 * gain:+.0f} %"
        axes.axhline(100 * gain, ls=LINES[codec], color=PEER, label=name)
    grouped_bars(axes, rows, "name", "codec", "percent", COLOURS)
    axes.axhline(0, color=INK, lw=0.8)
    legend(axes, 3, size=8)
    axes.margins(y=0.35)
    axes.set_ylabel("% faster than without")
    axes.set_xlabel("bandwidth of a rank's link, emulated but for the machine's")
    title(axes, "Codecs of messages")
