"""Seismograms of many variations of a rupture from a strain Green tensor.

    python benchmarks/green_synthesis.py --variations 10000 --points 1900 --samples 2000

Prints the time from the tensor in memory to seismograms in memory, and that of its parts. Each
variation has another hypocentre, rise time and slip.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import xarray

from groundswell.backends import open_backend
from groundswell.seismology.green.points import SHEAR, TENSOR
from groundswell.seismology.green.slip import SLIP_RATES, PointFinder, SlipRows
from groundswell.seismology.green.synthesis import Synthesis, Variations
from groundswell.seismology.sources.moment import double_couple
from groundswell.seismology.sources.point_sources import PointSource

SPACING, INTERVAL, SPEED = 500.0, 0.05, 2800.0  # m, s, m/s
PLANE = (0.0, 90.0)  # strike and dip, degrees


def make_tensor(points: int, samples: int) -> xarray.Dataset:
    """A random tensor of shear strains on a vertical fault."""
    rng, across = np.random.default_rng(0), max(1, int(np.sqrt(2 * points)))
    n = np.arange(points)
    along, down = n % across * SPACING, n // across * SPACING
    basis = np.tile([double_couple(*PLANE, rake) for rake in (0.0, 90.0)], (points, 1, 1))
    places = {"x": np.zeros(points), "y": along, "depth": down, "mu": np.full(points, 3e10)}
    strain = rng.standard_normal((3, points, len(SHEAR), samples), np.float32)
    return xarray.Dataset(
        {
            **{name: ("point", values) for name, values in places.items()},
            "basis": (("point", "component", "tensor"), basis),
            "strain": (("force", "point", "component", "time"), strain),
        },
        {"component": [*SHEAR], "tensor": [*TENSOR]},
        {"time_step": INTERVAL, "interval": INTERVAL, "start": 0.0, "centroid": 0.0},
    )


def make_rows(tensor: xarray.Dataset) -> SlipRows:
    """Slip of one metre at all points."""
    places = np.stack([tensor[name].values for name in ("x", "y", "depth")], axis=1).tolist()
    moment, pulse = double_couple(*PLANE, 0.0, 3e10 * SPACING**2), np.array([0.0, 1.0, 0.0])
    sources = [
        PointSource((x, y, z), moment, None, 0.0, INTERVAL, pulse, n + 1)
        for n, (x, y, z) in enumerate(places)
    ]
    return SlipRows.of(sources, PointFinder(tensor))


def make_variations(rows: SlipRows, count: int, shape: str) -> Variations:
    """Random hypocentres on the fault, rise times and slips."""
    rng = np.random.default_rng(1)
    start = rows.positions[rng.integers(len(rows.points), size=count)]
    onset = np.empty((count, len(rows.points)))
    for row, place in enumerate(start):
        onset[row] = np.linalg.norm(rows.positions - place, axis=1) / SPEED
    amplitude, rise = rng.uniform(0.5, 2, (count, 1)), rng.uniform(0.3, 2, (count, 1))
    return Variations(onset, amplitude, rise, shape)


def main() -> None:
    """Measure the synthesis and its parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variations", type=int, default=10_000)
    parser.add_argument("--points", type=int, default=1900)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--shape", default="cosine", choices=["own", *SLIP_RATES])
    parser.add_argument("--precision", default="single", choices=["single", "double"])
    parser.add_argument("--backend", default="cuda")
    args = parser.parse_args()
    backend = open_backend(args.backend)
    dtype = "float64" if args.precision == "double" else "float32"
    tensor = make_tensor(args.points, args.samples)
    rows = make_rows(tensor)
    begun = time.perf_counter()
    varied = make_variations(rows, args.variations, args.shape)
    tables = time.perf_counter()
    synthesis = Synthesis(tensor, rows, varied, backend, dtype)
    backend.synchronize()
    transformed = time.perf_counter()
    found = np.empty((args.variations, 3, args.samples), dtype)
    for chosen, block in synthesis.blocks():
        found[chosen] = block
    ended = time.perf_counter()
    times, products = synthesis.times, found.shape[0] * args.points * 3
    print(
        f"{backend.device}: {args.variations} variations x {args.points} points x 3 components x "
        f"{args.samples} samples, {args.precision}, {args.shape}"
    )
    print(
        f"{ended - begun:.3f} s: tables {tables - begun:.3f} s, transforms of the tensor "
        f"{transformed - tables:.3f} s, seismograms {ended - transformed:.3f} s"
    )
    rate = products * times.frequencies / (ended - transformed)
    print(f"{rate / 1e9:.3g} G complex products/s at {times.frequencies} frequencies")


if __name__ == "__main__":
    main()
