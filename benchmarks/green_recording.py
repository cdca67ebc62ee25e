"""The cost of recording a strain Green tensor, per step of the earthquake solver.

    python benchmarks/green_recording.py --cells 512 512 512 --points 1900 --every 4

Prints the time of a step without and with the recorder, the bytes that it moves at least, and the
time of its two kernels. The points are those of a vertical fault in the middle of the region.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

import numpy as np

from groundswell.backends import Backend, Launch, open_backend
from groundswell.solvers.earthquake import Earthquake, EarthquakeCase
from groundswell.solvers.earthquake.benchmarks.throughput import SPACING, Variant, make_case
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.strain_points import strain_bytes

REPEATS = 7
APART = 5.3  # cells between points: stencils share no grid values, and points are off the grid


def make_solver(args: argparse.Namespace, backend: Backend, *, records: bool) -> Earthquake:
    """The solver of a homogeneous block with a force, with or without the recorder."""
    nx, ny, nz = args.cells
    content = make_case(Variant("", (nx, ny, nz), precision=args.precision)).model_dump()
    x, y, z = content["grid"]["size"]
    pulse = {"kind": "gaussian", "sigma": 0.1}
    place = {"x": x / 3, "y": y / 3, "depth": 0.0}
    content["source"] = [{"kind": "force", "force": [1e10, 0, 0], "time_function": pulse, **place}]
    if records:
        positions = fault(args.points, (x, y, z))
        recorded = {"station": "S", "positions": positions}
        recorded |= {"interval": args.every * prepare(EarthquakeCase(**content)).dt}
        content["output"]["strain_green_tensor"] = recorded
    return Earthquake(prepare(EarthquakeCase(**content)), backend)


def fault(count: int, size: tuple[float, float, float]) -> list[list[float]]:
    """Positions on a plane y = const, as near to the surface as they fit, m."""
    step = APART * SPACING
    across = max(1, int((size[0] - 8 * SPACING) / step))
    n = np.arange(count)
    depth = 4.2 * SPACING + n // across * step
    if depth.max() > size[2] - 4 * SPACING:
        raise SystemExit(f"{count} points do not fit; use fewer, or more cells")
    x = 4.1 * SPACING + n % across * step
    return np.stack([x, np.full(count, 0.503 * size[1]), depth], axis=1).tolist()


def seconds(backend: Backend, graphs: dict[str, Any], times: int) -> dict[str, float]:
    """Median time of a launch of each graph, s; they take turns."""
    found: dict[str, list[float]] = {name: [] for name in graphs}
    for repeat in range(REPEATS + 1):
        for name, graph in graphs.items():
            taken = backend.measure_seconds(lambda graph=graph: graph.replay(times)) / times
            if repeat:  # the first one warms up
                found[name].append(taken)
    return {name: statistics.median(taken) for name, taken in found.items()}


def main() -> None:
    """Measure the step with and without the recorder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, nargs=3, default=[512, 512, 512])
    parser.add_argument("--points", type=int, default=1900)
    parser.add_argument("--every", type=int, default=4, help="steps between samples")
    parser.add_argument("--precision", default="single")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--times", type=int, default=100, help="launches in one timed run")
    args = parser.parse_args()
    backend = open_backend(args.backend)
    plain, recording = (make_solver(args, backend, records=records) for records in (False, True))
    green = recording.outputs.green
    assert green is not None and recording.setup.green is not None
    kernels: dict[str, Launch] = {"accumulate": green.accumulate[0], "record": green.launches[0]}
    launches = {"without": plain.step, "with": recording.step, **kernels}
    graphs = {name: backend.capture(launch) for name, launch in launches.items()}
    taken = seconds(backend, graphs, args.times)
    moved = strain_bytes(recording.setup.green.points)
    print(f"{backend.device}, {args.cells}, {args.precision}, {args.points} points")
    print(
        f"step {taken['without'] * 1e3:.4f} ms, with strain each {args.every} steps "
        f"{taken['with'] * 1e3:.4f} ms: {100 * (taken['with'] / taken['without'] - 1):.2f} % more"
    )
    print(
        f"accumulate {taken['accumulate'] * 1e6:.1f} us, record {taken['record'] * 1e6:.1f} us; "
        f"tables and strains {moved / 1e6:.1f} MB"
    )


if __name__ == "__main__":
    main()
