"""The earthquake step and its hot kernels under other sizes and GPU blocks than the bench's.

    python benchmarks/earthquake_kernels.py --cells 160 160 2048 --blocks 32x4x2 64x4x1

Prints one line a variant; `groundswell bench earthquake` makes the tables.
"""

from __future__ import annotations

import argparse
from unittest.mock import patch

from groundswell.backends import cuda_module, open_backend
from groundswell.solvers.earthquake.benchmarks.throughput import Variant, measure_variant


def main() -> None:
    """Measure every variant that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, nargs=3, default=[160, 160, 2048])
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--precision", default="single")
    parser.add_argument("--sides", default="pml", choices=["pml", "sponge", "periodic"])
    parser.add_argument("--width", type=int, default=10)
    parser.add_argument("--elastic", action="store_true")
    parser.add_argument("--memory", default="full", choices=["full", "half"])
    parser.add_argument("--materials", default="cells", choices=["cells", "classes"])
    parser.add_argument("--blocks", nargs="*", help="blocks of GPU threads to try: 32x4x2 ...")
    parser.add_argument("--times", type=int, help="launches in one timed run")
    args = parser.parse_args()
    backend = open_backend(args.backend)
    bandwidth = backend.measure_bandwidth()
    storage = f"memory {args.memory}, materials {args.materials}"
    print(
        f"{backend.device}: {bandwidth / 1e9:.0f} GB/s, {args.cells}, {args.precision}, {storage}"
    )
    nx, ny, nz = args.cells
    variant = Variant(
        *("", (nx, ny, nz), not args.elastic, args.precision, args.sides, args.width),
        *(args.memory, args.materials),
    )
    for block in args.blocks or ["x".join(map(str, cuda_module.CELL_BLOCK))]:
        with patch.object(cuda_module, "CELL_BLOCK", tuple(map(int, block.split("x")))):
            row = measure_variant(backend, variant, bandwidth, args.times)
        velocity, stress = row["kernels"].values()
        print(
            f"{block:>10}: step {row['milliseconds']:.4f} ms {row['MLUPS']:8.0f} MLUPS"
            f" {row['share']:.1%}; velocity {velocity['milliseconds']:.4f} ms"
            f" {velocity['share']:.1%}; stress {stress['milliseconds']:.4f} ms"
            f" {stress['share']:.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
