"""The paper on GAPS: its tables and figures, and what is measured in their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from groundswell.bench.documents import Document, Item, mean, named
from groundswell.bench.drawing import distinct
from groundswell.bench.rows import Measured, Row
from groundswell.bench.tables import Column, amount, fraction, milliseconds, percent, times
from groundswell.errors import counted
from groundswell.solvers.dgwave.benchmarks.problems import Configuration
from groundswell.solvers.dgwave.benchmarks.published import (
    CITATION,
    ELEMENT_BYTES,
    MOST_SAVED,
    OVER_64,
    OVER_BASE,
    OVER_CPU,
    SAVED,
    SAVED_BY_LIBRARY,
    SAVED_BY_PROGRESS,
    SAVED_BY_SPECTRUM,
)
from groundswell.solvers.dgwave.benchmarks.speed import DEGREE, LOW_DEGREE
from groundswell.solvers.dgwave.benchmarks.traffic import FACES, Element

KERNELS = ("volume", "flux", "volume_and_flux", "integrate", "advance")
MEAN = "{}, mean of configurations"
V100 = "one Tesla V100, 32,768 elements of 512 nodes"
# Exchanges that take less than this fraction of a stage are no larger than what disturbs them.
DISTURBED = 0.02


def _on_device(measured: Measured) -> list[Row]:
    return [row for row in measured.get("kernels", ()) if row["device"] == measured["backend"]]


def _name(row: Row) -> str:
    """Configuration and version."""
    return f"{row['version']}: {row['configuration']}, {row['precision']}"


def _means(rows: Iterable[Row], key: str) -> Iterator[Row]:
    """The mean of each version over configurations, if others are measured to compare with."""
    found = list(rows)
    for version in distinct(found, "version"):
        value = mean((row for row in found if row["version"] == version), key)
        if value is not None:
            yield {"what": MEAN.format(version), key: value}


def _over_base(measured: Measured) -> Iterator[Row]:
    rows = _on_device(measured)
    if means := [*_means(rows, "over_base")]:
        yield from means
        yield from (row | {"what": _name(row)} for row in rows)


def _over_cpu(measured: Measured) -> Iterator[Row]:
    if measured["backend"] == "cuda":
        yield from _means(_on_device(measured), "over_cpu")


def _times(measured: Measured) -> Iterator[Row]:
    for row in _on_device(measured):
        yield {"what": _name(row), **row["kernels"]}


def _rooflines(measured: Measured) -> Iterator[Row]:
    for row in measured.get("rooflines", ()):
        if row["degree"] in (DEGREE, LOW_DEGREE):
            kernel = row["kernel"].replace("_", " ")
            yield row | {"what": f"{_name(row)}, {kernel}, N = {row['degree']}"}


def _degrees(measured: Measured) -> Iterator[Row]:
    rows = [row for row in measured.get("degrees", ()) if row["degree"] == DEGREE]
    yield from _means(rows, "over_64")
    yield from (row | {"what": _name(row)} for row in rows)


# --- several ranks --------------------------------------------------------------------------------


def _element_bytes(measured: Measured) -> Iterator[Row]:
    """What the solver sends of an element, which no measurement changes."""
    for equations, precision in ELEMENT_BYTES:
        element = Element(Configuration(equations, "Riemann", precision), DEGREE)
        face = element.traces // FACES * element.configuration.size
        yield {"what": f"{equations}, {precision}", "face": face}


def _published_bytes() -> Iterator[Row]:
    for (equations, precision), (whole, sent) in ELEMENT_BYTES.items():
        yield {"what": f"{equations}, {precision}", "whole": whole, "sent": sent}


def _by_size(measured: Measured) -> Iterator[Row]:
    yield from _savings(measured, lambda what: what == "instead of whole elements")


def _by_progress(measured: Measured) -> Iterator[Row]:
    yield from _savings(measured, lambda what: what != "instead of whole elements")


def _savings(measured: Measured, chosen: object) -> Iterator[Row]:
    """What is saved of exchanges that take long enough to be measured."""
    stage = _stages(measured)
    assert callable(chosen)
    for row in measured.get("savings", ()):
        name = row["configuration"], row["precision"]
        if not chosen(row["what"]) or row["before"] < DISTURBED * stage.get(name, 0.0):
            continue
        overlap = "overlap" if row["overlap"] else "no overlap"
        what = f"{row['transport']}, {row['what']}: {', '.join(name)}, {overlap}"
        yield row | {"what": f"{what}, {row['sent']}"}


def _stages(measured: Measured) -> dict[tuple[str, str], float]:
    """Seconds of a stage without exchange, by configuration."""
    rows = measured.get("exchange", ())
    return {(row["configuration"], row["precision"]): row["compute"] for row in rows}


def _weak(measured: Measured) -> Iterator[Row]:
    for row in measured.get("weak", ()):
        ranks, elements = counted(row["ranks"], "rank"), f"{row['elements']:,} elements each"
        yield row | {"what": f"{ranks}, {row['precision']}, {elements}"}


SAVINGS = [
    Column("saved", "saved", percent),
    milliseconds("before, ms", "before"),
    milliseconds("after, ms", "after"),
]
SPEED = [Column("GDOF/s", "GDOFS", "{:.3g}"), Column("of bandwidth", "share", fraction)]
ITEMS = [
    Item(
        "Figure 4a, GPU versions",
        "speed of the versions of the kernels relative to GAPS_base",
        V100,
        [times("over base", "over_base"), *SPEED],
        "The figure shows no numbers; the text states the means of six configurations. `base`, "
        "`f1` and `f1s` are rebuilt from the paper; `solver` is our kernel, which fuses all steps "
        "of a stage, so it reads and writes each field once.",
        ["kernels"],
        [{"what": MEAN.format(name), "over_base": value} for name, value in OVER_BASE.items()],
        _over_base,
        ranks="one",
        in_clone=True,
    ),
    Item(
        "Figure 4a, GPU over CPU",
        "speed relative to a CPU",
        f"{V100}, over 40 cores of two POWER9",
        [times("over the CPU", "over_cpu")],
        "The paper compares with its own CPU code, we compare with our solver on the cores that "
        "the machine of the GPU has.",
        ["kernels"],
        [{"what": MEAN.format(name), "over_cpu": value} for name, value in OVER_CPU.items()],
        _over_cpu,
        ranks="one",
        gpus=1,
    ),
    Item(
        "Figure 4b",
        "time of a stage by kernel",
        V100,
        [milliseconds(f"{name.replace('_', ' ')}, ms", name) for name in KERNELS],
        "The figure shows no numbers. As in the paper, one fused kernel takes less time than "
        "volume and flux; our kernel `advance` also contains the integration.",
        ["kernels"],
        ours=_times,
        ranks="one",
    ),
    Item(
        "Figures 4c and 5, rooflines",
        "arithmetic intensity and speed of the kernels",
        V100,
        [
            Column("flops/B", "intensity", "{:.3g}"),
            Column("GFLOP/s", "GFLOPS", amount),
            Column("of the roofline", "share", fraction),
        ],
        "The figures show no numbers. We count operations and bytes in the source; the paper reads "
        "them from a profiler. Small problems fit into a CPU's caches, above the roofline of its "
        "memory.",
        ["kernels", "degrees", "rooflines"],
        ours=_rooflines,
        ranks="one",
    ),
    Item(
        "Figure 5",
        "elements of 512 nodes relative to elements of 64 nodes",
        "one Tesla V100, 63 million nodes",
        [times("over 64 nodes", "over_64"), *SPEED],
        "The text states the mean for `f1s`. Elements of few nodes have more faces for the same "
        "nodes; our kernel reads traces of faces instead of the neighbours' fields.",
        ["degrees"],
        [{"what": MEAN.format("f1s"), "over_64": OVER_64}],
        _degrees,
        ranks="one",
    ),
    Item(
        "Table 4",
        "bytes of an element of 512 nodes, and what is sent of it",
        "a count, which no hardware changes",
        [
            Column("whole element", "whole", "{:,}"),
            Column("variables, materials", "sent", "{:,}"),
            Column("traces of a face", "face", "{:,}"),
        ],
        "The solver sends the traces of those faces only that other ranks share, which the paper "
        "suggests as future work.",
        published=[*_published_bytes()],
        ours=_element_bytes,
    ),
    Item(
        "Figure 6",
        "time of the exchange that smaller messages save",
        "V100s of IBM AC922 nodes",
        SAVINGS,
        "The figure shows no numbers; the text states means and the most. We send elements as in "
        "the paper, over each transport. Exchanges of less than 2 % of a stage are left out, since "
        "other programs disturb them more.",
        ["exchange", "savings"],
        [
            {"what": "mean", "saved": SAVED},
            *named({f"most, {k}": v for k, v in MOST_SAVED.items()}, "saved"),
        ],
        _by_size,
        ranks="several",
        in_clone=True,
    ),
    Item(
        "Figure 7",
        "time of the exchange that progress and other libraries save",
        "V100s of IBM AC922 nodes",
        SAVINGS,
        "The paper compares MPI libraries, some of which make progress by themselves. Here a "
        "thread drives MPI (`-thread`); the fastest transport takes the place of the best library.",
        ["exchange", "savings"],
        [
            {"what": "asynchronous progress, mean", "saved": SAVED_BY_PROGRESS},
            {"what": "the best library, mean", "saved": SAVED_BY_LIBRARY},
            *named({f"Spectrum MPI, {k}": v for k, v in SAVED_BY_SPECTRUM.items()}, "saved"),
        ],
        _by_progress,
        ranks="several",
        in_clone=True,
    ),
    Item(
        "Figure 8",
        "weak scaling; elastic waves, central flux",
        "up to 128 V100s of 32 IBM AC922 nodes",
        [*SPEED, Column("efficiency", "efficiency", fraction)],
        "The figure shows no numbers. Ranks of a CPU share its cores and its memory, so their "
        "efficiency is relative to one rank with a share of the cores.",
        ["weak"],
        ours=_weak,
        ranks="several",
    ),
]
DOCUMENT = Document(
    "GAPS",
    CITATION,
    ITEMS,
    "Figures 1 to 3 are drawings; tables 1, 2, 3 and 5 list hardware, configurations, versions and "
    "MPI libraries.",
)
