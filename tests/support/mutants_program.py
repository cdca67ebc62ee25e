"""Runs mutants of the small case of a solver; prints what must not happen, as JSON.

    python mutants_program.py SOLVER SEED COUNT

Each mutant is checked, and run if it is small enough. It must end with exit code 0, with 1 or 2 and
one message, and leave nothing half-written. This process only forks, so that a mutant that crashes
or hangs ends alone.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import plugin
from forked import Ended, run_forked
from mutants import mutant
from small_cases import small_case
from toml_text import toml

from groundswell import registry
from groundswell.backends import Backend
from groundswell.cli import main
from groundswell.simulation.preparation import prepare

UPDATES = 3e7  # points times steps; more takes too long to tell a hang from work
BYTES = 3e8
SECONDS = 60
TOO_LARGE = 77


def check_and_run(path: str, folder: str) -> int:
    """The exit code of the command; TOO_LARGE if the mutant is not worth the time."""
    try:
        setup = prepare(path)
        updates = setup.updates_per_step * min(setup.steps, 100)
        if max(updates / UPDATES, setup.memory / BYTES, setup.output_bytes / BYTES) > 1:
            return TOO_LARGE
    except Exception:  # the command reports it
        pass
    code = main(["check", path])
    if code:
        return code
    sys.stderr.flush()
    os.ftruncate(2, 0)
    os.lseek(2, 0, os.SEEK_SET)
    code = main(["run", path, "-q", "--no-pictures", "--output", folder])
    print("RAN", code)
    return code


def complaints(ended: Ended, folder: Path) -> list[str]:
    """What is wrong with how a mutant ended."""
    if ended.code == TOO_LARGE:
        return []
    lines = [line for line in ended.error.splitlines() if not line.startswith("warning: ")]
    found = []
    if ended.code not in (0, 1, 2):
        found.append(f"ended with {ended.code}")
    if "Traceback" in ended.error or "bug in Groundswell" in ended.error:
        found.append("a bug")
    if ended.code in (1, 2) and (not lines or not lines[0].startswith("groundswell: ")):
        found.append("no message")
    if len(lines) > 1 and not (lines[0].endswith("cannot be used:") or ended.code == 2):
        found.append("more than a message")
    if ended.code == 0 and lines:
        found.append("noise")
    left = {path.name for path in folder.glob("*")} if folder.exists() else set()
    if ended.code and left:
        found.append(f"left {sorted(left)}")
    if ended.code == 0 and ("summary.json" not in left or any(".part" in name for name in left)):
        found.append("incomplete results")
    return found


def run_mutants(solver: str, seed: int, count: int) -> dict[str, Any]:
    """Counts of exit codes, and the mutants that ended badly."""
    codes, bad = Counter[str](), []
    for n in range(count):
        rng = np.random.default_rng([seed, n, *solver.encode()])
        content = mutant(small_case(solver), rng)
        with TemporaryDirectory() as name:
            path, folder = Path(name) / "case.toml", Path(name) / "results"
            path.write_text("".join(f"{key} = {toml(value)}\n" for key, value in content.items()))
            ended = run_forked(
                path, folder, seconds=SECONDS, call=lambda words: check_and_run(*words)
            )
            codes[("run " if "RAN" in ended.out else "") + str(ended.code)] += 1
            if "RAN" in ended.out and ended.code and os.environ.get("SHOW_FAILED"):
                print(ended.code, ended.error.strip(), file=sys.stderr, flush=True)
            if wrong := complaints(ended, folder):
                bad.append({"n": n, "wrong": wrong, "error": ended.error, "case": path.read_text()})
                print(json.dumps(bad[-1]), file=sys.stderr, flush=True)
    return {"codes": codes, "bad": bad}


if __name__ == "__main__":
    solver, seed, count = sys.argv[1:]
    Backend.measure_bandwidth = lambda *_, **__: 1e9  # type: ignore[method-assign]
    with TemporaryDirectory() as scratch, plugin.available(Path(scratch)):
        for part in ("case", "setup", "solver"):  # imported once, before the forks
            registry.find(solver).load(part)  # type: ignore[arg-type]
        print(json.dumps(run_mutants(solver, int(seed), int(count))))
