"""The framework of benchmarks: which tables there are, and what is left of one that is stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from groundswell import registry
from groundswell.backends import open_backend
from groundswell.bench import (
    Benchmark,
    Recorder,
    Session,
    benchmark,
    installed,
    measure,
    run_bench,
    subjects,
)
from groundswell.bench.rivals import find_rivals
from groundswell.bench.tables import (
    NOTE,
    Column,
    Row,
    Table,
    amount,
    field,
    fraction,
    milliseconds,
    percent,
    show,
    size_of,
    time_of,
    times,
)
from groundswell.errors import InputError
from groundswell.exchange.communicator import SerialCommunicator


def rising(session: Session) -> Iterator[Row]:
    """A row for each size."""
    for size in session.sizes:
        yield {"size": size, "earlier": len(session.measured.get("rising", ()))}


def stopped(session: Session) -> Iterator[Row]:
    """Stopped while the second row is measured."""
    yield {"size": 1}
    raise KeyboardInterrupt


def others(measured: Any) -> Iterator[Row]:
    """Somebody else's row."""
    yield {"size": "theirs", "earlier": 0}


RISING = Table("rising", "Rising", [field("size", 8), field("earlier")], rising, others=others)
STOPPED = Table("stopped", lambda m: f"After {len(m['rising'])}", [field("size")], stopped)
SEVERAL = Table("several", "On several", [field("size")], rising, ranks="several")
ONE = Table("one", "On one", [field("size")], rising, ranks="one")


def bench(*tables: Table) -> Benchmark:
    return Benchmark({"cpu": (1, 2)}, lambda session: {"about": "Tides"}, tables)


def session() -> Session:
    return Session(open_backend("cpu"), SerialCommunicator(), (1, 2))


def test_rows_know_those_before() -> None:
    found = measure(bench(RISING, SEVERAL, ONE), session(), subject="tides")
    assert found["rising"] == [{"size": 1, "earlier": 0}, {"size": 2, "earlier": 1}]
    assert len(found["one"]) == 2 and "several" not in found
    assert (found["subject"], found["ranks"], found["about"]) == ("tides", 1, "Tides")


def test_nothing_is_lost_when_it_is_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bench.json"
    with pytest.raises(KeyboardInterrupt):
        measure(bench(RISING, STOPPED), session(), recorder=Recorder(path, shown=True))
    found = json.loads(path.read_text())
    assert len(found["rising"]) == 2 and found["stopped"] == [{"size": 1}]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("1 rank, cpu backend: ") and lines[1] == "Tides"
    assert [line.split() for line in lines if line.startswith("theirs")] == [["theirs", "0"]]
    assert lines[-4:] == ["After 2", "size", "----", "1"]


def test_what_was_measured_can_be_shown_again(capsys: pytest.CaptureFixture[str]) -> None:
    found = measure(bench(RISING), session())
    show([RISING], json.loads(json.dumps(found)))
    assert capsys.readouterr().out.splitlines()[1:] == [
        *("Rising", "size      earlier", "--------  -------"),
        *("1         0", "2         1", "theirs    0"),
    ]


