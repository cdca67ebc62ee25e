"""A program for several ranks: the screened Poisson operator, and multigrid, are those of one rank.

mpiexec -n 4 python poisson_program.py BACKEND TRANSPORT ROUTE SEED CASES
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from coefficients_on_ranks import check_coefficients
from components_on_ranks import check_components
from dense_spectral_elements import at_nodes, equation_of, shuffled
from halo_program import device_of
from numpy.typing import NDArray

import groundswell as gs
from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.errors import InputError, RunFailed
from groundswell.exchange import gather_scatter
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.decomposition import decompose
from groundswell.exchange.gather_scatter import GatherScatter, transfers
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.exchange.transports.peer_memory import PeerMemory
from groundswell.exchange.tuning import Choice
from groundswell.linear.cg import ConvergenceHistory
from groundswell.linear.operators import LinearOperator
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Hexahedra
from groundswell.solvers.poisson import fused_cg
from groundswell.solvers.poisson.case import MethodSection
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.element_operator import ElementOperator
from groundswell.solvers.poisson.fused_cg import FusedConjugateGradients
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.solvers.poisson.multigrid import Cycle, Multigrid
from groundswell.solvers.poisson.operator import Operator
from groundswell.spectral_elements.partition import ElementPartition
from groundswell.spectral_elements.space import FunctionSpace
from groundswell.spectral_elements.vtkhdf import LagrangeElements, to_equidistant


def random_mesh(rng: np.random.Generator) -> Hexahedra:
    """A box, periodic at times, or the same as a mesh in any arrangement; half of them are flat."""
    counts = tuple(int(n) for n in rng.integers(1, 5, 3))
    size = np.where(np.arange(3) == rng.integers(6), 0.01, 1.0)

    def bend(points: Any) -> Any:
        return size * (points + 0.1 * points[..., ::-1] ** 2)

    if rng.integers(2):
        return shuffled(Box(counts, deform=bend, order=2), rng)
    periodic = tuple(bool(p) for p in rng.integers(2, size=3))
    return Box(counts, high=tuple(size.tolist()), periodic=periodic)


def operator(
    backend: Backend, space: FunctionSpace, x: DeviceArray, y: DeviceArray
) -> LinearOperator:
    """A u."""
    return Operator(backend, space.with_exchange(Choice(**WAY)), equation_of(0.3), x, y)


def cycle(backend: Backend, space: FunctionSpace, x: DeviceArray, y: DeviceArray) -> LinearOperator:
    """What multigrid makes of u, which it does not see on sides where values are prescribed."""
    return Multigrid(backend, space, equation_of(0.3, (1, 4)), x, y, cycle=DOUBLE)


def aggregating_cycle(
    backend: Backend, space: FunctionSpace, x: DeviceArray, y: DeviceArray
) -> LinearOperator:
    """The same where each rank solves for degree 1, on its device."""
    how = replace(DOUBLE, coarse="amg")
    return Multigrid(backend, space, equation_of(0.3, (1, 4)), x, y, cycle=how)


def applied(
    backend: Backend,
    job: Communicator,
    mesh: Hexahedra,
    degree: int,
    mine: Integers,
    u: dict[int, float],
    make: Callable[..., LinearOperator],
) -> dict[int, float]:
    """What becomes of u, by id, of this rank's own; done twice, since nothing may be left over."""
    space = FunctionSpace.on(job, mesh, degree, mine)
    ids, own = space.sharing.ids, space.sharing.own
    values = np.array([u[i] if n < own else np.nan for n, i in enumerate(ids.tolist())])
    x, y = backend.zeros((len(ids),), "float64"), backend.zeros((len(ids),), "float64")
    made = make(backend, space, x, y)
    for _ in range(2):
        backend.assign(x, values)
        backend.assign(y, np.full(len(ids), np.nan))
        in_order(made.launches)()
    found = backend.to_host(y)[:own]
    made.check()
    made.close()
    return dict(zip(ids[:own].tolist(), found.tolist(), strict=True))


def check_case(
    backend: Backend,
    job: Communicator,
    rng: np.random.Generator,
    make: Callable[..., LinearOperator],
) -> bool:
    """A random mesh, dealt out at random: some ranks get little, or nothing."""
    mesh, degree = random_mesh(rng), int(rng.integers(1, 6))
    owner = rng.integers(int(rng.integers(1, job.size + 1)), size=mesh.count)
    everyone = np.arange(mesh.count)
    numbers = np.unique(mesh.ids(degree, everyone)).tolist()
    u = dict(zip(numbers, rng.standard_normal(len(numbers)).tolist(), strict=True))
    mine = everyone[owner == job.rank]
    parts = job.allgather(applied(backend, job, mesh, degree, mine, u, make))
    if not job.first:
        return True
    whole = applied(open_backend("cpu"), SerialCommunicator(), mesh, degree, everyone, u, make)
    together = {i: v for part in parts for i, v in part.items()}
    assert sum(map(len, parts)) == len(together) == len(whole)
    # A cycle's steps follow from an eigenvalue, to whose estimate rounding adds up.
    most = max(map(abs, whole.values())) * (1e-12 if make is operator else 1e-10)
    return all(abs(together[i] - v) <= most for i, v in whole.items())


