"""Tables of the ultrasound benchmark, with figures of k-Wave."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from groundswell.bench import Session
from groundswell.bench.exchange.published import KWAVE
from groundswell.bench.tables import Column, Measured, Row, Spread, Table, field, percent, time_of
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.ultrasound.benchmarks.blocks import LOSSY
from groundswell.solvers.ultrasound.benchmarks.interface_error import SHAPES, measure_errors
from groundswell.solvers.ultrasound.benchmarks.published import (
    EIGHT_INTERFACES,
    KWAVE_ERROR,
    KWAVE_ON_H200,
)
from groundswell.solvers.ultrasound.benchmarks.ranks import (
    SECONDS,
    measure_breakdown,
    measure_transports,
    measure_weak,
)
from groundswell.solvers.ultrasound.benchmarks.single import (
    measure_blocks,
    measure_single,
    speed_text,
)


def _known(name: str, text: Callable[[Any], str]) -> Callable[[Row], str]:
    """The text of a value that some rows lack."""
    return lambda row: text(row[name]) if row.get(name) is not None else ""


def _extent(head: str, name: str, width: int = 16) -> Column:
    return Column(head, lambda row: format_extent(row[name]), width)


def _milliseconds(head: str, name: str, width: int = 0) -> Column:
    return Column(head, _known(name, lambda seconds: f"{1e3 * seconds:.4g}"), width)


def _source(ours: str, width: int) -> Column:
    return Column("", lambda row: row.get("source", ours), width)


# --- errors ---------------------------------------------------------------------------------------


def _scientific(value: float) -> str:
    return f"{value:.1e}"


def _error_of(shape: float) -> Column:
    return Column(
        f"L = {shape:g}",
        lambda row: _scientific(row["errors"][str(shape)]) if "errors" in row else "",
        8,
    )


def _after_eight(row: Row) -> str:
    """The error of the separate computation for the same wave and overlap."""
    known = EIGHT_INTERFACES.get(row.get("points_per_wavelength", 0.0), {})
    return _scientific(known[row["overlap"]]) if row["overlap"] in known else ""


def _kwave_error(measured: Measured) -> Iterator[Row]:
    overlap, error = KWAVE_ERROR
    yield {"source": "k-Wave, in tissue", "overlap": overlap, "error": error}


ERRORS = Table(
    "overlap_error",
    "Error of one interface between two blocks, relative to the transform of the whole line, by "
    "overlap and bell (figure 1)",
    [
        _source("here", 17),
        Column("points a wave", _known("points_per_wavelength", lambda value: f"{value:g}")),
        field("overlap"),
        Column("the solver's", _known("error", _scientific)),
        Column("its L", _known("shape", lambda value: f"{value:.2f}")),
        *map(_error_of, SHAPES),
        Column("8 interfaces, best L", _after_eight),
    ],
    lambda s: measure_errors(s.sizes.errors),
    ranks="one",
    others=_kwave_error,
)

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
        _source("here", 27),
        _extent("points", "cells", 15),
        field("physics", 20),
        _milliseconds("ms a step", "seconds"),
        Column("MLUPS", lambda row: speed_text(row["MLUPS"]), 7),
        Column("GB", _known("memory", lambda size: f"{size / 1e9:.3g}"), 5),
        _milliseconds("floor, ms", "floor"),
        Column("reached", _known("share", percent)),
        Column("transforms", _known("count", str)),
        _milliseconds("by the library, ms", "transforms"),
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


def _exchange(row: Row) -> str:
    return f"{1e3 * row['exchange']:.4g}, {percent(row['exchange'] / row['seconds'])}"


CUT = Column("cut", lambda row: f"{row['cut']}, {format_extent(row['processes'])}", 14)
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
        _milliseconds("ms a step", "seconds"),
        _milliseconds("transforms", "transforms"),
        _milliseconds("other kernels", "kernels"),
        Column(
            "exchange",
            lambda row: _exchange(row) if row["transport"] != "none" else "",
            14,
        ),
    ],
    _breakdown,
)

# --- several ranks --------------------------------------------------------------------------------


def _faster(row: Row) -> str:
    return time_of(row["seconds"]) + (f", {row['speedup']:.2f}x" if row["speedup"] else "")


def _range(row: Row) -> str:
    if row["overlap"] not in KWAVE:
        return ""
    least, most = KWAVE[row["overlap"]]
    return f"up to {most}x" if least is None else f"{least:g} to {most:g}x"


TRANSPORTS = Table(
    "transports",
    "A step by transport, and its speed-up over MPI through the host (figure 3; published: "
    "simulations on eight P40)",
    [
        Column("cube of eight", lambda row: format_extent((row["edge"],) * 3), 18),
        CUT,
        field("overlap"),
    ],
    lambda s: measure_transports(s.rig, s.sizes.domains, s.sizes.overlaps),
    Spread(
        "transport",
        lambda measured: measured["works"],
        _faster,
        16,
        [Column("published", _range)],
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
        _milliseconds("ms a step", "seconds"),
        _milliseconds("exchange", "exchange"),
        Column("of it", lambda row: percent(row["share"])),
        Column("efficiency", lambda row: percent(row["efficiency"])),
    ],
    lambda s: measure_weak(s.rig, *s.sizes.weak),
    ranks="several",
    seconds=SECONDS,
)

TABLES = [ERRORS, SINGLE, BREAKDOWN, TRANSPORTS, WEAK]
