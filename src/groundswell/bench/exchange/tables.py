"""Tables of the exchange."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from groundswell.bench import Session
from groundswell.bench.exchange.assembly import measure_local, measure_routes
from groundswell.bench.exchange.links import measure_links, measure_neighbours
from groundswell.bench.exchange.progress import measure_progress
from groundswell.bench.tables import (
    Column,
    Measured,
    Row,
    Spread,
    Table,
    field,
    fraction,
    size_of,
    time_of,
)

LINES = 24  # characters of a time with its rate and share

between = partial(Table, ranks="several")


def transports(measured: Measured) -> Sequence[str]:
    """The transports that work."""
    found: Sequence[str] = measured["transports"]
    return found


def seconds(row: Row) -> str:
    """The time of a row."""
    return time_of(row["seconds"])


def _with_copies(measured: Measured) -> Sequence[str]:
    return ["copy", *transports(measured)]


def _of_copies(row: Row) -> str:
    limited = row["share"] is not None and row["transport"] != "copy"
    return f", {fraction(row['share'])}" if limited else ""


def _size(head: str) -> Column:
    return Column(head, "bytes", size_of, 8)


# --- links ----------------------------------------------------------------------------------------


def _rate(row: Row) -> str:
    return f"{seconds(row)}, {row['rate'] / 1e9:.3g} GB/s{_of_copies(row)}"


SIDES = {1: "the next", 2: "both sides"}

LINKS = between(
    "links",
    "Faces to neighbours of a ring (time, rate of a rank, share of plain copies)",
    [Column("to", "faces", SIDES.__getitem__, 10), _size("a face")],
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
        lambda row: seconds(row) + _of_copies(row),
        14,
        [Column("ranks, and who a rank's neighbours are", _who)],
    ),
    seconds=40,
)

PROGRESS = between(
    "progress",
    "Do messages make progress while the host computes? (hidden: fraction of the shorter one)",
    [
        _size("message"),
        field("transport", 10),
        *(Column(name, name, time_of, 8) for name in ("exchange", "work", "both")),
        Column("hidden", "hidden", fraction),
    ],
    lambda s: measure_progress(s.rig, s.sizes.messages),
    seconds=20,
)

# --- values that ranks share ----------------------------------------------------------------------

REMOTE = Column("remote part", "remote", time_of)

ASSEMBLY = between(
    "assembly",
    "Values that ranks share, degree 7",
    [
        field("kind", 14, head="operation"),
        Column("values a rank", "values", "{:.3g} million", unit=1e6),
        Column("set-up", "setup", "{:.3g} s", 8),
        Column("local part", "seconds", time_of),
        Column("of bandwidth", "share", fraction),
        REMOTE,
        Column("both at once", "whole", time_of),
    ],
    lambda s: measure_local(s.rig, s.sizes.elements[0]),
    seconds=40,
)

ROUTES = between(
    "routes",
    "Routes of a gather-scatter on few elements: what needs other ranks",
    [field("transport", 10), field("route", 8), _size("sent"), REMOTE],
    lambda s: measure_routes(s.rig, s.sizes.elements[1]),
    seconds=30,
)

TABLES = [LINKS, PATHS, NEIGHBOURS, PROGRESS, ASSEMBLY, ROUTES]
