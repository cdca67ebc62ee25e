"""A program for several ranks: buffers that launches fill and read, of random messages.

    mpiexec -n 4 python buffers_program.py BACKEND TRANSPORT SEED CASES

Face traces are exchanged so: a kernel stores what a neighbour needs straight in its buffer. Every
byte of a message follows from its sender, receiver, tag and turn.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import product
from typing import Any

import numpy as np
from halo_program import device_of

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import connect
from groundswell.exchange.messages import Message, TransferRequest
from groundswell.exchange.mpi_communicator import get_communicator

TURNS = 5


def random_sizes(ranks: int, rng: np.random.Generator) -> dict[tuple[int, int, int], int]:
    """Bytes by sender, receiver and tag; a rank may send to itself, or nothing."""
    pairs = product(range(ranks), range(ranks), range(2))
    sizes = rng.choice([0, 128, 1024, 128 * 1000], 2 * ranks**2)
    return {pair: int(size) for pair, size in zip(pairs, sizes, strict=True)}


def content(sender: int, receiver: int, tag: int, turn: int, size: int) -> Any:
    """The bytes of a message."""
    return np.random.default_rng((sender, receiver, tag, turn)).integers(0, 256, size, np.uint8)


def check_case(
    backend: Backend, job: Communicator, transport: str, rng: np.random.Generator
) -> None:
    """Messages between random pairs of ranks, exchanged several times."""
    sizes, here = random_sizes(job.size, rng), job.rank
    ends = [(peer, tag) for peer in range(job.size) for tag in range(2)]
    ends = [(p, t) for p, t in ends if sizes[here, p, t] or sizes[p, here, t]]
    messages = [Message(p, t, sizes[here, p, t], sizes[p, here, t]) for p, t in ends]
    exchange = connect(TransferRequest(backend, job, messages, fixed_buffers=True), transport)
    sources = [backend.zeros((max(m.send_bytes, 1),), np.uint8) for m in messages]
    targets = [backend.zeros((max(m.receive_bytes, 1),), np.uint8) for m in messages]
    address, copy = backend.address, backend.copy_bytes
    store = [
        copy(buffer.address, address(source), buffer.size)
        for buffer, source in zip(exchange.sent, sources, strict=True)
        if buffer.size
    ]
    read = [
        copy(address(target), buffer.address, m.receive_bytes)
        for buffer, target, m in zip(exchange.received, targets, messages, strict=True)
        if m.receive_bytes
    ]
    step = in_order([*exchange.open, *store, *exchange.start, *exchange.finish, *read])
    for turn in range(TURNS):
        for m, source, target in zip(messages, sources, targets, strict=True):
            backend.assign(source[: m.send_bytes], content(here, m.peer, m.tag, turn, m.send_bytes))
            backend.assign(target, np.full(target.shape, 7, np.uint8))
        time.sleep(0.01 * float(np.random.default_rng((here, turn)).random()))
        step()
        backend.synchronize()
        exchange.check()
        for m, target in zip(messages, targets, strict=True):
            expected = content(m.peer, here, m.tag, turn, m.receive_bytes)
            found = backend.to_host(target)[: m.receive_bytes]
            assert np.array_equal(found, expected), (here, m, turn)
    exchange.close()


def main() -> None:
    """Run the cases that the command line asks for."""
    name, transport, seed, cases = sys.argv[1:5]
    if "+" in transport:  # two hosts, as far as the ranks can tell
        os.environ["GROUNDSWELL_HOST"] = f"host{int(os.environ['OMPI_COMM_WORLD_RANK']) % 2}"
    job = get_communicator()
    backend = open_backend(name, device_of(job.rank) if name == "cuda" else None)
    rng = np.random.default_rng(int(seed))
    for _ in range(int(cases)):
        check_case(backend, job, transport, rng)
    if job.first:
        print("all cases hold")


if __name__ == "__main__":
    main()
