"""What a run says of its phases on standard error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import groundswell as gs
from groundswell.case.quantities import time_of
from groundswell.simulation import progress

PHASES = ["Reading the case", "Building the solver", "Opening the results", "Writing results"]


@pytest.mark.parametrize("quiet", [True, False])
def test_a_log_names_phases_that_take_long(
    write_case: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    quiet: bool,
) -> None:
    monkeypatch.setattr(progress, "SOON", 0.0)
    case = write_case(tmp_path, time={"duration": "0.3 s"})
    gs.run(case, folder=tmp_path / "results", quiet=quiet)
    lines = capsys.readouterr().err.splitlines()
    shown = [line for line in dict.fromkeys(lines) if line in PHASES]
    assert shown == ([] if quiet else PHASES)


def test_a_log_does_not_name_short_phases(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.phase_progress("Reading the case", quiet=False):
        pass
    assert capsys.readouterr().err == ""


def test_lines_of_a_log_name_what_has_passed_and_what_is_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter([100.0, 112.0, 200.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    with progress.progress(100, lambda step: f"at {step}", "MLUPS", quiet=False) as report:
        report(15, 24_000_000)
        report(100, 100_000_000)
    assert capsys.readouterr().err.splitlines() == [
        "step 15 of 100, at 15, 2 MLUPS, 12.0 s elapsed, 0:01:08 left",
        "step 100 of 100, at 100, 1 MLUPS, 0:01:40 elapsed",
    ]


@pytest.mark.parametrize(
    ("time", "end", "text"),
    [
        (0.0, 4.0, "0 of 4 s"),
        (21600.0, 43200.0, "6 of 12 h"),
        (30.0, 1200.0, "0.5 of 20 min"),
        (0.0123, 0.05, "12.3 of 50 ms"),
        (1.593e-5, 2.8e-5, "15.93 of 28 µs"),
        (1.144e-4, 1.5e-4, "114.4 of 150 µs"),
        (1e-9, 2e-9, "1 of 2 ns"),
        (0.0, 0.0, "0 of 0 ns"),
    ],
)
def test_simulated_times_have_a_suitable_unit(time: float, end: float, text: str) -> None:
    assert time_of(time, end) == text
