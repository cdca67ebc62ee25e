"""Tables of the ultrasound benchmark, with figures of k-Wave."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.bench import Session
from groundswell.bench.tables import (
    Column,
    Measured,
    Row,
    Spread,
    Table,
    field,
    fraction,
    milliseconds,
    percent,
    time_of,
)
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.ultrasound.benchmarks.blocks import LOSSY
from groundswell.solvers.ultrasound.benchmarks.published import (
    KWAVE_ON_H200,
    published_communication,
    published_speedup,
)
from groundswell.solvers.ultrasound.benchmarks.ranks import (
    SECONDS,
    STAGED,
    measure_breakdown,
    measure_transports,
    measure_weak,
)
from groundswell.solvers.ultrasound.benchmarks.single import (
    measure_blocks,
    measure_single,
    speed_text,
)


def _extent(head: str, name: str, width: int = 16) -> Column:
    return Column(head, name, format_extent, width)


def source(ours: str, width: int) -> Column:
    """A column that names who measured a row."""
    return Column("", lambda row: row.get("source", ours), width=width)


# --- one device -----------------------------------------------------------------------------------


def _kwave(measured: Measured) -> Iterator[Row]:
    for (edge, physics), (seconds, memory) in KWAVE_ON_H200.items():
        row = {"source": "kspaceFirstOrder-CUDA, H200", "cells": (edge,) * 3, "physics": physics}
        found = {"seconds": seconds, "MLUPS": edge**3 / seconds / 1e6}
        yield {**row, **found, "memory": None if memory is None else 1e9 * memory}


SINGLE = Table(
    "single",
    "A step on one device; the floor is the time for the minimum memory traffic at the bandwidth "
    "measured just before",
    [
        source("here", 27),
        _extent("points", "cells", 15),
        field("physics", 20),
        milliseconds("ms a step"),
        Column("MLUPS", "MLUPS", speed_text, 7),
        Column("GB", "memory", "{:.3g}", 5, 1e9),
        milliseconds("floor, ms", "floor"),
        Column("reached", "share", fraction),
        field("count", head="transforms"),
        milliseconds("by the library, ms", "transforms"),
    ],
    lambda s: measure_single(s.backend, s.sizes.edges),
    ranks="one",
    others=_kwave,
)

# --- parts of a step ------------------------------------------------------------------------------


def _breakdown(session: Session) -> Iterator[Row]:
    edge, overlaps = session.sizes.domains[-1], session.sizes.overlaps
    if session.comm.size == 1:
        return measure_blocks(session.backend, edge, overlaps)
    session.rig.begin("breakdown", SECONDS)
    return measure_breakdown(session.rig, edge, overlaps)


def _exchange(row: Row) -> str | None:
    if row["transport"] == "none":
        return None
    return f"{1e3 * row['exchange']:.4g}, {percent(row['exchange'] / row['seconds'])}"


def _published_exchange(row: Row) -> str:
    return published_communication(row["overlap"]) if row["transport"] == STAGED else ""


CUT = Column("cut", lambda row: f"{row['cut']}, {format_extent(row['processes'])}", width=14)
BREAKDOWN = Table(
    "breakdown",
    lambda measured: (
        f"Parts of a step, {LOSSY}: "
        + ("a block" if measured["ranks"] == 1 else "blocks as large as those")
        + " of a cube on eight ranks (figure 2)"
    ),
    [
        CUT,
        field("overlap"),
        _extent("points of a rank", "extended"),
        field("factor", head="largest prime"),
        field("step", 7),
        field("transport", 9),
        milliseconds("ms a step"),
        milliseconds("transforms", "transforms"),
        milliseconds("other kernels", "kernels"),
        Column("exchange, share", _exchange, width=15),
        Column("eight P40", _published_exchange, width=10),
    ],
    _breakdown,
)

# --- several ranks --------------------------------------------------------------------------------


def _faster(row: Row) -> str:
    return time_of(row["seconds"]) + (f", {row['speedup']:.2f}x" if row["speedup"] else "")


TRANSPORTS = Table(
    "transports",
    "A step by transport, and its speed-up over MPI through the host (figure 3; published: "
    "simulations on eight P40)",
    [
        Column("cube of eight", lambda row: format_extent((row["edge"],) * 3), width=18),
        CUT,
        field("overlap"),
    ],
    lambda s: measure_transports(s.rig, s.sizes.domains, s.sizes.overlaps),
    Spread(
        "transport",
        lambda measured: measured["works"],
        _faster,
        16,
        [Column("published", "overlap", published_speedup)],
    ),
    ranks="several",
    seconds=SECONDS,
)


WEAK = Table(
    "weak",
    f"Weak scaling: one cube per rank, {LOSSY}",
    [
        field("ranks"),
        _extent("cut", "processes", 9),
        _extent("points of a block", "cells"),
        _extent("with overlaps", "extended"),
        field("transport", 9),
        milliseconds("ms a step"),
        milliseconds("exchange", "exchange"),
        Column("efficiency", "efficiency", fraction),
    ],
    lambda s: measure_weak(s.rig, *s.sizes.weak),
    ranks="several",
    seconds=SECONDS,
)

TABLES = [SINGLE, BREAKDOWN, TRANSPORTS, WEAK]
