"""A program for several ranks: ghost layers whose messages are coded.

    mpiexec -n 4 python codec_program.py BACKEND TRANSPORT CODEC SEED CASES

Without loss every ghost is its owner's value, bit by bit; with it, nearly so.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
from halo_oracle import after, before, needed, random_cut, random_ghosts
from halo_program import device_of, other_array
from numpy.typing import NDArray

from groundswell.backends import Backend, open_backend
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.mpi_communicator import get_communicator

MARGIN = 3
# Largest error, over the largest value: a block of four has bits for its exponent and for steps.
BOUNDS = {"zfp8": 0.5, "zfp16": 2e-3, "zfp24": 2e-5}


def whole_field(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """Waves, or noise with all that floating-point numbers can be."""
    if rng.integers(2):
        phase = sum(np.ix_(*(rng.uniform(0.1, 1) * np.arange(n) for n in shape)))
        return np.asarray(np.sin(phase), dtype)
    values = rng.standard_normal(shape).astype(dtype)
    values[rng.random(shape) < 0.3] = 0.0
    values[rng.random(shape) < 0.1] = -0.0
    values[rng.random(shape) < 0.1] *= 1e-30
    return values


def check_case(
    backend: Backend, job: Communicator, how: dict[str, str], rng: np.random.Generator
) -> None:
    """One random decomposition with several fields, exchanged three times."""
    cut = random_cut(rng, job.size, longest=40)
    dtype, bound = str(rng.choice(["float32", "float64"])), BOUNDS.get(how["codec"], 0.0)
    wholes = [whole_field(rng, cut.shape, dtype) for _ in range(int(rng.integers(1, 4)))]
    ghosts = [random_ghosts(rng, len(cut.shape)) for _ in wholes]
    arrays = [backend.zeros(before(w, cut, job.rank, MARGIN).shape, dtype) for w in wholes]
    origin = (MARGIN,) * len(cut.shape)
    fields = [GhostField(a, origin, g) for a, g in zip(arrays, ghosts, strict=True)]
    choices = {"aggregate": bool(rng.integers(2)), "sweeps": not bound and bool(rng.integers(2))}
    halo = HaloExchange(backend, job, cut, fields, **how, **choices)
    assert halo.path.startswith(how["codec"]) or job.size == 1
    for turn in range(3):
        for array, whole in zip(arrays, wholes, strict=True):
            backend.assign(array, before(whole * (turn + 1), cut, job.rank, MARGIN))
        halo()
        backend.synchronize()
        halo.check()
        for array, whole, layers in zip(arrays, wholes, ghosts, strict=True):
            found = backend.to_host(array)
            expected = after(whole * (turn + 1), cut, job.rank, layers, MARGIN)
            if bound == 0:
                assert found.tobytes() == expected.tobytes(), (job.rank, cut, layers, turn)
            else:
                where = needed(cut, job.rank, layers, MARGIN)
                assert np.array_equal(found[~where], expected[~where])
                most = bound * np.abs(whole * (turn + 1)).max()
                assert np.abs(found - expected).max() <= most, (cut, layers, turn)
        arrays = [other_array(backend, array, rng) for array in arrays]
        fields = [replace(f, array=array) for f, array in zip(fields, arrays, strict=True)]
        halo.bind(fields)
    halo.close()
    job.allgather(None)


def main() -> None:
    """Run the cases that the command line asks for."""
    name, transport, codec, seed, cases = sys.argv[1:6]
    job = get_communicator()
    backend = open_backend(name, device_of(job.rank) if name == "cuda" else None)
    rng = np.random.default_rng(int(seed))
    for _ in range(int(cases)):
        check_case(backend, job, {"transport": transport, "codec": codec}, rng)
    if job.first:
        print("all cases hold")


if __name__ == "__main__":
    main()
