"""The multi-GPU k-Wave: figures of its paper, and what is measured in their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from groundswell.bench.documents import Document, Item
from groundswell.bench.rows import Measured, Row
from groundswell.bench.tables import Column, milliseconds, percent
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.ultrasound.benchmarks.published import (
    ACCEPTABLE,
    CITATION,
    EIGHT_P40,
    KWAVE,
    KWAVE_COMMUNICATION,
    PEER_OVER_MPI,
)
from groundswell.solvers.ultrasound.benchmarks.ranks import STAGED


def _errors(measured: Measured) -> Iterator[Row]:
    for row in measured.get("overlap_error", ()):
        wave = f"{row['points_per_wavelength']:g} points per wavelength"
        least = min(row["errors"].values())
        yield row | {"what": f"overlap {row['overlap']}, {wave}", "least": least}


# --- a step and its parts -------------------------------------------------------------------------


def _block(row: Row) -> str:
    """The overlap, the cut and the size of a block."""
    return f"overlap {row['overlap']}, {row['cut']} cut, {format_extent(row['extended'])} points"


def _computation(measured: Measured) -> Iterator[Row]:
    """The parts of a step without exchange."""
    for row in measured.get("breakdown", ()):
        if row["transport"] == "none":
            yield row | {"what": _block(row)}


def _communication(measured: Measured) -> Iterator[Row]:
    """The fraction of the exchange through the host, by overlap."""
    for row in measured.get("breakdown", ()):
        if row["transport"] == STAGED:
            share = row["exchange"] / row["seconds"]
            yield {"what": _block(row), "share": share, "seconds": row["seconds"]}


def _range(value: Any) -> str:
    """A fraction in per cent, or the smallest and the largest."""
    if isinstance(value, float):
        return percent(value)
    return " to ".join(percent(end) for end in value)


# --- transports -----------------------------------------------------------------------------------


def _speedups(measured: Measured) -> Iterator[Row]:
    """The fastest transport by cube, cut and overlap."""
    best: dict[str, Row] = {}
    for row in measured.get("transports", ()):
        if row["transport"] != STAGED and row["speedup"]:
            what = f"overlap {row['overlap']}, {row['cut']} cut, cube of {row['edge']} points"
            found = row | {"what": f"{what}, {row['transport']}"}
            best[what] = max(best.get(what, found), found, key=lambda each: each["speedup"])
    yield from best.values()


def _published_speedups() -> Iterator[Row]:
    for overlap, ends in KWAVE.items():
        yield {"what": f"overlap {overlap}", "speedup": ends}
    yield {"what": "peer memory over CUDA-aware MPI", "speedup": (None, PEER_OVER_MPI)}


def _times(value: Any) -> str:
    """A ratio, or a range whose smallest value may be unknown."""
    if isinstance(value, float):
        return f"{value:.2f}x"
    least, most = value
    return f"up to {most:g}x" if least is None else f"{least:g} to {most:g}x"


ITEMS = [
    Item(
        "Figure 1",
        "error of one interface by overlap and bell",
        "a computation, which no hardware changes",
        [
            Column("error", "error", "{:.1e}"),
            Column("with the best of eight bells", "least", "{:.1e}"),
        ],
        "The figure shows curves; its text gives the order of errors that medical applications "
        "accept. We measure a wave packet that crosses one interface, with the solver's bell, "
        "which depends only on the overlap, and with eight others.",
        ["overlap_error"],
        [{"what": "acceptable in medical applications (order)", "error": ACCEPTABLE}],
        _errors,
        ranks="one",
        in_clone=True,
    ),
    Item(
        "Figure 2, computation",
        "parts of a step on the block of one of eight ranks",
        EIGHT_P40,
        [
            milliseconds("ms a step"),
            milliseconds("transforms, ms", "transforms"),
            milliseconds("other kernels, ms", "kernels"),
            Column("largest prime", "factor"),
        ],
        "The figure shows no numbers. As in the paper, the time depends on the largest prime "
        "factor of the block's sizes. The blocks fit one device of this machine.",
        ["breakdown"],
        ours=_computation,
        ranks="one",
    ),
    Item(
        "Figure 2, communication",
        "fraction of a step that exchange through the host takes",
        EIGHT_P40,
        [Column("of the step", "share", _range), milliseconds("ms a step")],
        "The paper states a range for large overlaps. Ranks of a CPU exchange through the same "
        "memory in which they compute, so their fraction is smaller than that of GPUs.",
        ["breakdown"],
        [{"what": f"overlap {n}", "share": ends} for n, ends in KWAVE_COMMUNICATION.items()],
        _communication,
        ranks="several",
    ),
    Item(
        "Figure 3",
        "speed-up over MPI through the host",
        EIGHT_P40,
        [Column("speed-up", "speedup", _times)],
        "The paper compares whole simulations with CUDA-aware MPI and peer-to-peer transfers; we "
        "compare steps with the fastest transport. P40s are linked by PCI Express, H200s by the "
        "faster NVLink, and ranks of a CPU by memory.",
        ["transports"],
        [*_published_speedups()],
        _speedups,
        ranks="several",
    ),
]
DOCUMENT = Document("k-Wave on several GPUs", CITATION, ITEMS)
