"""The fraction of time that an ensemble spends in time steps, and its speed-up over single runs.

    python benchmarks/ensemble_share.py --runs 24 --cells 48 --steps 100
    python benchmarks/ensemble_share.py --runs 200 --cells 160 --steps 300 --backend cuda

The runs are explosions at different depths of a layered medium. The fraction is the time that all
runs spend in time steps, divided by the wall time of `groundswell ensemble run` and by the number
of devices: GPUs, or workers on a CPU, each of which has cores of its own. The start of the workers
is included; the benchmark also prints how long it takes until the first step begins, and how long
after the last step the command ends. The rest is idle time of the devices between runs. Single runs
are calls of `groundswell run` without pictures; a few of them are timed with all kernels in the
cache.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

from groundswell.backends.links import read_links
from groundswell.ensembles.store import Store
from groundswell.formats.toml import toml_text

COMMAND = (sys.executable, "-m", "groundswell")
SPACING, STEP = 100.0, 0.005  # m, s


def write_case(folder: Path, cells: int, steps: int) -> Path:
    """The case that all runs vary."""
    size = cells * SPACING
    layer = {"vs": 1700.0, "vp": 3000.0, "rho": 2200.0, "qp": 100.0, "qs": 50.0}
    rock = {"vs": 3200.0, "vp": 5500.0, "rho": 2600.0, "qp": 300.0, "qs": 150.0}
    content = {
        "solver": "earthquake",
        "grid": {"size": [size] * 3, "spacing": SPACING},
        "time": {"duration": steps * STEP, "step": STEP},
        "medium": {"kind": "layered", "layers": [{"top": 0.0} | layer, {"top": 1000.0} | rock]},
        "attenuation": {"model": "constant"},
        "source": [
            {
                "kind": "explosion",
                "x": size / 2,
                "y": size / 2,
                "depth": size / 2,
                "magnitude": 4.0,
                "time_function": {"kind": "brune", "rise": "0.1 s"},
            }
        ],
        "receiver": [
            {"network": "GS", "name": f"R{n:02d}", "x": size * (n + 1) / 12, "y": size / 3}
            for n in range(10)
        ],
        "output": {"seismograms": {"interval": STEP}},
    }
    path = folder / "case.toml"
    path.write_text(toml_text(content))
    return path


def write_plan(folder: Path, cells: int, runs: int) -> Path:
    """The plan: depths between a quarter and three quarters of the region."""
    depths = [cells * SPACING * (0.25 + 0.5 * n / runs) for n in range(runs)]
    path = folder / "plan.toml"
    path.write_text(
        toml_text({"case": "case.toml", "columns": {"source": {"0": {"depth": depths}}}})
    )
    return path


def timed(*words: str | Path) -> float:
    """Wall time of a command, s."""
    begun = time.perf_counter()
    subprocess.run([*COMMAND, *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


STEPS = "time steps"
BEFORE = ("read", "open device", "measure bandwidth", "build", "wait")  # phases before the steps


@dataclass(frozen=True)
class Timeline:
    """When the devices made time steps, s since the epoch."""

    first: float
    last: float

    @classmethod
    def of(cls, store: Store) -> Timeline:
        """That of an ensemble."""
        spans = [_span(store.log(name)) for name in store.names()]
        return cls(min(first for first, _ in spans), max(last for _, last in spans))


def _span(log: Mapping[str, Any]) -> tuple[float, float]:
    """Start and end of the steps of a run."""
    wall, begun = log["run"]["wall"], datetime.fromisoformat(log["started"]).timestamp()
    first = begun + sum(wall.get(phase, 0.0) for phase in BEFORE)
    return first, first + wall[STEPS]


def step_seconds(store: Store) -> list[float]:
    """The time in time steps of each run, s."""
    return [store.log(name)["run"]["wall"][STEPS] for name in store.names()]


def processes(store: Store) -> int:
    """Number of processes that have made runs."""
    return len({store.log(name)["process"] for name in store.names()})


def gpus(given: int | None) -> int:
    """Number of GPUs that workers use."""
    return given or len(read_links().devices)


def measure(given: argparse.Namespace, folder: Path) -> dict[str, float]:
    """Time an ensemble and single runs."""
    options = ["--quiet", "--backend", given.backend]
    alone = [*options, "--no-pictures"]
    case = write_case(folder, given.cells, given.steps)
    plan = write_plan(folder, given.cells, given.runs)
    timed("run", case, *alone, "--output", folder / "warm-up")
    single = [
        timed("run", case, *alone, "--output", folder / f"single-{n}") for n in range(given.singles)
    ]
    workers = ["--workers", str(given.workers)] if given.workers else []
    begun = time.time()
    ensemble = timed("ensemble", "run", plan, *options, *workers)
    store = Store(plan.with_suffix(".zarr"))
    steps_made = Timeline.of(store)
    devices = gpus(given.gpus) if given.backend == "cuda" else processes(store)
    steps = step_seconds(store)
    return {
        "seconds of a single run": median(single),
        "seconds of the ensemble": ensemble,
        "seconds of a run in it": ensemble / given.runs,
        "steps of a run, s": median(steps),
        "until the first step, s": steps_made.first - begun,
        "after the last step, s": begun + ensemble - steps_made.last,
        "workers": processes(store),
        "share of time steps": sum(steps) / ensemble / devices,
        "times faster": given.runs * median(single) / ensemble,
    }


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--cells", type=int, default=48, help="cells along each axis")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--singles", type=int, default=3, help="single runs to time")
    parser.add_argument("--workers", type=int, default=0, help="0 for the default")
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument(
        "--gpus", type=int, help="GPUs that the ensemble uses; default: all visible"
    )
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(given, Path(folder))
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name}: {value:.3g}")


if __name__ == "__main__":
    main()
