"""Tables and figures of documents that benchmarks reproduce, with their published values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from groundswell.bench.rows import Measured, Row
from groundswell.bench.tables import Column


def nothing(measured: Measured) -> Iterable[Row]:
    """No rows."""
    return ()


@dataclass(frozen=True)
class Item:
    """A table or a figure of a document, and what Groundswell measures in its place.

    Args:
        source: its place in the document, such as "Table 3".
        title: what it shows.
        hardware: where the published values were measured.
        columns: of the values, published and measured.
        differs: one or two sentences on what differs, and why.
        tables: names of the benchmark's tables that are measured for it, in their order.
        published: rows of the document's values. Each has the key `what`, a text that names it,
            and the keys of columns. A document whose figure shows no numbers has none.
        ours: rows of our values, from measurements. One with the same `what` as a published row is
            shown beside it.
        ranks: number of ranks that it needs: "one", "several" or "any".
        gpus: smallest number of GPUs that it needs.
        in_clone: whether only a clone of the repository measures it, see `bench.rivals`.
    """

    source: str
    title: str
    hardware: str
    columns: Sequence[Column]
    differs: str
    tables: Sequence[str] = ()
    published: Sequence[Row] = ()
    ours: Callable[[Measured], Iterable[Row]] = nothing
    ranks: str = "any"
    gpus: int = 0
    in_clone: bool = False


@dataclass(frozen=True)
class Document:
    """A document whose tables and figures a benchmark reproduces.

    Args:
        name: the program or method that it describes.
        citation: authors, title, year and place.
        items: its tables and figures with results.
        rest: what is not reproduced, and why.
    """

    name: str
    citation: str
    items: Sequence[Item]
    rest: str = ""

    @property
    def tables(self) -> list[str]:
        """Names of the benchmark's tables that its items need."""
        return list(dict.fromkeys(name for item in self.items for name in item.tables))


def named(values: Mapping[str, Any], key: str) -> list[Row]:
    """A row for each value of a mapping, with its name as `what`."""
    return [{"what": name, key: value} for name, value in values.items()]


def mean(rows: Iterable[Row], key: str) -> float | None:
    """The arithmetic mean of the values of a key; None without any."""
    values = [float(row[key]) for row in rows if row.get(key) is not None]
    return sum(values) / len(values) if values else None
