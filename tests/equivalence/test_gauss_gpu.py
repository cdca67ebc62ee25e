"""The benchmark's operators with Gauss points on a GPU, against their definition."""

from __future__ import annotations

import pytest
from dense_spectral_elements import space_on
from gauss_integrals import MATRICES, problem, products, require_products

from groundswell.backends import Backend
from groundswell.meshes.box import Box

pytestmark = pytest.mark.gpu

BENT = Box((3, 3, 2), deform=lambda p: p + 0.1 * p[..., ::-1] * p[..., [1, 2, 0]], order=1)


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("degree", range(1, 16))
@pytest.mark.parametrize("scaled", [0, 3])
def test_degrees(gpu: Backend, degree: int, matrix: str, scaled: int) -> None:
    space = space_on(BENT, degree)
    require_products(gpu, (space, products(space, matrix)), matrix, scaled, "float64")


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_curved_elements(gpu: Backend, matrix: str, dtype: str) -> None:
    require_products(gpu, problem("curved", 4, matrix), matrix, 0, dtype)
