"""Conjugate gradients on cubes of elements, for chosen degrees and sizes, on any number of ranks.

    python benchmarks/poisson_iterations.py 7:8,20,48 15:22 3:110
    mpiexec -n 2 python benchmarks/poisson_iterations.py 7:8,48

Prints a line for each degree, edge of a rank's cube and metric once it is measured; of several
ranks also how fast the largest cubes are beside those of each rank by itself, all at once.
`groundswell bench poisson` measures many more, and takes minutes.
"""

from __future__ import annotations

import argparse

from groundswell.bench import Session, fastest
from groundswell.bench.tables import Row
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.devices import open_device
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.solvers.poisson.benchmarks import Sizes
from groundswell.solvers.poisson.benchmarks.speed import measure_iterations, measure_weak


def main() -> None:
    """Every size of every degree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="+", type=parsed, metavar="DEGREE:EDGE,EDGE,...")
    parser.add_argument("--backend", choices=("cuda", "cpu"))
    chosen = parser.parse_args()
    job = get_communicator()
    backend = open_device(chosen.backend, job) if chosen.backend else fastest(job)
    bandwidth = sum(job.allgather(backend.measure_bandwidth()))
    rows: list[Row] = []
    sizes = Sizes(stream=0, dofs=0, degrees=(), edges=dict(chosen.sizes), bakeoff=())
    measured = {"bandwidth": bandwidth, "iterations": rows}
    session = Session(backend, job, sizes, measured=measured)
    for row in measure_iterations(session):
        rows.append(row)
        tell(job, row, bandwidth)
    for row in measure_weak(session) if job.size > 1 else ():
        if job.first:
            print(f"{named(job, row)}: {100 * row['efficiency']:.1f} % of alone", flush=True)


def tell(job: Communicator, row: Row, bandwidth: float) -> None:
    """One line on the first rank."""
    if job.first:
        speed = f"{row['throughput'] / 1e9:.2f} GDOF/s a rank, FOM {row['fom']:.0f}"
        share = f"{100 * row['share']:.0f} % of {bandwidth / 1e9:.0f} GB/s"
        print(f"{named(job, row)}: {1e3 * row['seconds']:.4f} ms, {speed}, {share}", flush=True)


def named(job: Communicator, row: Row) -> str:
    """What was measured."""
    return f"N = {row['degree']}, {row['edge']}^3 each of {job.size}, {row['metric']}"


def parsed(size: str) -> tuple[int, list[int]]:
    """A degree, and its edges."""
    degree, edges = size.split(":")
    return int(degree), [int(edge) for edge in edges.split(",")]


if __name__ == "__main__":
    main()