def check_solution(backend: Backend, job: Communicator, **how: Any) -> None:
    """Residuals and the solution are one rank's, to rounding; sides belong to whoever has them."""
    counts, degree = (3, 4, 5), 5
    box = Box(counts, deform=lambda p: p + 0.1 * p[..., ::-1] ** 2, order=2)
    cut = decompose(counts[::-1], job.size, (False,) * 3)
    block = cut.block(job.rank)
    mine = box.block(block.start, block.shape)
    found, outcome = solved(backend, job, box, degree, mine, **how)
    if not job.first:
        return
    everyone = np.arange(box.count)
    whole, alone = solved(open_backend("cpu"), SerialCommunicator(), box, degree, everyone, **how)
    # Differences in the last bit grow from iteration to iteration.
    apart = 1 if how else 3
    assert outcome.converged and abs(outcome.iterations - alone.iterations) <= apart
    if not how:
        assert np.allclose(outcome.residuals[:40], alone.residuals[:40], rtol=1e-12, atol=0)
    # Where both end at the same iteration u is the same to rounding; else as near as the tolerance
    # and a condition of some tens leave it. Multigrid's steps follow from an estimate.
    same = outcome.iterations == alone.iterations
    near = 1e-9 if how else 1e-11 if same else 1e-7
    assert np.allclose(found, whole[mine], rtol=0, atol=near * np.abs(whole).max())


def check_ways(backend: Backend, job: Communicator) -> None:
    """The bits of a solution are the same whatever way values take between as many ranks."""
    box = Box((3, 4, 5), deform=lambda p: p + 0.1 * p[..., ::-1] ** 2, order=2)
    mine = ElementPartition.of(box, job.size).elements(job.rank)
    ways = [("auto", "auto"), (WAY["transport"], WAY["route"]), ("mpi", "crystal")]
    bits = set()
    for transport, route in ways:
        found, outcome = solved(backend, job, box, 3, mine, transport=transport, route=route)
        bits.add((found.tobytes(), outcome.residuals.tobytes()))
    assert len(bits) == 1
    with pytest.raises(InputError, match="'ether' does not exist"):
        solved(backend, job, box, 3, mine, transport="ether", route="pairwise")


def check_mean(backend: Backend, job: Communicator, mean: float, **how: Any) -> None:
    """Where any constant may be added to u; the error is what so few elements leave."""
    counts, degree = (3, 4, 5), 6
    box = Box(counts, periodic=(True, True, True))
    block = decompose(counts[::-1], job.size, (True,) * 3).block(job.rank)
    space = FunctionSpace.on(job, box, degree, box.block(block.start, block.shape))
    problem = system_on(backend, space, mean=mean, **how)
    turn = 2 * np.pi
    wave = at_nodes(lambda x, y, z: np.cos(turn * x) + np.sin(turn * z), space)
    found, outcome = problem.solve(turn**2 * wave, tolerance=1e-11)
    wanted = wave + mean
    assert outcome.converged
    assert np.allclose(found, wanted, rtol=0, atol=1e-5), np.abs(found - wanted).max()
    problem.close()


def check_fused_cg(backend: Backend, job: Communicator) -> None:
    """Residuals of fused iterations are one rank's, to rounding, and the same bits on all.

    Also where kernels wait for other ranks' sums themselves, as on GPUs; where places among
    elements' values want 64 bits, and those among shared ones would not; and where a kernel of its
    own waits for messages, as on GPUs for large ones.
    """
    counts = (3, 4, 5)
    box = Box(counts, periodic=(True, False, False))
    block = decompose(counts[::-1], job.size, (False,) * 3).block(job.rank)
    whole = residuals(open_backend("cpu"), SerialCommunicator(), box, np.arange(box.count), WAY)
    mine = box.block(block.start, block.shape)
    variants = (
        nullcontext(),
        patch.object(PeerMemory, "waits", return_value=[]),
        patch.object(fused_cg, "INDEX_LIMIT", len(mine) * 5**3),
        patch.object(transfers, "MAX_WAITING_BLOCKS", 0),
    )
    for variant in variants:
        with variant:
            found = residuals(backend, job, box, mine, WAY)
        assert len(set(job.allgather(found.tobytes()))) == 1
        assert np.allclose(found[:20], whole[:20], rtol=1e-12, atol=0), (found[:20], whole[:20])


def check_file(backend: Backend, job: Communicator) -> None:
    """What rank 0 writes has the u of all; where it cannot, all are told."""
    box = Box((2, 3, 4), deform=lambda p: p + 0.1 * p[..., ::-1] ** 2, order=2)
    tags = {"west": 1, "north": 4}
    sides = {name: {"kind": "fixed", "value": "x - y * z"} for name in tags}
    found = gs.poisson.solve(box, 4, "x * y + z", sides, sides=tags, backend=backend.name)
    with TemporaryDirectory() as folder:
        path = found.write(Path(job.bcast(folder)) / "u.vtkhdf")
        with pytest.raises(InputError, match="vtkhdf/u cannot be written"):
            found.write(path / "u")
        if not job.first:
            return
        written = LagrangeElements.read(path)
    alone, _ = solved(open_backend("cpu"), SerialCommunicator(), box, 4, np.arange(box.count))
    wanted = to_equidistant(alone[..., None], 4, 4)[..., 0]
    assert np.allclose(written.fields["u"][written.connectivity], wanted, rtol=0, atol=1e-7)


