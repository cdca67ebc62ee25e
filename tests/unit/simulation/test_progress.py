"""What a run says of its phases on standard error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import groundswell as gs
from groundswell.simulation import progress

PHASES = ["Reading the case", "Building the solver", "Writing results"]


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
