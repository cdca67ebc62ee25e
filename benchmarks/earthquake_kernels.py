"""Throughput of the earthquake step and of its two hot kernels, against the measured bandwidth.

    python benchmarks/earthquake_kernels.py --cells 160 160 2048 --backend cuda [--blocks 32x4x2 ...]

Counts the least traffic of a point's update (see `solver.py`): 13 words for the velocities, 31 for
the stresses with Q, 17 without. Prints one line a variant, and JSON with --json.
"""

from __future__ import annotations

import argparse
import json
import statistics
from typing import Any

from groundswell.backends import Backend, cuda, open_backend
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.setup import STRESS_WORDS, VELOCITY_WORDS
from groundswell.solvers.earthquake.solver import Earthquake


def make_case(cells: list[int], args: argparse.Namespace) -> EarthquakeCase:
    """A homogeneous block with everything on: free surface, layers, Q, a source, a receiver."""
    width = 0 if args.no_layers else args.width
    h = 50.0
    nx, ny, nz = cells[0] - 2 * width, cells[1] - 2 * width, cells[2] - width
    matter: dict[str, Any] = {"kind": "homogeneous", "vp": 6000.0, "vs": 3464.0, "rho": 2700.0}
    if not args.elastic:
        matter |= {"qp": 155.9, "qs": 69.3}
    where = {"x": nx * h / 2, "y": ny * h / 2, "depth": nz * h / 3}
    pulse = {"kind": "gaussian", "sigma": 0.1}
    return EarthquakeCase(
        time={"duration": 10.0},
        grid={"size": [nx * h, ny * h, nz * h], "spacing": h},
        medium=matter,
        attenuation={"model": "none"} if args.elastic else {"model": "constant"},
        boundary={"sides": "periodic" if args.no_layers else args.sides, "width": max(width, 1)},
        source=[{"kind": "explosion", "moment": 1e16, "time_function": pulse, **where}],
        receiver=[{"name": "R", "x": nx * h / 3, "y": ny * h / 3, "depth": 0.0}],
        run={"backend": args.backend, "precision": args.precision},
    )


def seconds(backend: Backend, launch: Any, times: int, repeats: int) -> float:
    """Median device time of one launch."""
    launch()
    found = []
    for _ in range(repeats):
        begin = backend.mark()
        for _ in range(times):
            launch()
        end = backend.mark()
        end.wait()
        found.append(end.seconds_since(begin) / times)
    return statistics.median(found)


def measure(backend: Backend, args: argparse.Namespace, bandwidth: float) -> dict[str, Any]:
    """Time the kernels and the whole step of one variant."""
    found = Earthquake(Earthquake.prepare(make_case(args.cells, args)), backend)
    words = {"velocity": VELOCITY_WORDS, "stress": STRESS_WORDS[found.attenuated]}
    kernels = {"velocity": found._update_velocity(), "stress": found._update_stress()}
    points = found.updates_per_step
    itemsize = 8 if args.precision == "double" else 4
    row: dict[str, Any] = {}
    for name, kernel in kernels.items():
        t = seconds(backend, kernel, args.times, 5)
        row[name] = {"ms": t * 1e3, "share": points * words[name] * itemsize / t / bandwidth}
    graph = backend.capture(found.step)
    t = seconds(backend, lambda: graph.replay(args.times), 1, 5) / args.times
    rate = points / t
    row["step"] = {
        "ms": t * 1e3,
        "MLUPS": rate / 1e6,
        "share": rate * found.bytes_per_update / bandwidth,
    }
    return row


def show(name: str, row: dict[str, Any]) -> None:
    """Print a variant's line."""
    step, velocity, stress = row["step"], row["velocity"], row["stress"]
    print(
        f"{name:>12}: step {step['ms']:.4f} ms {step['MLUPS']:8.0f} MLUPS {step['share']:.1%};"
        f" velocity {velocity['ms']:.4f} ms {velocity['share']:.1%};"
        f" stress {stress['ms']:.4f} ms {stress['share']:.1%}",
        flush=True,
    )


def main() -> None:
    """Measure every variant that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, nargs=3, default=[160, 160, 2048])
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--precision", default="single")
    parser.add_argument("--sides", default="pml", choices=["pml", "sponge"])
    parser.add_argument("--width", type=int, default=10)
    parser.add_argument("--no-layers", action="store_true")
    parser.add_argument("--elastic", action="store_true")
    parser.add_argument("--blocks", nargs="*", help="blocks of GPU threads to try: 32x4x2 ...")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    backend = open_backend(args.backend)
    bandwidth = backend.measure_bandwidth()
    print(f"{backend.device}: {bandwidth / 1e9:.0f} GB/s measured, {args.cells}, {args.precision}")
    results = {}
    for block in args.blocks or ["x".join(map(str, cuda.CELL_BLOCK))]:
        cuda.CELL_BLOCK = tuple(map(int, block.split("x")))
        results[block] = measure(backend, args, bandwidth)
        show(block, results[block])
    if args.json:
        print(json.dumps({"device": backend.device, "bandwidth": bandwidth, "results": results}))


if __name__ == "__main__":
    main()
