"""A program for several ranks: the screened Poisson operator is that of one rank, to rounding.

mpiexec -n 4 python poisson_program.py BACKEND TRANSPORT ROUTE SEED CASES
"""

from __future__ import annotations

import sys

import numpy as np
from halo_program import device_of
from numpy.typing import NDArray
from sem import shuffled

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.exchange.decomposition import decompose
from groundswell.exchange.world import Alone, World, world
from groundswell.grids.box import Box
from groundswell.grids.hexahedra import Hexahedra, Numbers
from groundswell.linear.cg import Outcome
from groundswell.solvers.poisson.operator import Operator, Space
from groundswell.solvers.poisson.solver import Poisson


def random_mesh(rng: np.random.Generator) -> Hexahedra:
    """A box, periodic at times, or the same as a mesh in any arrangement."""
    counts = tuple(int(n) for n in rng.integers(1, 5, 3))
    if rng.integers(2):
        return shuffled(Box(counts, deform=lambda p: p + 0.1 * p[..., ::-1] ** 2, order=2), rng)
    return Box(counts, periodic=tuple(bool(p) for p in rng.integers(2, size=3)))


def applied(
    backend: Backend, job: World, mesh: Hexahedra, degree: int, mine: Numbers, u: dict[int, float]
) -> dict[int, float]:
    """A u, by id, of what this rank owns; applied twice, since nothing may be left over."""
    space = Space.on(job, mesh, degree, mine)
    ids, own = space.sharing.ids, space.sharing.own
    values = np.array([u[i] if n < own else np.nan for n, i in enumerate(ids.tolist())])
    x, y = backend.zeros((len(ids),), "float64"), backend.zeros((len(ids),), "float64")
    operator = Operator(backend, job, space, 0.3, x, y, **WAY)
    for _ in range(2):
        backend.assign(x, values)
        backend.assign(y, np.full(len(ids), np.nan))
        in_order(operator.launches)()
    found = backend.to_host(y)[:own]
    operator.check()
    operator.close()
    return dict(zip(ids[:own].tolist(), found.tolist(), strict=True))


def check_solution(backend: Backend, job: World) -> None:
    """Residuals and the solution are one rank's, to rounding; sides belong to whoever has them."""
    counts, degree = (3, 4, 5), 5
    box = Box(counts, deform=lambda p: p + 0.1 * p[..., ::-1] ** 2, order=2)
    cut = decompose(counts[::-1], job.size, (False,) * 3)
    block = cut.block(job.rank)
    mine = box.block(block.start, block.shape)
    found, outcome = solved(backend, job, box, degree, mine)
    if not job.first:
        return
    whole, alone = solved(open_backend("cpu"), Alone(), box, degree, np.arange(box.count))
    assert outcome.converged and abs(outcome.iterations - alone.iterations) <= 3
    # Differences in the last bit grow from iteration to iteration.
    assert np.allclose(outcome.residuals[:40], alone.residuals[:40], rtol=1e-12)
    assert np.allclose(found, whole[mine], rtol=0, atol=1e-9 * np.abs(whole).max())


def solved(
    backend: Backend, job: World, mesh: Hexahedra, degree: int, mine: Numbers
) -> tuple[NDArray[np.float64], Outcome]:
    """Prescribed on two sides that meet at an edge."""
    problem = Poisson(backend, job, mesh, degree, mine, fixed=(1, 4))
    result = problem.solve(lambda x, y, z: x * y + z, lambda x, y, z: x - y * z, tolerance=1e-9)
    problem.close()
    return result


WAY: dict[str, str] = {}


def main() -> None:
    """Random meshes, dealt out at random: some ranks get little, or nothing."""
    name, WAY["transport"], WAY["route"], seed, cases = sys.argv[1:6]
    job = world()
    backend = open_backend(name, device_of(job.rank) if name == "cuda" else None)
    for case in range(int(cases)):
        rng = np.random.default_rng([int(seed), case])
        mesh, degree = random_mesh(rng), int(rng.integers(1, 6))
        owner = rng.integers(int(rng.integers(1, job.size + 1)), size=mesh.count)
        everyone = np.arange(mesh.count)
        numbers = np.unique(mesh.ids(degree, everyone)).tolist()
        u = dict(zip(numbers, rng.standard_normal(len(numbers)).tolist(), strict=True))
        parts = job.share(applied(backend, job, mesh, degree, everyone[owner == job.rank], u))
        whole = (
            applied(open_backend("cpu"), Alone(), mesh, degree, everyone, u) if job.first else {}
        )
        together = {i: v for part in parts for i, v in part.items()}
        if job.first:
            assert sum(map(len, parts)) == len(together) == len(whole)
            most = max(map(abs, whole.values()))
            assert all(abs(together[i] - v) <= 1e-12 * most for i, v in whole.items()), case
    check_solution(backend, job)
    if job.first:
        print("all cases hold")


if __name__ == "__main__":
    main()
