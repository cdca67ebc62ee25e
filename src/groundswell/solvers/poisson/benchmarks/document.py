"""The paper on hipBone: its tables and figures, and what is measured in their place."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.bench.documents import Document, Item
from groundswell.bench.rows import Measured, Row
from groundswell.bench.tables import Column, amount, fraction, percent
from groundswell.errors import counted
from groundswell.solvers.poisson.benchmarks.problems import METRICS
from groundswell.solvers.poisson.benchmarks.published import (
    CITATION,
    HIPBONE_ON_H200,
    MERIT_OF_7,
    OCCUPANCY,
    OCCUPANCY_DEGREES,
    OPERATOR,
    OPERATOR_DEGREE,
    PEAKS,
    STREAMED,
)

COUNTS = ("warps", "registers", "occupancy", "elements")
LARGEST = "N = {}, the largest problem, {}"


def _gflops(key: str, head: str) -> Column:
    return Column(head, key, amount)


# --- the operator ---------------------------------------------------------------------------------


def _published_operator() -> Iterator[Row]:
    for machine, gflops in OPERATOR.items():
        what = f"N = {OPERATOR_DEGREE}, {machine}"
        yield {"what": what, "gflops": gflops, "rate": STREAMED[machine]}


def _operator(measured: Measured) -> Iterator[Row]:
    for row in measured.get("operator", ()):
        yield row | {"what": f"N = {row['degree']}, factors {METRICS[row['metric']]}"}


def _published_occupancy() -> Iterator[Row]:
    for machine, columns in OCCUPANCY.items():
        for degree, values in zip(OCCUPANCY_DEGREES, columns, strict=True):
            yield {"what": f"N = {degree}, {machine}", **dict(zip(COUNTS, values, strict=True))}


def _occupancy(measured: Measured) -> Iterator[Row]:
    for row in measured.get("occupancy", ()):
        yield row | {"what": f"N = {row['degree']}, {row['machine']}"}


# --- iterations -----------------------------------------------------------------------------------


def _published_merits() -> Iterator[Row]:
    for machine, merit in MERIT_OF_7.items():
        yield {"what": LARGEST.format(7, machine), "fom": merit}
    for machine, peaks in PEAKS.items():
        yield {"what": LARGEST.format(15, machine), "fom": peaks[1]}


def _merits(measured: Measured) -> Iterator[Row]:
    for row in measured.get("iterations", ()):
        elements = f"{row['edge']}³ elements a rank"
        yield row | {"what": f"N = {row['degree']}, {elements}, factors {METRICS[row['metric']]}"}


def _hipbone_here() -> Iterator[Row]:
    for (ranks, degree, edge), (milliseconds, merit) in HIPBONE_ON_H200.items():
        row = {"what": _size(ranks, degree, edge), "fom": merit}
        yield row | {"throughput": (degree * edge) ** 3 / milliseconds * 1e3}


def _beside_hipbone(measured: Measured) -> Iterator[Row]:
    """The same problems, also with stored factors, on the same kind of GPU."""
    if "H200" not in measured["devices"][0]:
        return
    for row in measured.get("iterations", ()):
        key = row["ranks"], row["degree"], row["edge"]
        if row["metric"] == "stored" and key in HIPBONE_ON_H200:
            yield row | {"what": _size(*key)}


def _size(ranks: int, degree: int, edge: int) -> str:
    return f"{counted(ranks, 'GPU')}, N = {degree}, {edge}³ elements a GPU"


# --- peaks ----------------------------------------------------------------------------------------


def _published_peaks() -> Iterator[Row]:
    for machine, peaks in PEAKS.items():
        for ranks, best in peaks.items():
            row = {"what": f"{machine}, {counted(ranks, 'rank')}", "fom": best}
            yield row | {"of_rank": best / ranks, "published_efficiency": best / ranks / peaks[1]}


def _peaks(measured: Measured) -> Iterator[Row]:
    for row in measured.get("peaks", ()):
        ranks, metric = counted(row["ranks"], "rank"), METRICS[row["metric"]]
        what = f"Groundswell, {ranks}, factors {metric}"
        yield row | {"what": what, "of_rank": row["fom"] / row["ranks"]}


def _efficiency(row: Row) -> str | None:
    """As published, or that of a measurement, which others may disturb."""
    if "efficiency" in row:
        return fraction(row["efficiency"], 1)
    published = row.get("published_efficiency")
    return None if published is None else percent(published, 1)


RATE = Column("MDOF/s a rank", "throughput", amount, unit=1e6)
ITEMS = [
    Item(
        "Figure 3",
        "the operator by degree, and its roofline",
        "one Tesla V100, one MI100, one die of an MI250X",
        [
            _gflops("gflops", "GFLOP/s"),
            _gflops("roofline", "roofline"),
            Column("of it", "share", fraction),
            Column("streamed, GB/s", "rate", amount, unit=1e9),
        ],
        "The figure has curves for N = 1 to 15, of which the text gives the value for N = 15. The "
        "roofline is that of the paper, with the rate that the device streams just then. Data of "
        "small problems fit into a CPU's caches. Computed factors are not in the paper.",
        ["operator"],
        [*_published_operator()],
        _operator,
        ranks="one",
    ),
    Item(
        "Table 1",
        "occupancy of a multiprocessor by the operator",
        "the devices that the rows name; AMD: wavefronts of 64 threads, compute units",
        [
            Column("warps a block", "warps"),
            Column("registers a thread", "registers"),
            Column("warps a multiprocessor", "occupancy"),
            Column("elements a multiprocessor", "elements"),
        ],
        "Ours follow from the registers that NVRTC reports when it compiles for an H200, which "
        "needs no GPU. For N = 14 and 15, our kernels use tensor cores with fewer threads, which "
        "need more registers each.",
        ["occupancy"],
        [*_published_occupancy()],
        _occupancy,
        ranks="one",
        in_clone=True,
    ),
    Item(
        "Figures 4 to 6",
        "NekBone's figure of merit and throughput by size",
        "one rank: Tesla V100 (Summit), MI100 (Spock), die of an MI250X (Crusher)",
        [_gflops("fom", "FOM, GFLOP/s"), RATE, Column("of bandwidth", "share", fraction)],
        "The figures have curves over size on up to 64 ranks; the text and table 2 give the values "
        "of large problems. Factors stored for each node are as in the paper. Small problems take "
        "mostly latency on a GPU, and fit into the caches of a CPU.",
        ["iterations"],
        [*_published_merits()],
        _merits,
    ),
    Item(
        "Figures 4 to 6, on the same card",
        "hipBone (commit 5433b6c), measured by us, and Groundswell",
        "NVIDIA H200, CUDA 13.0",
        [_gflops("fom", "FOM, GFLOP/s"), RATE],
        "Both store factors for each node, and count operations and degrees of freedom alike. "
        "Groundswell fuses the vector operations of an iteration with the operator, so it moves a "
        "quarter fewer bytes: 170 instead of 227 per unknown for N = 7.",
        ["iterations"],
        [*_hipbone_here()],
        _beside_hipbone,
        gpus=1,
    ),
    Item(
        "Table 2",
        "best figure of merit, N = 15, by number of ranks",
        "Summit (V100), Spock (MI100), Crusher (dies of MI250X)",
        [
            _gflops("fom", "GFLOP/s"),
            _gflops("of_rank", "a rank"),
            Column("efficiency", _efficiency),
        ],
        "Published efficiencies follow from the table, relative to its first row of each machine. "
        "Ours are those of the largest cubes, which each rank also has alone at the same time. "
        "Ranks of a CPU share its cores and its memory.",
        ["iterations", "weak", "peaks"],
        [*_published_peaks()],
        _peaks,
    ),
]
DOCUMENT = Document("hipBone", CITATION, ITEMS, "Figures 1 and 2 are drawings without results.")
