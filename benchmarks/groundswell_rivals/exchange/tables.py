"""Tables of exchanges that papers compare, with published figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import geometric_mean

from groundswell.bench import Session
from groundswell.bench.exchange.tables import between, seconds, transports
from groundswell.bench.tables import Column, Row, Spread, field, size_of, time_of
from groundswell.solvers.cavity.benchmarks import published
from groundswell.solvers.ultrasound.benchmarks.published import published_speedup
from groundswell_rivals.exchange.all_pairs import measure_all_pairs
from groundswell_rivals.exchange.cavity import measure_versions
from groundswell_rivals.exchange.overlaps import STAGED, measure_overlaps

ENDS = ("Baseline", "V3")
PUBLISHED = {"published": "", "+ GPUDirect": " + GPUDirect"}  # columns, and the versions' endings
GRID = Column("grid (i, j, k)", lambda row: ", ".join(map(str, row["grid"])))

# --- the cavity's optimisations -------------------------------------------------------------------


def _efficiency(ending: str) -> Callable[[Row], str | None]:
    def value(row: Row) -> str | None:
        key = (row["version"] + ending, tuple(row["grid"]))
        if key not in published.STRONG:
            return None
        return f"{published.STRONG[key][1]} %, {published.WEAK[key][1]} %"

    return value


OPTIMISATIONS = between(
    "optimisations",
    "Cavity, 5 fields of 8 bytes, walls: an exchange (published: efficiency of two P100 in the "
    "strong and the weak sense)",
    [GRID, field("version", 8), Column("sent", "sent", size_of, 8)],
    lambda s: measure_versions(s.rig, s.sizes.cavity),
    Spread(
        "transport",
        transports,
        seconds,
        after=[Column(head, _efficiency(end), width=14) for head, end in PUBLISHED.items()],
    ),
    seconds=60,
)


def _gains(session: Session) -> Iterator[Row]:
    """Baseline over V3."""
    rows = session.measured["optimisations"]
    ours = {(row["transport"], row["version"], tuple(row["grid"])): row["seconds"] for row in rows}
    for grid in dict.fromkeys(tuple(row["grid"]) for row in rows):
        for transport in dict.fromkeys(row["transport"] for row in rows):
            before, after = (ours.get((transport, version, grid)) for version in ENDS)
            if before and after:
                yield {"grid": grid, "transport": transport, "gain": before / after}


def _lost(ending: str) -> Callable[[Row], float | None]:
    def value(row: Row) -> float | None:
        keys = [(version + ending, tuple(row["grid"])) for version in ENDS]
        if not all(key in published.STRONG for key in keys):
            return None
        before, after = (published.lost_seconds(published.STRONG[key][0]) for key in keys)
        return before / after

    return value


GAINS = between(
    "gains",
    "Baseline / V3 (published: of the time that a step loses on two P100, derived by us)",
    [GRID],
    _gains,
    Spread(
        "transport",
        transports,
        lambda row: f"{row['gain']:.3g}x",
        after=[Column(head, _lost(end), "{:.3g}x", 11) for head, end in PUBLISHED.items()],
    ),
)

# --- k-Wave's overlaps ----------------------------------------------------------------------------

OVERLAPS = between(
    "overlaps",
    "k-Wave: a cube of 4-byte values a rank, with edges and corners (time, speed-up over mpi; "
    "published: of whole simulations on eight P40)",
    [
        Column(
            "cut", lambda row: f"{row['cut']}, {' x '.join(map(str, row['processes']))}", width=14
        ),
        field("overlap"),
    ],
    lambda s: measure_overlaps(s.rig, s.sizes.cube, s.sizes.overlaps),
    Spread(
        "transport",
        transports,
        lambda row: seconds(row) + (f", {row['speedup']:.2f}x" if row["speedup"] else ""),
        15,
        [Column("published", "overlap", published_speedup)],
    ),
    seconds=50,
)


def _speedups(session: Session) -> Iterator[Row]:
    rows = [row for row in session.measured["overlaps"] if row["speedup"]]
    for name in dict.fromkeys(row["transport"] for row in rows):
        gains = [row["speedup"] for row in rows if row["transport"] == name]
        if name != STAGED:
            yield {"transport": name, "speedup": geometric_mean(gains)}


SPEEDUPS = between(
    "speedups",
    "The same over mpi, geometric mean",
    [field("transport", 10, head=""), Column("speed-up", "speedup", "{:.2f}x")],
    _speedups,
)

# --- emulated networks ----------------------------------------------------------------------------

ALL_PAIRS = between(
    "all-pairs",
    "Routes where each rank shares a value with every other, over an emulated network",
    [Column("a message costs", "gap", time_of)],
    lambda s: measure_all_pairs(s.rig),
    Spread("route", lambda measured: ["pairwise", "crystal"], lambda row: time_of(row["remote"])),
    seconds=60,
)
