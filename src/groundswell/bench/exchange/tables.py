"""Tables of the exchange, with published figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import geometric_mean

from groundswell.bench import Session
from groundswell.bench.exchange import published
from groundswell.bench.exchange.assembly import measure_all_pairs, measure_local, measure_routes
from groundswell.bench.exchange.cavity import measure_versions
from groundswell.bench.exchange.links import measure_links, measure_neighbours
from groundswell.bench.exchange.overlaps import STAGED, measure_overlaps
from groundswell.bench.exchange.progress import measure_progress
from groundswell.bench.tables import (
    Column,
    Measured,
    Row,
    Spread,
    Table,
    field,
    percent,
    size_of,
    time_of,
)

ENDS = ("Baseline", "V3")
PUBLISHED = {"published": "", "+ GPUDirect": " + GPUDirect"}  # columns, and the versions' endings
LINES = 24  # characters of a time with its rate and share


between = partial(Table, ranks="several")


def _transports(measured: Measured) -> Sequence[str]:
    found: Sequence[str] = measured["transports"]
    return found


def _with_copies(measured: Measured) -> Sequence[str]:
    return ["copy", *_transports(measured)]


def _seconds(row: Row) -> str:
    return time_of(row["seconds"])


def _of_copies(row: Row) -> str:
    limited = row["share"] is not None and row["transport"] != "copy"
    return f", {percent(row['share'])}" if limited else ""


def _size(head: str) -> Column:
    return Column(head, lambda row: size_of(row["bytes"]), 8)


# --- links ----------------------------------------------------------------------------------------


def _rate(row: Row) -> str:
    return f"{_seconds(row)}, {row['rate'] / 1e9:.3g} GB/s{_of_copies(row)}"


LINKS = between(
    "links",
    "Faces to neighbours of a ring (time, rate of a rank, share of plain copies)",
    [Column("to", lambda row: {1: "the next", 2: "both sides"}[row["faces"]], 10), _size("a face")],
    lambda s: measure_links(s.rig, s.sizes.faces, s.sizes.shifts),
    Spread("transport", _with_copies, _rate, LINES),
    seconds=70,
)


def _paths(session: Session) -> Iterator[Row]:
    paths = {row["transport"]: row for row in session.measured["links"]}
    for name, row in paths.items():
        yield {"transport": name, "path": row["path"], "in_graph": row["in_graph"]}


PATHS = between(
    "paths",
    "Transports",
    [
        field("transport", 10, head=""),
        field("path", 44, head="path of the bytes"),
        Column(
            "replayed in a graph",
            lambda row: "yes" if row["in_graph"] else "no: the host takes part",
        ),
    ],
    _paths,
)


def _who(row: Row) -> str:
    grid = "x".join(map(str, row["processes"]))
    others = "other" if row["ranks"] == 1 else "others"
    return f"{grid}: itself {row['own']} times, {row['ranks']} {others}"


NEIGHBOURS = between(
    "neighbours",
    "A cube a rank, periodic along three axes (time, share of plain copies)",
    [_size("a face"), field("neighbours", 13, head="to")],
    lambda s: measure_neighbours(s.rig, s.sizes.blocks),
    Spread(
        "transport",
        _with_copies,
        lambda row: _seconds(row) + _of_copies(row),
        14,
        [Column("ranks, and who a rank's neighbours are", _who)],
    ),
    seconds=40,
)


# --- the cavity's optimisations -------------------------------------------------------------------


def _grid(row: Row) -> str:
    return ", ".join(map(str, row["grid"]))


def _efficiency(ending: str) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        key = (row["version"] + ending, tuple(row["grid"]))
        if key not in published.STRONG:
            return ""
        return f"{published.STRONG[key][1]} %, {published.WEAK[key][1]} %"

    return cell


OPTIMISATIONS = between(
    "optimisations",
    "Cavity, 5 fields of 8 bytes, walls: an exchange (published: efficiency of two P100 in the "
    "strong and the weak sense)",
    [
        Column("grid (i, j, k)", _grid),
        field("version", 8),
        Column("sent", lambda row: size_of(row["sent"]), 8),
    ],
    lambda s: measure_versions(s.rig, s.sizes.cavity),
    Spread(
        "transport",
        _transports,
        _seconds,
        after=[Column(head, _efficiency(ending), 14) for head, ending in PUBLISHED.items()],
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


def _lost(ending: str) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        keys = [(version + ending, tuple(row["grid"])) for version in ENDS]
        if not all(key in published.STRONG for key in keys):
            return ""
        before, after = (published.lost_seconds(published.STRONG[key][0]) for key in keys)
        return f"{before / after:.3g}x"

    return cell


GAINS = between(
    "gains",
    "Baseline / V3 (published: of the time that a step loses on two P100, derived by us)",
    [Column("grid (i, j, k)", _grid)],
    _gains,
    Spread(
        "transport",
        _transports,
        lambda row: f"{row['gain']:.3g}x",
        after=[Column(head, _lost(ending), 11) for head, ending in PUBLISHED.items()],
    ),
)

# --- k-Wave's overlaps, and progress --------------------------------------------------------------


def _range(row: Row) -> str:
    if row["overlap"] not in published.KWAVE:
        return ""
    least, most = published.KWAVE[row["overlap"]]
    return f"up to {most}x" if least is None else f"{least:g} to {most:g}x"


OVERLAPS = between(
    "overlaps",
    "k-Wave: a cube of 4-byte values a rank, with edges and corners (time, speed-up over mpi; "
    "published: of whole simulations on eight P40)",
    [
        Column("cut", lambda row: f"{row['cut']}, {' x '.join(map(str, row['processes']))}", 14),
        field("overlap"),
    ],
    lambda s: measure_overlaps(s.rig, s.sizes.cube, s.sizes.overlaps),
    Spread(
        "transport",
        _transports,
        lambda row: _seconds(row) + (f", {row['speedup']:.2f}x" if row["speedup"] else ""),
        15,
        [Column("published", _range)],
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
    [field("transport", 10, head=""), Column("speed-up", lambda row: f"{row['speedup']:.2f}x")],
    _speedups,
)


def _time(name: str) -> Column:
    return Column(name, lambda row: time_of(row[name]), 8)


PROGRESS = between(
    "progress",
    "Do messages make progress while the host computes? (hidden: fraction of the shorter one)",
    [
        _size("message"),
        field("transport", 10),
        *map(_time, ("exchange", "work", "both")),
        Column("hidden", lambda row: percent(row["hidden"])),
    ],
    lambda s: measure_progress(s.rig, s.sizes.messages),
    seconds=20,
)

# --- values that ranks share ----------------------------------------------------------------------


ASSEMBLY = between(
    "assembly",
    "Values that ranks share, degree 7",
    [
        field("kind", 14, head="operation"),
        Column("values a rank", lambda row: f"{row['values'] / 1e6:.3g} million"),
        Column("set-up", lambda row: f"{row['setup']:.3g} s", 8),
        Column("local part", _seconds),
        Column("of bandwidth", lambda row: percent(row["share"])),
        Column("remote part", lambda row: time_of(row["remote"])),
        Column("both at once", lambda row: time_of(row["whole"])),
    ],
    lambda s: measure_local(s.rig, s.sizes.elements[0]),
    seconds=40,
)


ROUTES = between(
    "routes",
    "Routes of a gather-scatter on few elements: what needs other ranks",
    [
        field("transport", 10),
        field("route", 8),
        _size("sent"),
        Column("remote part", lambda row: time_of(row["remote"])),
    ],
    lambda s: measure_routes(s.rig, s.sizes.elements[1]),
    seconds=30,
)


ALL_PAIRS = between(
    "all-pairs",
    "Routes where each rank shares a value with every other, over an emulated network",
    [Column("a message costs", lambda row: time_of(row["gap"]))],
    lambda s: measure_all_pairs(s.rig),
    Spread("route", lambda measured: ["pairwise", "crystal"], lambda row: time_of(row["remote"])),
    seconds=60,
)

TABLES = [
    *(LINKS, PATHS, NEIGHBOURS, OPTIMISATIONS, GAINS, OVERLAPS, SPEEDUPS, PROGRESS),
    *(ASSEMBLY, ROUTES, ALL_PAIRS),
]
