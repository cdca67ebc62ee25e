"""Tables of the benchmark of DG waves."""

from __future__ import annotations

from groundswell.bench.tables import (
    Column,
    Measured,
    Row,
    Table,
    field,
    fraction,
    size_of,
    time_of,
    times,
    yes_or_no,
)
from groundswell.solvers.dgwave.benchmarks.features import measure_features
from groundswell.solvers.dgwave.benchmarks.ranks import (
    SECONDS,
    measure_exchange,
    measure_weak,
)
from groundswell.solvers.dgwave.benchmarks.rounding import measure_rounding
from groundswell.solvers.dgwave.benchmarks.speed import (
    STAGES,
    cpu_of,
    find_rooflines,
    measure_degrees,
    measure_kernels,
)

CONFIGURATION = [field("configuration", 17), field("precision")]
DEGREE = Column("N", "degree", width=2)
STAGE = Column("a stage", "seconds", time_of, 8)
SENT = Column("sent by a rank", "sent_bytes", size_of)
SPEED = [
    Column("GDOF/s", "GDOFS", "{:.4g}", 7),
    Column("B/DOF", "bytes", "{:.1f}"),
    Column("of bandwidth", "share", fraction),
]


def _elements(head: str = "elements", width: int = 0) -> Column:
    return Column(head, "elements", "{:,d}", width)


# --- one device -----------------------------------------------------------------------------------


def _kernels(row: Row) -> str:
    found = row.get("kernels", {})
    return ", ".join(f"{name} {time_of(seconds)}" for name, seconds in found.items())


def title_of_kernels(measured: Measured) -> str:
    """The title, with the CPU over which speed-ups are."""
    cpu = cpu_of(measured)
    over = f"; speed-ups over the solver on {cpu}" if cpu else ""
    return f"One device: kernel versions in the configurations of table 2{over} (figures 4a and 4b)"


def _timed(row: Row) -> str:
    """How much of a step was timed, which differs for slow CPUs."""
    if "stages" not in row:
        return ""
    return "steps" if row["stages"] == STAGES else f"{row['stages']} of {STAGES} stages"


KERNELS = Table(
    "kernels",
    title_of_kernels,
    [
        *CONFIGURATION,
        field("device", 6),
        field("version"),
        _elements(),
        STAGE,
        *SPEED,
        times("over base", "over_base"),
        times("over CPU", "over_cpu"),
        Column("timed", _timed, width=13),
        Column("kernels", _kernels),
    ],
    measure_kernels,
    ranks="one",
)


DEGREES = Table(
    "degrees",
    "Elements of 64 (N = 3) and 512 nodes (N = 7), with the same total number of nodes (figure 5)",
    [
        *CONFIGURATION,
        field("version"),
        DEGREE,
        _elements(width=9),
        STAGE,
        *SPEED,
        times("over N = 3", "over_64"),
    ],
    measure_degrees,
    ranks="one",
)

ROOFLINES = Table(
    "rooflines",
    lambda measured: (
        f"Kernels and their rooflines, at the {measured['bandwidth'] / 1e9:,.0f} GB/s measured "
        "(figures 4c and 5)"
    ),
    [
        *CONFIGURATION,
        DEGREE,
        field("version"),
        field("kernel", 15),
        STAGE,
        *SPEED,
        Column("flops/DOF", "flops", "{:.1f}"),
        Column("flops/B", "intensity", "{:.2f}"),
        Column("GFLOP/s", "GFLOPS", "{:,.0f}"),
        Column("roofline", "roofline", "{:,.0f}"),
    ],
    find_rooflines,
    ranks="one",
)

FEATURES = Table(
    "features",
    "Cost of features of the mesh and the medium; elastic waves, Riemann flux, N = 7",
    [
        field("feature", 31),
        field("precision"),
        _elements(width=8),
        STAGE,
        *SPEED,
        times("over bricks", "cost"),
    ],
    measure_features,
    ranks="one",
)

# --- several ranks --------------------------------------------------------------------------------

EXCHANGE = Table(
    "exchange",
    "Time that the exchange adds to a stage",
    [
        *CONFIGURATION,
        field("sent", 20),
        field("transport", 14),
        Column("overlap", "overlap", yes_or_no),
        SENT,
        STAGE,
        Column("without exchange", "compute", time_of),
        Column("exchange", "exchange", time_of, 8),
        *SPEED,
    ],
    measure_exchange,
    ranks="several",
    seconds=SECONDS,
)

WEAK = Table(
    "weak",
    "Weak scaling: a fixed number of elements per rank, with face traces (figure 8)",
    [
        *CONFIGURATION,
        field("ranks"),
        _elements("elements a rank"),
        field("transport", 9),
        STAGE,
        *SPEED,
        Column("efficiency", "efficiency", fraction),
    ],
    measure_weak,
    ranks="several",
    seconds=SECONDS,
)

ROUNDING = Table(
    "rounding",
    "Seismograms of a pulse: rounded traces between ranks, compared with exact ones",
    [
        *CONFIGURATION,
        field("sent_as", 8),
        field("transport", 9),
        SENT,
        Column("exact", "exact_bytes", size_of),
        Column("difference", "difference", "{:.1e}"),
        Column("at the worst", "worst", "{:.1e}"),
    ],
    measure_rounding,
    ranks="several",
    seconds=SECONDS,
)

TABLES = [KERNELS, DEGREES, ROOFLINES, FEATURES, EXCHANGE, WEAK, ROUNDING]
