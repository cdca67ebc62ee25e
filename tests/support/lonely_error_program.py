"""A program for three ranks, one of which makes a call that fails, or another one than the others.

    mpiexec -n 3 python lonely_error_program.py TRANSPORT WHAT

No rank may take values of a later exchange for those of the one that failed on rank 1. WHAT is the
name of a function below. Each rank prints what it finds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

from groundswell.errors import GroundswellError
from groundswell.exchange import Domain, Plan

Acts = tuple[Callable[[], Any], ...]


def array(domain: Domain, u: Any, plan: Plan) -> Acts:
    """The array of rank 1 has another shape."""
    given = np.zeros((3, 3)) if domain.rank == 1 else u
    return (lambda: domain.exchange(given)), (lambda: domain.exchange(u))


def keyword(domain: Domain, u: Any, plan: Plan) -> Acts:
    """Rank 1 gives an argument that does not exist."""
    wrong: dict[str, Any] = {"way": 1} if domain.rank == 1 else {}
    return (lambda: domain.exchange(u, **wrong)), (lambda: domain.exchange(u))


def start(domain: Domain, u: Any, plan: Plan) -> Acts:
    """Rank 1 starts a plan twice; the others run it twice."""

    (plan.start if domain.rank == 1 else plan)()
    return (plan.start if domain.rank == 1 else plan), plan


def close_plan(domain: Domain, u: Any, plan: Plan) -> Acts:
    """Rank 1 closes a plan that the others run."""
    return (plan.close if domain.rank == 1 else plan), (lambda: domain.exchange(u))


def close(domain: Domain, u: Any, plan: Plan) -> Acts:
    """Rank 1 closes the domain."""
    act = domain.close if domain.rank == 1 else (lambda: domain.exchange(u))
    return act, (lambda: domain.exchange(u))


def late(domain: Domain, u: Any, plan: Plan) -> Acts:
    """Rank 1 is late, and the others give the exchange up."""
    if domain.rank == 1:
        time.sleep(2)
    return plan, plan, plan


def alike(domain: Domain, u: Any, plan: Plan) -> Acts:
    """All ranks make the same mistakes, and go on."""
    closed = domain.plan(u)
    closed.close()
    wrong = np.zeros((3, 3))
    mistakes = (lambda: domain.exchange(wrong)), closed, plan.finish, (lambda: domain.gather(wrong))
    return (*mistakes, lambda: domain.exchange(u))


def main(transport: str, what: str) -> None:
    domain = Domain((12, 16), 1, periodic=True, processes=(3, 1), transport=transport)
    u = domain.zeros()
    domain.exchange(u)
    plan = domain.plan(u)
    begun = time.monotonic()
    for turn, act in enumerate(globals()[what](domain, u, plan)):
        domain.interior(u)[...] = 100 * turn + domain.rank
        try:
            act()
        except (GroundswellError, TypeError) as error:
            say(domain, turn, f"{type(error).__name__}: {error}")
        else:
            ghosts = u[[0, -1], 1].tolist()
            wanted = [100 * turn + (domain.rank + step) % 3 for step in (-1, 1)]
            say(domain, turn, "right" if ghosts == wanted else f"wrong: {ghosts} for {wanted}")
    assert time.monotonic() - begun < 8
    MPI.COMM_WORLD.Barrier()  # the first rank that ends with an error ends the others


def say(domain: Domain, turn: int, text: str) -> None:
    """Print a line with one call, because the outputs of ranks are mixed."""
    sys.stdout.write(f"rank {domain.rank} call {turn} {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
