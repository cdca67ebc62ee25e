"""Runs mutants of small cases, and cases with damaged files; prints as JSON how they ended.

    python fuzz_program.py SEED COUNT earthquake cavity srf ...

The names are those of solvers, for mutants of their cases, and of formats, for damaged files. Each
is checked, and run if it is small enough. It must end with exit code 0, or with 1 or 2 and one
message, and leave nothing half-written. This process only forks, so that a mutant that crashes or
hangs ends alone.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import plugin
from bandwidths import keep_no_bandwidths
from checked import cost
from damage import damaged, mutated_text
from forked import Ended, run_forked
from input_files import FORMATS, TEXTS
from mutants import mutant
from small_cases import CASES, small_case
from toml_text import toml

from groundswell import registry
from groundswell.backends import Backend
from groundswell.cli import main
from groundswell.simulation.preparation import prepare

UPDATES = 3e7  # points times steps; more takes too long to tell a hang from work
BYTES = 3e8
SECONDS = 60
TOO_LARGE = 77
IMPORTED = (
    *("groundswell.cli.app", "groundswell.cli.results", "groundswell.cli.text_tables"),
    *("groundswell.backends.cpu", "groundswell.simulation.run", "groundswell.simulation.solve"),
    *("h5netcdf", "humanize", "obspy", "pint", "scipy.interpolate", "typer.rich_utils"),
)

Content = dict[str, Any]


def check_and_run(path: str, folder: str) -> int:
    """The exit code of the commands; TOO_LARGE if the run is not worth the time."""
    code = main(["check", path])
    if code or _is_large(path):
        return code or TOO_LARGE
    sys.stderr.flush()
    os.ftruncate(2, 0)  # only the messages of the run are to be judged
    os.lseek(2, 0, os.SEEK_SET)
    code = main(["run", path, "-q", "--no-pictures", "--output", folder])
    print("RAN")
    return code


def _is_large(path: str) -> bool:
    setup = prepare(path)
    updates = cost(setup).updates_per_step * min(setup.steps, 100)
    return max(updates / UPDATES, cost(setup).memory / BYTES, cost(setup).output_bytes / BYTES) > 1


def complaints(ended: Ended, folder: Path) -> list[str]:
    """What is wrong with how a run ended."""
    lines = [line for line in ended.error.splitlines() if not line.startswith("warning: ")]
    left = {path.name for path in folder.glob("*")}
    resumable = ended.code == 1 and "checkpoint.h5" in left
    is_list = bool(lines) and lines[0].endswith("cannot be used:")
    checks = {
        f"exit code {ended.code}": ended.code not in (0, 1, 2, TOO_LARGE),
        "a bug": "Traceback" in ended.error or "bug in Groundswell" in ended.error,
        "no message": ended.code in (1, 2) and not ended.error.startswith("groundswell: "),
        "several lines": len(lines) > 1 and not is_list,
        "noise": ended.code == 0 and bool(lines),
        "not to be printed": not ended.error.replace("\n", "").isprintable(),
        "raw bytes": re.search(r"(?<!['\w])b'", ended.error) is not None,
        "a long line": any(len(line) > 1000 for line in lines),
        f"left {sorted(left)}": ended.code != 0 and bool(left) and not resumable,
        "incomplete": "RAN" in ended.out and ended.code == 0 and "summary.json" not in left,
        "temporary files": not resumable and any(".part" in name for name in left),
        "a lock": any("lock" in name for name in left),
    }
    return [name for name, is_wrong in checks.items() if is_wrong]


def mutated_case(solver: str, folder: Path, rng: np.random.Generator) -> Content:
    """A mutant of the small case of a solver."""
    return mutant(small_case(solver), rng)


def damaged_file(name: str, folder: Path, rng: np.random.Generator) -> Content:
    """The case that reads a file of this format, and a damaged copy of the file."""
    path, content = FORMATS[name](folder)
    data = path.read_bytes()
    if name in TEXTS and rng.random() < 0.6:
        path.write_text(mutated_text(data.decode(), rng), encoding="utf-8")
    else:
        path.write_bytes(damaged(data, rng))
    return content


def write_case(folder: Path, content: Content) -> Path:
    path = folder / "case.toml"
    path.write_text("".join(f"{key} = {toml(value)}\n" for key, value in content.items()))
    return path


def fuzz(name: str, seed: int, count: int) -> dict[str, Any]:
    """Counts of exit codes, and the runs that ended badly."""
    codes, bad = Counter[str](), []
    make = mutated_case if name in CASES else damaged_file
    for n in range(count):
        with TemporaryDirectory() as scratch:
            results = Path(scratch) / "results"
            rng = np.random.default_rng([seed, *name.encode(), n])
            path = write_case(Path(scratch), make(name, Path(scratch), rng))
            ended = run_forked(path, results, seconds=SECONDS, call=lambda w: check_and_run(*w))
            codes[f"{'run' if 'RAN' in ended.out else 'check'} {ended.code}"] += 1
            if wrong := complaints(ended, results):
                bad.append({"n": n, "wrong": wrong, "error": ended.error, "case": path.read_text()})
    return {"codes": codes, "bad": bad}


def import_once(name: str) -> None:
    """Import what commands and the case need, so that the forks need not."""
    for module in IMPORTED:
        import_module(module)
    with TemporaryDirectory() as scratch:
        content = small_case(name) if name in CASES else FORMATS[name](Path(scratch))[1]
        prepare(write_case(Path(scratch), content))
    registry.find(content["solver"]).load("solver")


if __name__ == "__main__":
    seed, count, *names = sys.argv[1:]
    keep_no_bandwidths()
    Backend.measure_bandwidth = lambda *_, **__: 1e9  # type: ignore[method-assign]
    with TemporaryDirectory() as scratch, plugin.available(Path(scratch)):
        for name in names:
            import_once(name)
        print(json.dumps({name: fuzz(name, int(seed), int(count)) for name in names}))