def residuals(
    backend: Backend, job: Communicator, mesh: Hexahedra, mine: Integers, way: Mapping[str, str]
) -> NDArray[np.float64]:
    """Of NekBone's problem, whose right-hand side is a wave over the ids."""
    space = FunctionSpace.on(job, mesh, 4, mine).with_exchange(Choice(**way))
    elements = ElementOperator(backend, space, Coefficients.screened(0.3), "f8")
    solver = FusedConjugateGradients(backend, elements, max_iterations=30)
    load = np.sin(0.7 * space.sharing.ids)
    load[space.sharing.own :] = np.nan  # that of others comes from these
    for tolerance in (0.1, 0):
        backend.assign(solver.b, load)
        found = solver.solve(tolerance).residuals
    solver.close()
    return found


def solved(
    backend: Backend, job: Communicator, mesh: Hexahedra, degree: int, mine: Integers, **how: Any
) -> tuple[NDArray[np.float64], ConvergenceHistory]:
    """Prescribed on two sides that meet at an edge."""
    space = FunctionSpace.on(job, mesh, degree, mine)
    problem = system_on(backend, space, fixed=(1, 4), **how)
    source, prescribed = (lambda x, y, z: x * y + z), (lambda x, y, z: x - y * z)
    result = problem.solve(at_nodes(source, space), at_nodes(prescribed, space), tolerance=1e-9)
    problem.close()
    return result


def system_on(
    backend: Backend,
    space: FunctionSpace,
    *,
    preconditioner: str = "jacobi",
    transport: str = "auto",
    route: str = "auto",
    **equation: Any,
) -> LinearSystem:
    """The system of an equation, with the fastest exchange."""
    tuned = space.autotune(backend, "float64", transport=transport, route=route)
    method = MethodSection(preconditioner=preconditioner)
    return LinearSystem(backend, tuned, equation_of(**equation), method)


def check_ranks_that_fail(backend: Backend, job: Communicator) -> None:
    """What one rank fails of all are told, and nothing stays open.

    Where all have met in a question to all, they are in step afterwards.
    """
    told = "rank {} is out of memory (no room)"
    faults = {
        told: patch.object(fused_cg, "split_elements", side_effect=MemoryError("no room")),
        "odd": patch.object(
            gather_scatter, "_require_memory", side_effect=[None, None, ValueError("odd")]
        ),
    }
    for text, fault in faults.items():
        assert failed(backend, job, fault, text) >= 2  # the operator's
        assert job.allgather(job.rank) == [*range(job.size)]
    failed(
        backend,
        job,
        patch.object(FusedConjugateGradients, "_make_rows", side_effect=MemoryError("no room")),
        told,
    )


def failed(backend: Backend, job: Communicator, fault: Any, told: str) -> int:
    """How many operations are closed of a solver that the last rank cannot make."""
    box, last = Box((2, 2, job.size)), job.size - 1
    mine = box.block((job.rank, 0, 0), (1, 2, 2))

    def build() -> LinearSystem:
        return system_on(backend, FunctionSpace.on(job, box, 2, mine), screening=1.0)

    with (
        patch.object(
            GatherScatter, "close", autospec=True, side_effect=GatherScatter.close
        ) as closed,
        fault if job.rank == last else nullcontext(),
        pytest.raises((InputError, RunFailed, ValueError)) as failure,
    ):
        job.collective_try(build)
    assert told.format(last) in str(failure.value), failure.value
    return len({id(call.args[0]) for call in closed.call_args_list})


WAY: dict[str, str] = {}
DOUBLE = Cycle(dtype="float64", coarse="direct")
CYCLES = 4  # cases with multigrid


def main() -> None:
    """Operators and cycles on random meshes, then solutions."""
    name, WAY["transport"], WAY["route"], seed, cases = sys.argv[1:6]
    job = get_communicator()
    backend = open_backend(name, device_of(job.rank) if name == "cuda" else None)
    for case in range(int(cases)):
        for make in (operator, cycle, aggregating_cycle) if case < CYCLES else (operator,):
            rng = np.random.default_rng([int(seed), case])
            assert check_case(backend, job, rng, make), (case, make)
    check_fused_cg(backend, job)
    check_ways(backend, job)
    check_solution(backend, job)
    check_solution(backend, job, preconditioner="multigrid")
    check_mean(backend, job, mean=1.5)
    check_mean(backend, job, mean=0.0, preconditioner="multigrid")
    check_coefficients(backend, job, "jacobi")
    check_coefficients(backend, job, "multigrid")
    check_components(backend, job)
    check_file(backend, job)
    check_ranks_that_fail(backend, job)  # ranks are out of step from here on
    if job.first:
        print("all cases hold")


if __name__ == "__main__":
    main()
