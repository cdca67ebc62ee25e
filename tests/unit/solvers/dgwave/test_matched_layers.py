"""Matched layers of DG waves against their oracle, on CPUs and on GPUs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from dg_layers import Layered
from dg_problems import CLOSED, TORUS, Problem, Variant, error, poison
from dg_scheme import advanced
from emulated_backend import EmulatedBackend
from guard_page import GuardedBackend
from variants import long_variants

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.solvers.dgwave.boundaries.matched_layers import MatchedLayers
from groundswell.solvers.dgwave.kernel_shapes import KernelShape
from groundswell.solvers.dgwave.propagation import Propagation

pytestmark = pytest.mark.each_value

TOLERANCE = {"float64": 1e-13, "float32": 4e-6}
STEPS = 3
VARIANTS = [
    Variant(1, True, 1.0, CLOSED),
    Variant(2, False, 0.3, (False, True, False)),
    Variant(3, True, 0.3, TORUS, fluid=0.4),
    Variant(4, False, 1.0, CLOSED, counts=(2, 1, 2)),
    Variant(5, True, 1.0, CLOSED, counts=(2, 1, 1)),
    Variant(2, True, 1.0, TORUS, fluid=0.4, halved=0.3),
    Variant(7, True, 1.0, CLOSED, counts=(2, 1, 1)),
    Variant(3, True, 1.0, TORUS, fluid=0.4, nodal=True),
]


class LayeredProblem(Problem):
    """A random problem, some of whose elements are in matched layers along some axes."""

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant)
        rng, shape = np.random.default_rng(4), (self.forest.count, 3)
        self.inside = rng.random(shape) < 0.5
        lines = (*shape, variant.degree + 1)
        self.damping = rng.uniform(0, 1, lines) / self.dt
        self.decay = self.damping + rng.uniform(0, 0.5, lines) / self.dt

    def layers(self) -> MatchedLayers:
        """Each set has a profile of its own; profiles are in another order."""
        total = int(self.inside.sum())
        sets = np.full(self.inside.shape, -1, np.int32)
        sets[self.inside] = np.arange(total)
        rows = np.random.default_rng(5).permutation(total).astype(np.int32)
        profiles = np.empty((total, 2, self.variant.degree + 1))
        profiles[rows] = np.stack([self.damping[self.inside], self.decay[self.inside]], axis=1)
        return MatchedLayers(sets, np.arange(total), total, rows, profiles)

    def fields_after(self, backend: Backend, dtype: str, shape: KernelShape | None) -> Any:
        """The fields after STEPS steps of the solver."""
        problem = replace(self.discretisation(dtype), layers=self.layers())
        found = Propagation(backend, SerialCommunicator(), problem, shape=shape)
        poison(backend, found)
        backend.assign(found.u, self.u.reshape(found.u.shape).astype(dtype))
        in_order(found.prepare)()
        for _ in range(STEPS):
            in_order(found.step)()
        backend.synchronize()
        return backend.to_host(found.u).reshape(self.u.shape)

    def oracle(self) -> Floats:
        """The fields that it should find."""
        layered = Layered(self.scheme, self.inside, self.damping, self.decay)
        psi = np.zeros((self.forest.count, 3, 2, 3, *self.u.shape[2:]))

        def rates(state: Floats, t: float) -> Floats:
            u, memory = state[: self.u.size], state[self.u.size :]
            found = layered.rates(u.reshape(self.u.shape), memory.reshape(psi.shape))
            return np.concatenate([part.ravel() for part in found])

        start = np.concatenate([self.u.ravel(), psi.ravel()])
        return advanced(rates, start, self.dt, STEPS)[: self.u.size].reshape(self.u.shape)


def check(backend: Backend, variant: Variant, dtype: str, shape: KernelShape | None = None) -> None:
    problem = LayeredProblem(variant)
    expected = problem.oracle()
    assert error(Problem.expected(problem, STEPS)[:, : problem.u.shape[1]], expected) > 1e-3
    assert error(problem.fields_after(backend, dtype, shape), expected) < TOLERANCE[dtype]


@pytest.mark.most(4)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_layers_are_those_of_the_scheme(variant: Variant, dtype: str) -> None:
    check(GuardedBackend(), variant, dtype)


@pytest.mark.parametrize(
    ("variant", "shape"),
    [
        (VARIANTS[1], KernelShape(2, elements=5)),
        *long_variants(
            [
                (VARIANTS[2], KernelShape(2)),
                (VARIANTS[5], KernelShape(2, in_shared=False)),
            ]
        ),
    ],
    ids=str,
)
def test_blocks_of_a_gpu_advance_layers(variant: Variant, shape: KernelShape) -> None:
    check(EmulatedBackend(), variant, "float64", shape)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_layers_on_a_gpu(gpu: Any, variant: Variant, dtype: str) -> None:
    check(gpu, variant, dtype)
