"""How long the same work takes at two commits, measured side by side.

    python benchmarks/compare_commits.py main~20 main --benchmarks earthquake:step cavity:run

A benchmark is the name of a solver and what is timed: `step`, its time steps; `run`, the whole
command `groundswell run`; `check`, the command `groundswell check`. All use the case that
`groundswell new` writes at the first commit; `--set time.duration=8.0` replaces values of it.

Each commit is checked out to a folder of its own. Its processes and those of the other commit take
turns, and the first to start changes with each round, so that other work of the machine disturbs
both alike. A line shows the median times, the median of the ratios of all rounds, and the least and
the largest ratio. If 1 lies between these, the commits may be equally fast.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
STEP = """
import sys, time
import groundswell as gs
from groundswell.cli.options import settings_of
case, steps, *settings = sys.argv[1:]
with gs.Simulation(case, settings=settings_of(settings)) as simulation:
    simulation.advance(int(steps))  # fills the caches
    start = time.perf_counter()
    made = simulation.advance(int(steps))
    if not made:
        raise SystemExit("too few steps; lengthen the case with --set, or lower --steps")
    print((time.perf_counter() - start) / made)
"""
COMMAND = """
import sys, time
start = time.perf_counter()
from groundswell.cli import main
code = main(sys.argv[1:])
print(time.perf_counter() - start)
raise SystemExit(code)
"""


def python_of(checkout: Path, *words: str, folder: Path) -> str:
    """What a Python process prints that imports the package of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, *words]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"a process fails at the {checkout.name} commit:\n{done.stderr}")
    return done.stdout


@dataclass(frozen=True)
class Comparison:
    """What is measured.

    Args:
        benchmark: solver and kind, such as "cavity:step".
        case: the case file.
        settings: replaced values of the case, as PATH=VALUE.
        steps: time steps of one measurement.
    """

    benchmark: str
    case: Path
    settings: Sequence[str] = ()
    steps: int = 20

    def seconds(self, checkout: Path) -> float:
        """One measurement in a process of its own, with the package of a checkout."""
        done = python_of(checkout, "-c", *self._program(checkout), folder=self.case.parent)
        return float(done.split()[-1])

    def _program(self, checkout: Path) -> list[str]:
        kind = self.benchmark.partition(":")[2]
        if kind == "step":
            return [STEP, str(self.case), str(self.steps), *self.settings]
        values = [word for text in self.settings for word in ("--set", text)]
        output = ["--output", f"results_{checkout.name}", "--quiet"] if kind == "run" else []
        return [COMMAND, kind, str(self.case), *values, *output]


def rounds(compared: Comparison, checkouts: Sequence[Path], count: int) -> list[list[float]]:
    """Seconds of both checkouts in each round, which take turns; the first round only warms up."""
    found = []
    for n in range(count + 1):
        order = (0, 1) if n % 2 else (1, 0)
        times = {each: compared.seconds(checkouts[each]) for each in order}
        found.append([times[0], times[1]])
    return found[1:]


def line(name: str, measured: list[list[float]]) -> str:
    """A benchmark in one line: times of both commits, and their ratio with its spread."""
    before, after = (median(column) for column in zip(*measured, strict=True))
    ratios = sorted(second / first for first, second in measured)
    spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
    return f"{name:22} {before:10.4g} s {after:10.4g} s   x {median(ratios):.3f} ({spread})"


@contextmanager
def checked_out(commits: Sequence[str], folder: Path) -> Iterator[list[Path]]:
    """Worktrees of commits, which are removed at the end."""
    paths = [folder / name for name in ("first", "second")]
    git = ["git", "-C", str(ROOT), "worktree"]
    try:
        for path, commit in zip(paths, commits, strict=True):
            done = subprocess.run(
                [*git, "add", "--quiet", "--detach", str(path), commit], check=False
            )
            if done.returncode:
                raise SystemExit(f"{commit} cannot be checked out")
        yield paths
    finally:
        for path in (path for path in paths if path.exists()):
            subprocess.run([*git, "remove", "--force", str(path)], check=False)


def write_case(benchmark: str, checkout: Path, folder: Path) -> Path:
    """The case that `groundswell new` writes at a commit."""
    solver, _, kind = benchmark.partition(":")
    if kind not in ("step", "run", "check"):
        raise SystemExit(f"{benchmark}: give SOLVER:step, SOLVER:run or SOLVER:check")
    path = folder / f"{solver}_{kind}.toml"
    python_of(checkout, "-m", "groundswell", "new", solver, path.name, folder=folder)
    return path


def main() -> None:
    """Measure each benchmark at both commits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commits", nargs=2, metavar="COMMIT")
    parser.add_argument("--benchmarks", nargs="+", default=["earthquake:step"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=20, help="time steps of one measurement")
    parser.add_argument("--set", dest="settings", action="append", default=[])
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with TemporaryDirectory() as name, checked_out(args.commits, Path(name)) as checkouts:
        for benchmark in args.benchmarks:
            case = write_case(benchmark, checkouts[0], Path(name))
            compared = Comparison(benchmark, case, args.settings, args.steps)
            measured = rounds(compared, checkouts, args.rounds)
            row = {"benchmark": benchmark, "commits": args.commits, "seconds": measured}
            print(json.dumps(row) if args.json else line(benchmark, measured), flush=True)


if __name__ == "__main__":
    main()
