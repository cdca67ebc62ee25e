"""Solutions from Python, evaluated at points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import groundswell as gs
from groundswell.errors import InputError

DEGREE = 3


def bend(points: Any) -> Any:
    return points + 0.05 * np.sin(3 * points[..., [1, 2, 0]])


def cubic(x: Any, y: Any, z: Any) -> Any:
    return 1 + x**2 * y - 0.5 * z**3 + x * y * z


@pytest.fixture(scope="module")
def solution() -> Any:
    """A cubic polynomial, the exact solution, from its source and values on all sides."""
    sides: Any = {name: {"kind": "fixed", "value": cubic} for name in
                  ("west", "east", "south", "north", "bottom", "top")}  # fmt: skip
    box = gs.poisson.Box((2, 3, 2), high=(1.0, 2.0, 1.5))
    return gs.poisson.solve(box, DEGREE, lambda x, y, z: 3 * z - 2 * y, sides, tolerance=1e-13)


def test_values_on_lines_planes_and_in_boxes(solution: Any) -> None:
    random = np.random.default_rng(20251130)
    x, y, z = (np.sort(random.uniform(0, high, 5)) for high in (1.0, 2.0, 1.5))
    line = solution.at(x, 0.3, 1.1)
    assert line.dims == ("x",) and line.name == "u" and line.x.units == line.y.units == "m"
    np.testing.assert_allclose(line, cubic(x, 0.3, 1.1), atol=1e-10)
    plane = solution.at(x, 0.3, z)
    assert plane.dims == ("z", "x")
    np.testing.assert_allclose(plane, cubic(x, 0.3, z[:, None]), atol=1e-10)
    block = solution.at(x, y, z)
    np.testing.assert_allclose(block, cubic(x, y[:, None], z[:, None, None]), atol=1e-10)
    assert float(solution.at(0.5, 1.0, 0.75)) == pytest.approx(cubic(0.5, 1.0, 0.75), abs=1e-10)


def test_there_are_no_values_outside_the_mesh(solution: Any) -> None:
    found = solution.at([-0.1, 0.0, 1.0, 1.1], 0.0, 0.0)
    assert np.isnan(found).values.tolist() == [True, False, False, True]


def test_components_are_a_dataset_on_curved_elements() -> None:
    box = gs.poisson.Box((2, 2, 2), deform=bend, order=4)
    found = gs.poisson.solve(box, DEGREE, [1.0, 2.0], {"west": {"kind": "fixed"}})
    positions, numbers = found.positions[3], [0, 21, 42]
    for n in numbers:
        there = found.at(*positions[n])
        assert {*there} == {"u1", "u2"}
        assert float(there.u2) == pytest.approx(found.values[1, 3, n], rel=1e-6)


@pytest.mark.parametrize("wrong", [[[0.1], [0.2]], "half", [0.1, np.nan]])
def test_coordinates_are_numbers_or_lists(solution: Any, wrong: Any) -> None:
    with pytest.raises(InputError, match="give a number or a list of numbers, in m"):
        solution.at(0.5, wrong, 0.5)
