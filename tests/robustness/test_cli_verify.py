"""`groundswell verify` and `groundswell bench`: tables, exit codes, refusals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_output import unwrapped

from groundswell import registry
from groundswell.bench import Benchmark, Session
from groundswell.bench.tables import Table, field
from groundswell.case.quantities import byte_size, duration
from groundswell.cli import main
from groundswell.verify import Check, Row

pytestmark = pytest.mark.timeout(120)


Capture = pytest.CaptureFixture[str]


PASSED = Row(
    "tides/high:spring",
    "passed",
    Check.near("plane wave: speed", 3001.0, 3000.0, 5.0, "m/s", "on [coarse] cells"),
)
FAILED = Row("tides/high:neap", "failed", Check.at_most("plane wave: misfit", 0.3, 0.1))
BROKEN = Row("tides/low:neap", "failed", message="ValueError: [ebb]")
SKIPPED = Row("tides/low:spring", "skipped", message="needs moon; pip install 'groundswell[moon]'")


@pytest.mark.parametrize(
    ("rows", "code"),
    [([PASSED, SKIPPED], 0), ([PASSED, FAILED, PASSED], 1), ([BROKEN, PASSED], 1)],
)
def test_verify(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, rows: list[Row], code: int
) -> None:
    asked: list[Any] = []

    def run_problems(solver: str | None, **options: Any) -> Iterator[Row]:
        progress = options.pop("progress")
        asked.append((solver, options))
        for row in rows:
            progress(row.problem)
            yield row

    monkeypatch.setattr("groundswell.verify.run_problems", run_problems)
    assert main(["verify", "earthquake", "--full", "--only", "wave"]) == code
    out = unwrapped(capsys.readouterr().out)
    assert "plane wave: speed" in out and "3001 m/s" in out and "+- 5" in out
    assert "on [coarse] cells" in out
    assert ("FAILED" in out) == bool(code)
    assert ("ValueError: [ebb]" in out) == (BROKEN in rows)
    assert ("needs moon" in out) == ("1 skipped" in out) == (SKIPPED in rows)
    assert asked == [("earthquake", {"full": True, "backend": "cpu", "only": "wave"})]
    assert main(["verify", "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert [row["status"] for row in found] == [row.status for row in rows]


def test_verify_without_solvers_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Without an installed package there are no entry points."""
    monkeypatch.setattr(registry, "solvers", list)
    assert main(["verify"]) == 2
    assert "install Groundswell with pip" in unwrapped(capsys.readouterr().err)


def test_verify_tells_rows_as_they_come(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    seen: list[str] = []

    def run_problems(solver: str | None, **options: Any) -> Iterator[Row]:
        yield PASSED
        seen.append(capsys.readouterr().out)
        yield FAILED

    monkeypatch.setattr("groundswell.verify.run_problems", run_problems)
    assert main(["verify"]) == 1
    assert "plane wave: speed" in seen[0]


def test_verify_of_some_problems(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def problem(backend: Any, full: bool) -> Iterator[Check]:
        yield Check.at_most("speed", 1.0, 2.0)

    monkeypatch.setattr("groundswell.verify.load_problem", lambda name: problem)
    assert main(["verify", "earthquake", "--only", "tpv", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["problem"] == "earthquake/ruptures:tpv3" and row["status"] == "passed"
    assert main(["verify", "earthquake", "--only", "tide"]) == 2
    error = unwrapped(capsys.readouterr().err)
    assert 'no problem has "tide" in its name; there are: earthquake/waves:plane_waves' in error


def test_verify_of_an_unknown_solver(capsys: Capture) -> None:
    assert main(["verify", "tides"]) == 2
    assert "tides" in capsys.readouterr().err


def test_bench(monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    """Rows are told as they come, and so they are written."""
    path = tmp_path / "bench_tides.json"
    written: list[Any] = []

    def measure(session: Session) -> Iterator[dict[str, Any]]:
        for height in (1, 2):
            yield {"height": height, "sizes": session.sizes}
            written.append((json.loads(path.read_text())["tides"], capsys.readouterr().out))

    table = Table("tides", "High water", [field("height"), field("sizes")], measure)
    tides = Benchmark({"cpu": "few"}, lambda session: {}, [table], full={"cpu": "many"})
    monkeypatch.setattr("groundswell.bench.benchmark", lambda subject: tides)
    arguments = ["bench", "tides", "--backend", "cpu", "--output", str(tmp_path)]
    assert main(arguments) == 0
    assert [len(rows) for rows, _ in written] == [1, 2]
    assert "High water" in written[0][1] and written[1][1].split() == ["2", "few"]
    assert main(["bench", "tides", "--backend", "cpu", "--full", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tides"] == [{"height": n, "sizes": "many"} for n in (1, 2)]


def test_bench_of_an_unknown_solver(capsys: Capture) -> None:
    assert main(["bench", "tides"]) == 2
    assert "tides" in capsys.readouterr().err


def test_numbers_for_the_eye() -> None:
    assert [byte_size(n) for n in (12, 3456, 7.89e6, 24.2e9)] == [
        "12 B",
        "3.46 kB",
        "7.89 MB",
        "24.2 GB",
    ]
    times = {0.034: "34.0 ms", 59: "59.0 s", 75.2: "1 minute and 15 seconds", 86400: "1 day"}
    assert [duration(seconds) for seconds in times] == [*times.values()]