@pytest.mark.parametrize("share", [1.0, 18.85])
def test_impossible_shares_have_a_note(share: float, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("rising", "Rising", [Column("of it", "share", fraction)], rising)
    show([table], {"rising": [{"share": 0.5}, {"share": share}]})
    lines = capsys.readouterr().out.splitlines()
    assert (lines[-1] == NOTE) == ("> 100 %" in lines) == (share > 1)


def test_the_bandwidth_of_rows_is_the_largest_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    found, rates = session(), iter([2e9, 5e9, 4e9])
    monkeypatch.setattr(found.backend, "measure_bandwidth", lambda: next(rates))
    found.measured["bandwidth"] = 3e9
    assert [found.bandwidth() for _ in range(3)] == [3e9, 5e9, 5e9]
    assert found.measured["bandwidth"] == 5e9


def test_tables_say_how_many_ranks_they_need() -> None:
    with pytest.raises(InputError, match="at least 2; start it with `mpiexec -n 2 groundswell"):
        bench(SEVERAL).tables_of("tides", 1)
    with pytest.raises(InputError, match="on one process, not on 4; start it without mpiexec"):
        bench(ONE).tables_of("tides", 4)
    assert bench(RISING, ONE, SEVERAL).tables_of("tides", 4) == [RISING, SEVERAL]


def test_what_needs_a_clone_is_told_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each benchmark that has rivals names them where it is installed without these."""
    with_rivals = {name for name in subjects() if find_rivals(name)}
    assert with_rivals == {name for name in subjects() if installed(name).missing}
    assert len(with_rivals) == 6 and not any(benchmark(name).missing for name in subjects())
    monkeypatch.setattr("groundswell.bench.rivals.FOLDER", Path("nowhere"))
    assert not any(find_rivals(name) for name in subjects())
    for name in with_rivals:
        [gap] = benchmark(name).gaps
        assert "only in a clone of the repository" in gap
    lacking = replace(bench(ONE), missing="codecs over slower links")
    with pytest.raises(InputError, match=r"without mpiexec; codecs over slower links.*clone"):
        lacking.tables_of("tides", 2)


def test_rivals_add_to_the_tables_that_are_installed() -> None:
    for name in subjects():
        extended = [table.name for table in benchmark(name).tables]
        own = [table.name for table in installed(name).tables]
        assert [each for each in extended if each in own] == own


def test_subjects() -> None:
    assert set(subjects()) == {*registry.names(), "exchange"}
    names = [table.name for subject in subjects() for table in benchmark(subject).tables]
    assert len(names) > 20
    for subject in subjects():
        tables = [table.name for table in benchmark(subject).tables]
        assert len(tables) == len(set(tables))
    with pytest.raises(InputError, match=r'no benchmark of "exchagne".*did you mean "exchange"'):
        run_bench("exchagne")


@pytest.mark.parametrize(
    ("column", "row", "text"),
    [
        (Column("", "rate", "{:.3g} GB/s", unit=1e9), {"rate": 2.345e9}, "2.35 GB/s"),
        (Column("", "share", percent), {"share": 0.456}, "46 %"),
        (Column("", "share", percent), {"share": None}, ""),
        (Column("", "share", percent), {}, ""),
        *(
            (Column("", "rate", amount), {"rate": rate}, text)
            for rate, text in [
                (0.012346, "0.01235"),
                (999.94, "999.9"),
                (999.96, "1,000"),
                (16734.4, "16,730"),
                (2.5e6, "2,500,000"),
            ]
        ),
        (Column("", "share", fraction), {"share": 1.004}, "100 %"),
        (Column("", "share", fraction), {"share": 1.006}, "> 100 %"),
        (Column("", "share", partial(fraction, digits=1)), {"share": 0.9876}, "98.8 %"),
        (Column("", "share", partial(fraction, digits=1)), {"share": 1.004}, "> 100 %"),
        (Column("", lambda row: row["a"] / row["b"], "{:.1f}x"), {"a": 3, "b": 2}, "1.5x"),
        (Column("", lambda row: None, "{:.1f}"), {}, ""),
        (milliseconds("a step"), {"seconds": 0.0123456}, "12.35"),
        (times("gain", "gain"), {"gain": 1.234}, "1.23x"),
        (Column("", "zero", "{:d}"), {"zero": 0}, "0"),
    ],
)
def test_cells(column: Column, row: Row, text: str) -> None:
    assert column.cell(row) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1.2345e-6, "1.23 us"),
        (9.994e-4, "999 us"),
        (9.996e-4, "1 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1,000 ms"),
        (12.3456, "12,346 ms"),
    ],
)
def test_times_have_no_exponents(seconds: float, text: str) -> None:
    assert time_of(seconds) == text


def test_sizes_have_no_exponents() -> None:
    sizes = (1023, 1000 * 2**10, 2**20 - 1, 2**20, 1500 * 2**20)
    expected = ["0.999 KiB", "1,000 KiB", "1,024 KiB", "1 MiB", "1,500 MiB"]
    assert [size_of(size) for size in sizes] == expected
