"""Bytes that the operator reads with each kind of coefficients, counted on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from counting_backend import Counted
from dense_spectral_elements import space_on

from groundswell.meshes.box import Box
from groundswell.solvers.poisson.coefficients import TENSOR as ENTRIES
from groundswell.solvers.poisson.element_operator import ElementOperator
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.roofline import INDEX
from groundswell.spectral_elements.given_fields import FieldsByMaterial, GivenValues

DEGREE, NODES, COUNT = 5, 216, 8
NUMBER = 2.5


def bent(points: Any) -> Any:
    return points + 0.1 * points[..., ::-1] * points[..., [1, 2, 0]]


SHEAR = np.array([[1.0, 0.2, 0.0], [0.1, 0.8, -0.3], [0.0, 0.2, 1.3]])
MESHES = {
    "affine": Box((2, 2, 2), deform=lambda p: p @ SHEAR, order=1),
    "straight": Box((2, 2, 2), deform=bent, order=1),
    "stored": Box((2, 2, 2), deform=bent, order=2),
}


def varying(x: Any, y: Any, z: Any) -> Any:
    return 1.5 + np.sin(3 * x) * np.cos(2 * y + z)


AT_NODES = GivenValues(np.random.default_rng(4).uniform(1, 2, (COUNT, NODES)))
OF_ELEMENTS = GivenValues(np.random.default_rng(5).uniform(1, 2, COUNT))
MATERIALS = FieldsByMaterial(np.arange(COUNT) % 2, [1.0, 1e6])
TENSOR = tuple(varying if a == b else 0.1 for a, b in ENTRIES)


class Recording(Counted):
    """Also keeps the constants of the kernels that it compiles."""

    def __init__(self) -> None:
        super().__init__()
        self.constants: list[dict[str, Any]] = []

    def compile(self, source: Any) -> Any:
        self.constants.append(dict(source.constants))
        return super().compile(source)


def cost(metric: str, k: Any, c: Any = 0.0) -> tuple[int, dict[str, Any]]:
    """Bytes of geometry and coefficients that the operator reads, and its kernel's constants."""
    space, backend = space_on(MESHES[metric], DEGREE), Recording()
    coefficients = Equation(screening=c, conductivity=k).on(space).coefficients
    elements = ElementOperator(backend, space, coefficients, "f8", metric=metric)
    held = backend.now
    x, y = np.zeros(space.size), np.zeros(space.dofs.size)
    (launch,) = elements.launches(np.arange(COUNT), x, y, np.zeros(elements.blocks(range(COUNT))))
    assert launch is not None
    return held - space.dofs.size * INDEX, backend.constants[-1]


def variable(constants: dict[str, Any]) -> dict[str, Any]:
    """The constants of a kernel that decide what it does: not the numbers k and c themselves."""
    return {name: value for name, value in constants.items() if name not in ("LAMBDA", "UNIT")}


@pytest.mark.parametrize("c", [0.0, NUMBER])
@pytest.mark.parametrize("metric", MESHES)
def test_constant_coefficients_cost_nothing(metric: str, c: float) -> None:
    """Neither bytes nor work: a number k gives the kernel of k = 1, with other constants."""
    one, number = cost(metric, 1.0, c), cost(metric, NUMBER, c)
    assert one[0] == number[0]
    assert variable(one[1]) == variable(number[1])
    least = {"affine": 7, "straight": 21, "stored": NODES * (6 + bool(c))}[metric]
    assert one[0] == 8 * COUNT * least


@pytest.mark.parametrize("k", [varying, AT_NODES, OF_ELEMENTS, MATERIALS, TENSOR])
def test_stored_factors_contain_k(k: Any) -> None:
    """As a function, as arrays, by material and as a tensor."""
    one, varied = cost("stored", 1.0), cost("stored", k)
    assert one[0] == varied[0]
    assert variable(one[1]) == variable(varied[1])


@pytest.mark.parametrize("metric", ["affine", "straight"])
def test_values_at_nodes_cost_one_number_each(metric: str) -> None:
    """Where factors are computed: 8 bytes a node for k, and 8 for c."""
    least = cost(metric, 1.0)[0]
    for k in (varying, AT_NODES):
        assert cost(metric, k)[0] - least <= 8 * COUNT * NODES
        assert cost(metric, k, varying)[0] - least <= 2 * 8 * COUNT * NODES
    assert cost(metric, OF_ELEMENTS)[0] - least <= 8 * COUNT
    assert cost(metric, MATERIALS)[0] - least <= 8 * COUNT
