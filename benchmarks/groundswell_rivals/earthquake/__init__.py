"""Codecs of the ghosts of an earthquake, and its steps over slower links between several ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from groundswell.bench import Benchmark
from groundswell.bench.drawing import Page, Panel
from groundswell.bench.tables import Column, Row, Spread, Table, field, time_of
from groundswell_rivals.earthquake.gains import draw_gains, name_of_link, published_gain
from groundswell_rivals.earthquake.slow_links import (
    measure_codecs,
    measure_fields,
    measure_links,
    with_links,
)

SECONDS = 60.0  # that ranks may spend on a table


def extend(benchmark: Benchmark) -> Benchmark:
    """Add these tables, and draw what codecs gain."""
    page, tables = benchmark.draw, [*benchmark.tables, CODECS, FIELDS, LINKS]
    assert isinstance(page, Page)
    page = replace(page, panels=[*page.panels, Panel("links", draw_gains, "several")])
    sizes, quick = with_links(benchmark.sizes), with_links(benchmark.quick)
    return replace(benchmark, sizes=sizes, quick=quick, tables=tables, draw=page, missing="")


def _rate(head: str, name: str) -> Column:
    return Column(head, name, "{:.3g} GB/s", 10, 1e9)


CODECS = Table(
    "codecs",
    "Codecs on ghosts of an earthquake, packed and coded at once",
    [
        field("step", 6),
        field("codec", 8),
        Column("shorter", "ratio", "{:.3g}x"),
        _rate("coded", "encode"),
        _rate("decoded", "decode"),
    ],
    measure_codecs,
    ranks="several",
    seconds=SECONDS,
)

FIELDS = Table(
    "fields",
    "How much shorter mpc makes them, by field and step",
    [field("field")],
    measure_fields,
    Spread(
        "step",
        lambda measured: [*dict.fromkeys(f"{row['step']}" for row in measured["codecs"])],
        lambda row: f"{row['ratio']:.3g}x",
        8,
    ),
    ranks="several",
)


def _worded(words: dict[object, str], key: str) -> Callable[[Row], str]:
    return lambda row: words[row[key]]


LINKS = Table(
    "links",
    "Its step over slower links (a code pays if 1 - 1/r > B (1/Tc + 1/Td))",
    [
        Column("link of a rank", name_of_link),
        field("codec", 8),
        Column("step", "seconds", time_of, 8),
        Column("faster than without", "gain", "{:+.0f} %", unit=0.01),
        Column("AWP-ODC", "codec", published_gain, 24),
        Column("the rule says", _worded({True: "pays", False: "does not pay", None: ""}, "pays")),
        Column("tuner", _worded({True: "takes it", False: ""}, "chosen")),
    ],
    measure_links,
    ranks="several",
    seconds=SECONDS,
)
