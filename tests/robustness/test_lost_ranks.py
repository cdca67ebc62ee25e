"""Runs of several ranks of which one stalls or dies: the others end with an error in time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ranks import run_on_ranks
from small_cases import write_small_case
from variants import long_variants

pytestmark = [pytest.mark.each_value, pytest.mark.timeout(240)]

PROGRAM = Path(__file__).parents[1] / "support" / "interrupted_run_program.py"
SAID = {
    "SIGSTOP": "rank {} has sent no (data|message) for 3 s",
    "SIGKILL": "rank {} .* has (ended before its work was done|died)",
}
# The launcher, too, notices a killed rank, and on a busy machine ends the others before they can
# say so.
ATTEMPTS = 3
QUICK = [
    ("dgwave", "SIGKILL", "mpi", 0),  # which prints the errors that all ranks know
]
LONG = [
    (solver, signal, transport, rank)
    for solver in ("dgwave", "earthquake")
    for signal in SAID
    for transport in ("peer", "mpi", "mpi-thread")
    for rank in (0, 1)
    if (signal, rank) != ("SIGSTOP", 0)  # it keeps silent
    if (solver, signal, transport, rank) not in QUICK
]


@pytest.mark.parametrize(("solver", "signal", "transport", "rank"), [*QUICK, *long_variants(LONG)])
def test_all_ranks_end_and_the_run_can_be_continued(
    tmp_path: Path, solver: str, signal: str, transport: str, rank: int
) -> None:
    said = SAID[signal].format(rank)
    for attempt in range(ATTEMPTS):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        case = write_small_case(folder, solver, run={"transport": transport})
        program = (PROGRAM, signal, str(rank), "40", "run", case, "-q", "--no-pictures")
        # Far more than the time-out of the ranks; their launcher has none.
        ended = run_on_ranks(3, *program, timeout=120, GROUNDSWELL_TIMEOUT="3")
        assert ended.returncode != 0
        assert not (folder / "results" / "summary.json").exists()
        if re.search(said, ended.stderr):
            break
    assert re.search(said, ended.stderr), ended.stderr
    assert f"--resume, from {folder / 'results' / 'checkpoint.h5'}" in ended.stderr
