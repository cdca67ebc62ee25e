"""How much of the exchange's time is saved, as the paper states it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groundswell.bench import Session
from groundswell.bench.tables import Column, Row, Table, field, percent, time_of, yes_or_no
from groundswell.solvers.dgwave.benchmarks.published import (
    SAVED,
    SAVED_BY_LIBRARY,
    SAVED_BY_PROGRESS,
)
from groundswell_rivals.dgwave.ghost_exchange import REDUCED, WHOLE

PROGRESS = {"mpi-gpu": "mpi-gpu-thread", "mpi": "mpi-thread"}  # MPI without and with progress
Key = tuple[str, str, bool]  # what is sent, transport, and whether it overlaps
Times = Mapping[Key, float]


def measure_savings(session: Session) -> Iterator[Row]:
    """Compare times that were measured before.

    Yields:
        Rows: `configuration`, `precision`, `what` saves, `sent`, `transport`, `overlap`, seconds
        `before` and `after`, the fraction `saved`, and what is `published`.
    """
    rows = session.measured["exchange"]
    for about in dict.fromkeys(map(_configuration, rows)):
        times = {_key(row): row["exchange"] for row in rows if _configuration(row) == about}
        configuration, precision = about
        for row in (*_by_size(times), *_by_progress(times), *_by_library(times)):
            yield {"configuration": configuration, "precision": precision} | row


def _configuration(row: Row) -> tuple[str, str]:
    return row["configuration"], row["precision"]


def _key(row: Row) -> Key:
    return row["sent"], row["transport"], row["overlap"]


def _by_size(times: Times) -> Iterator[Row]:
    """Variables and materials instead of whole elements, by the same transport."""
    for sent, transport, overlap in times:
        if sent == REDUCED and (WHOLE, transport, overlap) in times:
            before, after = ((what, transport, overlap) for what in (WHOLE, REDUCED))
            yield _saved(times, before, after, "instead of whole elements", SAVED)


def _by_progress(times: Times) -> Iterator[Row]:
    """MPI whose messages progress meanwhile."""
    for sent, transport, overlap in times:
        after = (sent, PROGRESS.get(transport, ""), overlap)
        if overlap and after in times:
            before = (sent, transport, overlap)
            yield _saved(times, before, after, f"instead of {transport}", SAVED_BY_PROGRESS)


def _by_library(times: Times) -> Iterator[Row]:
    """The fastest transport instead of MPI without progress."""
    known = [key for key in times if key[0] == REDUCED and key[2]]
    plain = next((key for name in PROGRESS for key in known if key[1] == name), None)
    if plain:
        best = min(known, key=lambda key: times[key])
        yield _saved(times, plain, best, f"fastest, instead of {plain[1]}", SAVED_BY_LIBRARY)


def _saved(times: Times, before: Key, after: Key, what: str, published: float) -> Row:
    sent, transport, overlap = after
    row = {"what": what, "sent": sent, "transport": transport, "overlap": overlap}
    row |= {"before": times[before], "after": times[after], "published": published}
    return row | {"saved": 1 - times[after] / times[before] if times[before] else None}


SAVINGS = Table(
    "savings",
    "Time of the exchange that is saved, and the paper's means (figures 6 and 7, sections 8.5 and "
    "10; V100s of an IBM AC922)",
    [
        field("configuration", 17),
        field("precision"),
        field("sent", 20),
        field("transport", 14),
        Column("overlap", "overlap", yes_or_no),
        field("what", 28, head=""),
        Column("before", "before", time_of, 8),
        Column("after", "after", time_of, 8),
        Column("saved", "saved", percent),
        Column("in the paper", "published", percent),
    ],
    measure_savings,
    ranks="several",
)
