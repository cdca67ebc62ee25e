"""The slides on AWP-ODC: their tables, and what is measured in their place."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.bench.documents import Document, Item, named
from groundswell.bench.rows import Measured, Row
from groundswell.bench.tables import Column, amount, fraction, milliseconds, percent
from groundswell.errors import counted
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.earthquake.benchmarks.published import (
    AWP_ODC,
    CITATION,
    COMPRESSED,
    COMPRESSION,
    GPU_AWARE,
    LONESTAR,
    OTHER_LIBRARIES,
    SHORTER,
)
from groundswell.solvers.earthquake.benchmarks.ranks import ALONE

CODECS = {"mpc": "MPC, lossless", "zfp": "ZFP, lossy"}


def _throughput(measured: Measured) -> Iterator[Row]:
    """The problems of the reference: anelastic, in single precision."""
    for row in measured.get("throughput", ()):
        if row["name"] == "anelastic":
            yield row | {"what": f"Groundswell, {format_extent(row['cells'])} points"}


# --- several ranks --------------------------------------------------------------------------------


def _published_scaling() -> Iterator[Row]:
    for library in (*LONESTAR.values(), *OTHER_LIBRARIES):
        for nodes, (speed, seconds, efficiency) in library.steps.items():
            row = {"what": f"{nodes} nodes, {library.library}", "flops": 1e12 * speed}
            yield row | {"seconds": seconds, "published_efficiency": efficiency}


def _scaling(measured: Measured) -> Iterator[Row]:
    for row in measured.get("scaling", ()):
        through = "" if row["transport"] == ALONE else f", {row['transport']}"
        points = f"{format_extent(row['cells'])} points each"
        yield row | {"what": f"Groundswell, {counted(row['ranks'], 'rank')}{through}, {points}"}


def _efficiency(row: Row) -> str | None:
    if "efficiency" in row:
        return fraction(row["efficiency"], 1)
    published = row.get("published_efficiency")
    return None if published is None else percent(published, 1)


def _published_gains() -> Iterator[Row]:
    for codec, name in CODECS.items():
        yield {"what": name, "gain": COMPRESSION[codec], "shorter": SHORTER[codec]}
    compressed, plain = LONESTAR[COMPRESSED], LONESTAR[GPU_AWARE]
    for nodes in compressed.steps:
        gain = compressed.gain_over(plain, nodes) - 1
        yield {"what": f"MPC, {nodes} nodes of A100s", "gain": gain}


def _gains(measured: Measured) -> Iterator[Row]:
    for row in measured.get("links", ()):
        if row["codec"] != "none" and row["gain"] is not None:
            link = f"{row['link'] / 1e9:.3g} GB/s" if row["link"] else "the machine's own link"
            what = f"Groundswell, {row['codec']}, {link}"
            yield {"what": what, "gain": row["gain"], "shorter": 1 - 1 / (1 + row["gain"])}


SIGNED = "{:+.0f} %"
ITEMS = [
    Item(
        "Slide 'Performance comparisons'",
        "throughput of a device",
        "the devices that the rows name, each of several in a run",
        [
            Column("million points/s", "MLUPS", amount),
            Column("of bandwidth", "share", fraction),
        ],
        "AWP-ODC's values include the exchange between several devices with 160 x 160 x 2048 "
        "points each; ours are for one device without exchange. Both are anelastic, in single "
        "precision. A CPU has less memory bandwidth than a GPU, and gets fewer points.",
        ["throughput"],
        named(AWP_ODC, "MLUPS"),
        _throughput,
        ranks="one",
    ),
    Item(
        "Slide 'Performance comparisons', table",
        "weak scaling with several MPI libraries",
        "nodes of Lonestar6 with A100s",
        [
            Column("Tflop/s", "flops", "{:.3g}", unit=1e12),
            milliseconds("ms a step"),
            Column("efficiency", _efficiency),
        ],
        "AWP-ODC's efficiencies are relative to two nodes, ours to one rank. Ranks of one host "
        "exchange through memory instead of a network, but those of a CPU share its bandwidth. The "
        "published 154.3 ms on 16 nodes do not fit the 14.4 Tflop/s beside them.",
        ["scaling"],
        [*_published_scaling()],
        _scaling,
        ranks="several",
    ),
    Item(
        "Slide 'MPI compression performance results'",
        "gains by compressed messages",
        "clusters of GPUs; A100s on Lonestar6",
        [
            Column("more flop/s", "gain", SIGNED, unit=0.01),
            Column("shorter run", "shorter", SIGNED, unit=0.01),
        ],
        "AWP-ODC's gains are over a network between nodes. The rows with a bandwidth are over an "
        "emulated link of that speed. Through the memory of one host, codecs rarely pay.",
        ["codecs", "links"],
        [*_published_gains()],
        _gains,
        ranks="several",
        in_clone=True,
    ),
]
DOCUMENT = Document(
    "AWP-ODC",
    CITATION,
    ITEMS,
    "Not reproduced: the figures on scalability, bandwidths between nodes and parts of a step show "
    "no numbers (`groundswell bench exchange` measures links). AWP-ODC-Topo on Frontier needs "
    "AMD GPUs, and topography, which the earthquake solver does not have.",
)
