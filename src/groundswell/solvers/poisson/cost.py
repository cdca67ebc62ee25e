"""What a solution costs: memory, traffic and the size of its results."""

from __future__ import annotations

import numpy as np

from groundswell.linear.coarse import cycle_bytes, factor_bytes
from groundswell.meshes.box import Box
from groundswell.simulation.solver import Cost, DecompositionSummary
from groundswell.solvers.poisson.case_in_time import split_case
from groundswell.solvers.poisson.memory import DOUBLE, SINGLE, MemoryEstimate
from groundswell.solvers.poisson.roofline import MemoryTraffic
from groundswell.solvers.poisson.setup import Setup
from groundswell.solvers.poisson.step_history import StepRow
from groundswell.solvers.poisson.time_scheme import KEPT, Scheme

HOST_ARRAYS = 1  # of steps in time: weights
STEP_VECTORS = 6  # u, base, residual, product, inertia and indices


def estimate(setup: Setup) -> Cost:
    """The cost on one rank; an update is an unknown's iteration, without its preconditioner."""
    memory = _memory(setup, setup.mesh.count, first=True)
    return Cost(setup.unknowns, _bytes_per_update(setup), memory, _files(setup))


def decompose(setup: Setup, ranks: int) -> DecompositionSummary:
    """The decomposition for this number of ranks.

    Raises:
        InputError: there are fewer elements than ranks.
    """
    partition, size = setup.partition(ranks), np.dtype(setup.dtype).itemsize
    return DecompositionSummary(
        ranks=ranks,
        processes=partition.processes,
        largest_block=partition.largest,
        updates_per_step=-(-setup.unknowns * int(partition.counts.max()) // setup.mesh.count),
        memory=[_memory(setup, int(n), first=not r) for r, n in enumerate(partition.counts)],
        traffic=size * partition.shared_nodes(setup.degree),
    )


def _bytes_per_update(setup: Setup) -> float:
    """Least traffic per unknown and iteration, without a preconditioner."""
    nodes, size = setup.mesh.count * setup.element_nodes, np.dtype(setup.dtype).itemsize
    return MemoryTraffic(setup.unknowns, nodes, size, setup.factors).iteration / setup.unknowns


def _memory(setup: Setup, elements: int, *, first: bool = False) -> int:
    """Bytes for this number of elements; on a CPU including those of the host.

    Args:
        first: whether they are on rank 0, which solves multigrid's coarsest system.
    """
    coarsest = setup.mesh.count * (first and setup.has_multigrid)
    by_degree = setup.unknowns_of
    on_cpu = setup.case.run.backend == "cpu"
    factored = factor_bytes(by_degree[1], on_host=on_cpu) if coarsest else 0
    size = DOUBLE if setup.has_flat_elements else SINGLE
    cycled = cycle_bytes(by_degree[1], size, on_host=on_cpu) if setup.has_multigrid else 0
    nodes = [elements * (degree + 1) ** 3 for degree in by_degree]
    unknowns = [-(-count * elements // setup.mesh.count) for count in by_degree.values()]
    estimate = MemoryEstimate(
        *(elements, nodes, unknowns, _device_factors(setup)),
        multigrid=setup.has_multigrid,
        coarsest=coarsest,
        coarsest_factors=factored,
        flat=setup.has_flat_elements,
        coefficients=setup.varying_coefficients,
    )
    on_host = estimate.host if on_cpu else 0
    of_time = _memory_of_time(setup, elements, on_host=on_cpu)
    return estimate.device(np.dtype(setup.dtype).itemsize) + cycled + on_host + of_time


def _memory_of_time(setup: Setup, elements: int, *, on_host: bool) -> int:
    """Bytes of earlier values, a step's vectors, tables of steps and, on a CPU, inertia."""
    if setup.case.time is None:
        return 0
    nodes = (KEPT + HOST_ARRAYS * on_host) * elements * setup.element_nodes
    unknowns = -(-setup.unknowns * elements // setup.mesh.count)
    flows = 2 * (len(setup.case.boundaries) + 1) + 2  # numbers of a step, see FlowHistory
    rows = setup.steps * (len(StepRow._fields) + flows)
    return DOUBLE * (nodes + unknowns * _step_vectors(setup) + rows)


def _step_vectors(setup: Setup) -> int:
    """Assembled vectors of steps in time: also of Runge-Kutta stages, and of functions of time."""
    parts, rest = split_case(setup.case)
    terms, varies = len(parts) + (rest is not None), setup.case.depends_on_time
    stages = len(Scheme.of(setup.time.order).stages) * (setup.time.order > 1)
    return STEP_VECTORS + stages + 2 * (terms + varies)


def _device_factors(setup: Setup) -> int:
    """Values stored for each node on the device; straight edges need no factors on a GPU."""
    if isinstance(setup.mesh, Box) and setup.mesh.deform is None:
        return setup.factors_of("affine")
    is_straight = setup.mesh.order == 1 and setup.case.run.backend == "cuda"
    return setup.factors_of("straight" if is_straight else "stored")


def _files(setup: Setup) -> int:
    """Bytes of the records, and of the solution: connectivity, positions, values."""
    records = setup.recording.file_bytes(setup.records, setup.steps)
    if not setup.case.output.fields:
        return records
    values = 3 + 1 + (setup.case.equation.exact is not None)
    return records + 8 * (setup.mesh.count * setup.element_nodes + values * setup.unknowns)
