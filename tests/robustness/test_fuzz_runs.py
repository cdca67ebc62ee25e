"""Mutants of cases and damaged input files, checked and run: they end with a message or results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from forked import Ended
from fuzz_program import TOO_LARGE, complaints
from input_files import FORMATS
from ranks import SOURCE
from small_cases import CASES
from variants import long_variants

PROGRAM = Path(__file__).parents[1] / "support" / "fuzz_program.py"
LONG = 300  # mutants of a solver or of a format


def fuzz(seed: int, count: int, *names: str) -> dict[str, Any]:
    """How the mutants ended, in a process that does nothing else."""
    command = [sys.executable, PROGRAM, str(seed), str(count), *names]
    searched = os.pathsep.join([str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": searched}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("count", "names"), [(4, ("earthquake", "poisson")), *long_variants([(LONG, tuple(CASES))])]
)
@pytest.mark.timeout(4 * 3600)
def test_mutants_of_cases_end_well(count: int, names: tuple[str, ...]) -> None:
    """The quick run checks mutants of all cases in test_case_fuzz.py."""
    for name, found in fuzz(11, count, *names).items():
        assert found["bad"] == [], name
        assert any(ended.startswith("run ") for ended in found["codes"]), (name, found["codes"])


@pytest.mark.parametrize(
    ("count", "names"), [(2, tuple(FORMATS)[::3]), *long_variants([(LONG, tuple(FORMATS))])]
)
@pytest.mark.timeout(4 * 3600)
def test_damaged_files_are_refused_or_read(count: int, names: tuple[str, ...]) -> None:
    found = fuzz(11, count, *names)
    assert {name: of["bad"] for name, of in found.items() if of["bad"]} == {}
    assert sum(of["codes"].get("check 2", 0) for of in found.values()) > len(names)


@pytest.mark.parametrize(
    ("ended", "wrong"),
    [
        (Ended(0, "", "RAN"), "incomplete"),
        (Ended(0, "RuntimeWarning: overflow"), "noise"),
        (Ended(1, "groundswell: KeyError: 'a'\nThis is a bug in Groundswell."), "a bug"),
        (Ended(2, ""), "no message"),
        (Ended(2, "groundswell: array([[1],\n[2]])"), "several lines"),
        (Ended(2, "groundswell: b'\\x00'"), "raw bytes"),
        (Ended(-11, ""), "exit code -11"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_must_not_happen_is_noticed(tmp_path: Path, ended: Ended, wrong: str) -> None:
    assert wrong in complaints(ended, tmp_path)


def test_what_may_happen_is_not_complained_of(tmp_path: Path) -> None:
    fine = Ended(2, "groundswell: case.toml cannot be used:\n  a: is wrong\n  b: is wrong")
    assert complaints(fine, tmp_path) == complaints(Ended(TOO_LARGE, ""), tmp_path) == []
    (tmp_path / "seismograms.h5.part").touch()
    assert complaints(Ended(1, "groundswell: failed"), tmp_path) != []
