"""A program for several ranks: traces that are rounded or coded on their way.

    mpiexec -n 2 python traces_program.py energies FOUND.json
    mpiexec -n 3 python traces_program.py values FOUND.json

"energies" finds those of a closed box during thousands of steps, by what is sent. "values" counts
received values that are not those that were sent, rounded to the type in which they travel.
"""

from __future__ import annotations

import ctypes
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from dg_energy import energy
from dg_problems import Problem, Variant

from groundswell.backends import open_backend
from groundswell.backends.base import in_order
from groundswell.exchange.messages import Buffer
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.exchange.tuning import Choice
from groundswell.solvers.dgwave.propagation import Propagation
from groundswell.solvers.dgwave.shared_traces import SharedTraces, TraceFormat

STEPS, EVERY = 2000, 400
BOX = Variant(2, fluid=0.5, counts=(3, 3, 2))
SENT = {
    "exact single": ("float32", None, "none"),
    "bfloat16": ("float32", "bfloat16", "none"),
    "exact double": ("float64", None, "none"),
    "float32": ("float64", "float32", "none"),
    "zfp8": ("float32", None, "zfp8"),
}
WIRES = [
    ("float32", None, "none"),
    ("float32", None, "mpc"),
    ("float64", None, "mpc"),
    ("float32", "bfloat16", "none"),
    ("float64", "float32", "none"),
]


def energies(variant: Variant, dtype: str, sent_as: str | None, codec: str) -> list[float]:
    """At the start and after every EVERY steps between free and rigid faces."""
    comm, backend, problem = get_communicator(), open_backend("cpu"), Problem(variant)
    problem.reflection = np.array([-1.0, 1.0, -1.0, 1.0, 1.0, -1.0])
    found = replace(problem.discretisation(dtype, comm), sent_as=sent_as)
    propagation = Propagation(backend, comm, found, Choice("peer", codec=codec))
    numbers, u = found.elements.numbers, propagation.u
    backend.assign(u, problem.u[numbers].reshape(u.shape).astype(dtype))
    in_order(propagation.prepare)()
    step = in_order(propagation.step)

    def whole() -> Any:
        values = np.empty_like(problem.u)
        for places, part in comm.allgather((numbers, backend.to_host(u))):
            values[places] = part.reshape(len(places), *values.shape[1:])
        return values

    series = [float(energy(problem.scheme, whole()))]
    for n in range(1, STEPS + 1):
        step()
        if n % EVERY == 0:
            series.append(float(energy(problem.scheme, whole())))
    propagation.traces.close()
    return series


def wrong_values(transport: str, dtype: str, sent_as: str | None, codec: str) -> int:
    """Of two exchanges of random traces between all pairs of ranks, on this rank."""
    comm = get_communicator()
    form, choice = TraceFormat(4, 9, dtype, sent_as), Choice(transport, codec=codec)
    counts = {peer: 1 + comm.rank + peer for peer in range(comm.size) if peer != comm.rank}
    shared = SharedTraces(open_backend("cpu"), comm, counts, form, choice)
    wrong = 0
    for n in range(2):
        for launch in shared.open:
            launch()
        for (peer, count), buffer in zip(counts.items(), shared.sent, strict=True):
            view(buffer, dtype)[...] = random(n, comm.rank, peer, count, form)
        for launch in [*shared.start, *shared.finish]:
            launch()
        for (peer, count), buffer in zip(counts.items(), shared.received, strict=True):
            expected = rounded(random(n, peer, comm.rank, count, form), sent_as)
            wrong += int((view(buffer, dtype) != expected).sum())
    size = {"bfloat16": 2, "float32": 4}.get(sent_as or dtype, 8)
    assert shared.bytes == sum(counts.values()) * form.values * form.nodes * size
    assert shared.peers == list(counts) and f"{shared.bytes:,} bytes to rank" in repr(shared)
    shared.close()
    return wrong


def random(n: int, source: int, target: int, count: int, form: TraceFormat) -> Any:
    rng = np.random.default_rng([n, source, target])
    return rng.standard_normal(count * form.values * form.nodes).astype(form.dtype)


def rounded(values: Any, sent_as: str | None) -> Any:
    """To nearest, ties to even."""
    if sent_as == "bfloat16":
        bits = values.view(np.uint32)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view("f4")
    return values.astype(sent_as).astype(values.dtype) if sent_as else values


def view(buffer: Buffer, dtype: str) -> Any:
    """The values of a buffer on this host."""
    memory = (ctypes.c_char * buffer.size).from_address(buffer.address)
    return np.frombuffer(memory, dtype)


def main(what: str, path: str) -> None:
    comm = get_communicator()
    if what == "energies":
        found: Any = {name: energies(BOX, *sent) for name, sent in SENT.items()}
    else:
        transports = ("peer", "mpi", "mpi-thread")
        found = {
            f"{transport} {wire}": sum(comm.allgather(wrong_values(transport, *wire)))
            for transport in transports
            for wire in WIRES
        }
    if comm.first:
        Path(path).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
