"""Effect of rounded traces between ranks on seismograms of a pulse that crosses all ranks."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.backends.base import in_order
from groundswell.bench import Session
from groundswell.bench.rig import Rig
from groundswell.bench.tables import Row
from groundswell.exchange.tuning import Choice
from groundswell.meshes.gll import gll
from groundswell.solvers.dgwave.benchmarks.problems import EDGE, Configuration
from groundswell.solvers.dgwave.benchmarks.ranks import fastest, shared_problem
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.solvers.dgwave.propagation import Propagation

NARROW = {"double": "float32", "single": "bfloat16"}
WIDTH = 1.2 * EDGE  # width of the pulse, m
STEPS, EVERY = 300, 3  # number of steps, and steps per sample
REACHED = 1e-3  # of the largest norm of an element's velocity; the pulse has not reached the others


def measure_rounding(session: Session) -> Iterator[Row]:
    """Compare seismograms with rounded traces and with exact traces.

    Yields:
        Rows: `configuration`, `precision`, `sent_as`, `transport`, `sent_bytes`: most bytes that a
        rank sends per stage, `exact_bytes`: the same for exact traces, `difference`: L2 norm of the
        difference of velocity at one node per element, relative to the norm of the velocity, and
        `worst`: the largest such ratio of a single element that the pulse reaches.
    """
    rig, cells = session.rig, session.sizes.shared
    for precision, sent_as in NARROW.items():
        configuration = Configuration("elastic", "Riemann", precision)
        problem = shared_problem(rig.comm, cells, configuration)
        transport = fastest(rig.transports)
        found = rig.attempt(transport, partial(_compared, rig, problem, sent_as, transport))
        if found:
            yield {**configuration.row, "sent_as": sent_as, "transport": transport, **found}


def _compared(rig: Rig, problem: Discretisation, sent_as: str, transport: str) -> Row:
    exact, exact_bytes = _seismograms(rig, problem, transport)
    rounded, sent_bytes = _seismograms(rig, replace(problem, sent_as=sent_as), transport)
    axes = (0, 2)  # samples and components
    parts = [((rounded - exact) ** 2).sum(axis=axes), (exact**2).sum(axis=axes)]
    errors, squares = np.concatenate(rig.comm.allgather(np.stack(parts)), axis=1)
    reached = squares >= REACHED**2 * squares.max()
    return {
        "sent_bytes": sent_bytes,
        "exact_bytes": exact_bytes,
        "difference": float(np.sqrt(errors.sum() / squares.sum())),
        "worst": float(np.sqrt(errors[reached] / squares[reached]).max()),
    }


def _seismograms(rig: Rig, problem: Discretisation, transport: str) -> tuple[Floats, int]:
    """Velocities of a node of each element, (samples, elements, 3), and bytes sent per stage."""
    gc.collect()
    backend = rig.backend
    propagation = Propagation(backend, rig.comm, problem, Choice(transport))
    with rig.holding(propagation):
        backend.assign(propagation.u, _pulse(problem))
        in_order(propagation.prepare)()
        graph = backend.capture(in_order(propagation.step), in_graph=propagation.traces.in_graph)
        node = problem.nodes // 2
        samples = []
        for _ in range(STEPS // EVERY):
            graph.replay(EVERY)
            samples.append(backend.to_host(propagation.u[:, -3:, node]).astype(float))
        sent = max(rig.comm.allgather(propagation.traces.bytes_sent))
        propagation.traces.check()
        propagation.traces.close()
    return np.array(samples), sent


def _pulse(problem: Discretisation) -> HostArray:
    """Initial fields, (elements, fields, nodes): a velocity pulse at the centre of the box."""
    lower, upper = problem.elements.forest.boxes(problem.elements.numbers)
    points = (gll(problem.degree).points + 1) / 2
    middle = np.mean(problem.elements.forest.boxes(), axis=(0, 1))
    places = lower[..., None] + (upper - lower)[..., None] * points - middle[:, None]
    x, y, z = np.moveaxis(np.exp(-((places / WIDTH) ** 2)), 1, 0)
    shape = np.einsum("ei,ej,ek->ekji", x, y, z).reshape(len(lower), -1)
    u = np.zeros((len(lower), len(problem.equations.fields), problem.nodes))
    u[:, -3:] = shape[:, None] * np.array([1.0, -0.5, 0.7])[:, None]
    return u.astype(problem.dtype)
