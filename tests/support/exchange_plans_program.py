"""A program for several ranks: plans that cannot be made on one rank, shared ones, and codecs.

    mpiexec -n 2 python exchange_plans_program.py fail|share|codec|exit

The arrays of the ranks differ in alignment and strides.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from array_layouts import elsewhere

from groundswell.errors import GroundswellError, InputError
from groundswell.exchange import Domain, Field
from groundswell.exchange.connect import TRANSPORTS
from groundswell.exchange.transfer import BufferedTransfer
from groundswell.exchange.transports.mpi import StagedMpiTransport

NAMES = ("mpi", "mpi-thread", "peer", "staged", "mpi+peer")


def fail() -> None:
    """Rank 1 has a field of a packed structure, which cannot be converted on its way."""
    domain = Domain((16, 12), 1, periodic=True)
    u = domain.zeros("float32")
    packed = np.zeros(domain.local_shape, np.dtype([("flag", "i1"), ("u", "f4")]))["u"]
    given = packed if domain.rank == 1 else u
    for name in NAMES:
        for poison in (False, True):
            try:
                domain.plan(Field(given, sent_as="float16"), transport=name, poison=poison)
            except InputError as error:
                assert "allowed are multiples of" in str(error), error
            else:
                raise AssertionError(f"{name}: no error on rank {domain.rank}")
        with domain.plan(Field(u, sent_as="float16"), transport=name) as plan:
            plan()
    assert not domain._plans or all(plan.closed for plan in domain._plans)


def share() -> None:
    """A plan that is bound to other arrays, of other layouts on other ranks."""
    for name in NAMES:
        for aggregate, codec in ((True, "none"), (False, "none"), (True, "mpc")):
            options: dict[str, Any] = {"aggregate": aggregate, "codec": codec}
            domain = Domain((24, 26), 2, periodic=True, transport=name, **options)
            rng = np.random.default_rng(domain.rank)
            z, x = domain.indices(ghosts=True)
            expected = (z % 24) * 100 + x % 26
            for step in range(25):
                arrays = [elsewhere(domain.local_shape, rng) for _ in range(2)]
                for n, array in enumerate(arrays):
                    domain.interior(array)[...] = expected[domain.own] + 3 * n + step
                domain.exchange(*arrays)
                for n, array in enumerate(arrays):
                    assert np.array_equal(array, expected + 3 * n + step), (name, codec, step)
            assert len(domain._cached) == 1
            domain.close()


def codec() -> None:
    """Strides along an axis of length 1 do not make an array another one."""
    domain = Domain((1, 16), ((0, 0), (1, 1)), periodic=True, codec="zfp16", processes=(1, 0))
    many = np.ones((3, domain.local_shape[1]))
    for array in (many[:1], many[::3]):
        array[:, [0, -1]] = 0
        domain.exchange(array)
        assert np.allclose(array, 1, rtol=1e-2)


def end_early() -> None:
    """Rank 1 ends. The others wait for its permission to store, in a kernel on GPUs."""
    domain = Domain((32, 32), 1, periodic=True, codec="zfp16", transport="peer")
    u = domain.zeros()
    domain.exchange(u)
    if domain.rank == 1:
        sys.exit(0)
    begun = time.monotonic()
    try:
        for _ in range(3):
            domain.exchange(u)
    except GroundswellError:
        print(f"noticed after {time.monotonic() - begun:.1f} s", flush=True)
        raise


CHECKS = {"fail": fail, "share": share, "codec": codec, "exit": end_early}

STAGED = {"staged": partial(BufferedTransfer, transport=StagedMpiTransport)}

if __name__ == "__main__":
    with patch.dict(TRANSPORTS["cpu"], STAGED):
        CHECKS[sys.argv[1]]()
    print("all holds", flush=True)
