"""DG waves: the faces of faults on planes of forests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from groundswell.errors import InputError
from groundswell.meshes.octree import Forest, uniform_forest
from groundswell.meshes.octree_refinement import refine
from groundswell.solvers.dgwave.faults.faces import Plane, faces_on_plane

EDGES = [np.arange(5) * 100.0, np.arange(5) * 100.0, np.arange(4) * 100.0]
PLANE = Plane(1, 200.0, (100.0, 0.0), (400.0, 200.0))


def halved(where: Any) -> Forest:
    """A box of cubes, halved where their middle is chosen."""
    forest = uniform_forest(EDGES, 0)
    middles = np.mean(forest.boxes(), axis=0)
    chosen = where(*middles.T)
    return refine(forest, lambda lower, upper: chosen & (len(lower) == len(chosen)), 1)


def test_both_sides_may_be_halved() -> None:
    found = faces_on_plane(halved(lambda x, y, z: np.abs(y - 200) < 100), PLANE)
    assert found.count == 4 * 6
    assert faces_on_plane(halved(lambda x, y, z: y < 0), PLANE).count == 6


@pytest.mark.parametrize("side", [-50, 50])
def test_one_side_may_not_be_halved(side: int) -> None:
    forest = halved(lambda x, y, z: (y == 200 + side) & (x > 200))
    with pytest.raises(InputError, match=r"neighbours of another size; refine both"):
        faces_on_plane(forest, PLANE)


@pytest.mark.parametrize(
    ("plane", "text"),
    [
        (
            Plane(1, 230.0, (100, 0), (400, 200)),
            "y = 230 m is not between .* to 200 or 300 m",
        ),
        (Plane(1, 30.0, (100, 0), (400, 200)), "y = 30 m is not between .* to 100 or 200 m"),
        (Plane(1, 200.0, (130, 0), (400, 200)), "its end at x = 130 m is not .* move it to 100 m"),
        (Plane(1, 200.0, (100, 0), (400, 260)), "its end at depth = 260 m is not .* to 300 m"),
        (Plane(0, 0.0, (100, 0), (400, 200)), "no elements lie on both sides of x = 0 m within"),
    ],
)
def test_planes_off_the_elements_are_refused(plane: Plane, text: str) -> None:
    with pytest.raises(InputError, match=f"^{text}"):
        faces_on_plane(uniform_forest(EDGES, 0), plane)
