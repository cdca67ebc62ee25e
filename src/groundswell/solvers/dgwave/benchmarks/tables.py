"""Tables of the benchmark of DG waves, with the averages that the GAPS paper states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from groundswell.bench.tables import (
    Column,
    Measured,
    Row,
    Table,
    field,
    percent,
    size_of,
    time_of,
)
from groundswell.solvers.dgwave.benchmarks.features import measure_features
from groundswell.solvers.dgwave.benchmarks.local_steps import measure_local_steps
from groundswell.solvers.dgwave.benchmarks.published import (
    OVER_64,
    OVER_BASE,
    OVER_CPU,
    SAVED,
    SAVED_BY_PROGRESS,
)
from groundswell.solvers.dgwave.benchmarks.ranks import (
    SECONDS,
    measure_exchange,
    measure_weak,
)
from groundswell.solvers.dgwave.benchmarks.rounding import measure_rounding
from groundswell.solvers.dgwave.benchmarks.speed import (
    find_rooflines,
    measure_degrees,
    measure_kernels,
)


def _known(name: str, text: Callable[[Any], str]) -> Callable[[Row], str]:
    """Format a value; empty if the row has none, as published rows may."""
    return lambda row: text(row[name]) if row.get(name) is not None else ""


def _number(head: str, name: str, form: str, width: int = 0) -> Column:
    return Column(head, _known(name, lambda value: format(value, form)), width)


def _times(head: str, name: str) -> Column:
    return Column(head, _known(name, lambda value: f"{value:.2f}x"), 7)


CONFIGURATION = [field("configuration", 17), field("precision")]
DEGREE = _number("N", "degree", "d", 2)
STAGE = Column("a stage", _known("seconds", time_of), 8)
SPEED = [
    _number("GDOF/s", "GDOFS", ".4g", 7),
    _number("B/DOF", "bytes", ".1f"),
    Column("of bandwidth", _known("share", percent)),
]

# --- one device -----------------------------------------------------------------------------------


def _kernels(row: Row) -> str:
    found = row.get("kernels", {})
    return ", ".join(f"{name} {time_of(seconds)}" for name, seconds in found.items())


def _published_versions(measured: Measured) -> Iterator[Row]:
    for version, over_cpu in OVER_CPU.items():
        row = {"configuration": "mean of the paper", "precision": "", "device": "V100"}
        compared = {"over_base": OVER_BASE.get(version), "over_cpu": over_cpu}
        yield {**row, "version": version, **compared}


KERNELS = Table(
    "kernels",
    "One device: kernel versions in the configurations of table 2; speed-ups over the solver on "
    "this CPU, in the paper over two POWER9 (figures 4a and 4b)",
    [
        *CONFIGURATION,
        field("device", 6),
        field("version"),
        _number("elements", "elements", ",d"),
        STAGE,
        *SPEED,
        _times("over base", "over_base"),
        _times("over CPU", "over_cpu"),
        Column("kernels", _kernels),
    ],
    measure_kernels,
    ranks="one",
    others=_published_versions,
)


def _published_degrees(measured: Measured) -> Iterator[Row]:
    row = {"configuration": "mean of the paper", "precision": "", "version": "f1s", "degree": 7}
    yield {**row, "over_64": OVER_64}


DEGREES = Table(
    "degrees",
    "Elements of 64 (N = 3) and 512 nodes (N = 7), with the same total number of nodes (figure 5)",
    [
        *CONFIGURATION,
        field("version"),
        DEGREE,
        _number("elements", "elements", ",d", 9),
        STAGE,
        *SPEED,
        _times("over N = 3", "over_64"),
    ],
    measure_degrees,
    ranks="one",
    others=_published_degrees,
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
        _number("flops/DOF", "flops", ".1f"),
        _number("flops/B", "intensity", ".2f"),
        _number("GFLOP/s", "GFLOPS", ",.0f"),
        _number("roofline", "roofline", ",.0f"),
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
        _number("elements", "elements", ",d", 8),
        STAGE,
        *SPEED,
        _times("over bricks", "cost"),
    ],
    measure_features,
    ranks="one",
)

LOCAL_STEPS = Table(
    "local_steps",
    "Savings of clustered local time steps; the solver has one global step",
    [
        field("mesh", 33),
        _number("elements", "elements", ",d", 8),
        _times("longest step over shortest", "ratio"),
        Column("by cluster", lambda row: " + ".join(f"{n:,}" for n in row["clusters"])),
        _times("gain", "gain"),
        _times("own steps", "bound"),
    ],
    measure_local_steps,
    ranks="one",
)

# --- several ranks --------------------------------------------------------------------------------

EXCHANGE = Table(
    "exchange",
    "Time that the exchange adds to a stage (figures 6 and 7; in the paper, sending only variables "
    f"and materials saves {percent(SAVED)} of the exchange, and asynchronous progress saves "
    f"{percent(SAVED_BY_PROGRESS)} of the rest)",
    [
        *CONFIGURATION,
        field("sent", 20),
        field("transport", 14),
        Column("overlap", lambda row: "yes" if row["overlap"] else "no"),
        Column("sent by a rank", lambda row: size_of(row["sent_bytes"])),
        STAGE,
        Column("without exchange", lambda row: time_of(row["compute"])),
        Column("overhead", lambda row: percent(row["overhead"])),
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
        _number("elements a rank", "elements", ",d"),
        field("transport", 9),
        STAGE,
        *SPEED,
        Column("efficiency", lambda row: percent(row["efficiency"])),
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
        Column("sent by a rank", lambda row: size_of(row["sent_bytes"])),
        Column("exact", lambda row: size_of(row["exact_bytes"])),
        _number("difference", "difference", ".1e"),
        _number("at the worst", "worst", ".1e"),
    ],
    measure_rounding,
    ranks="several",
    seconds=SECONDS,
)

TABLES = [KERNELS, DEGREES, ROOFLINES, FEATURES, LOCAL_STEPS, EXCHANGE, WEAK, ROUNDING]
