"""A rank's block: who is next to it, and how it describes itself."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from halo_oracle import around, needed, owners, random_cut, random_ghosts

from groundswell.exchange import Domain, Ghosts
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.ghosted_block import GhostedBlock
from groundswell.exchange.pattern import uniform

MARGIN = 3
FACES = [(-1, 0), (0, -1), (0, 1), (1, 0)]


def exchanged(cut: Decomposition, rank: int, ghosts: Ghosts) -> dict[tuple[int, ...], int]:
    """Neighbours in which a rank has ghosts, found point by point in the whole array."""
    held, inside = (
        around(owners(cut), cut, rank, 1, -1),
        around(np.ones(cut.shape), cut, rank, 1, 0),
    )
    wanted = needed(cut, rank, ghosts, MARGIN)
    shape, found = cut.block(rank).shape, {}
    for direction in product((-1, 0, 1), repeat=len(shape)):
        steps = list(zip(direction, shape, strict=True))
        at = tuple(0 if d < 0 else 1 if d == 0 else n + 1 for d, n in steps)
        if any(direction) and inside[at] and wanted[tuple(a + MARGIN - 1 for a in at)]:
            found[direction] = int(held[at])
    return found


def test_neighbours_are_those_whose_points_are_ghosts_on_either_side() -> None:
    rng = np.random.default_rng(4)
    for _ in range(300):
        cut = random_cut(rng)
        ghosts = random_ghosts(rng, len(cut.shape), MARGIN)
        rank = int(rng.integers(cut.ranks))
        mirrored = Ghosts(ghosts.high, ghosts.low, ghosts.corners)
        expected = exchanged(cut, rank, mirrored) | exchanged(cut, rank, ghosts)
        assert GhostedBlock(cut, rank, ghosts).neighbours == expected


def test_neighbours_in_the_middle_and_at_the_ends() -> None:
    cut = Decomposition((9, 9), (3, 3), (False, True))
    middle = GhostedBlock(cut, 4, uniform(1, 2))
    assert middle.coords == (1, 1) and middle.dims == (3, 3)
    assert middle.neighbours == dict(zip(FACES, (1, 3, 5, 7), strict=True))
    corner = GhostedBlock(cut, 0, uniform(1, 2, corners=True)).neighbours
    assert corner == {(0, -1): 2, (0, 1): 1, (1, -1): 5, (1, 0): 3, (1, 1): 4}
    assert corner.get((-1, 0)) is None
    low_only = GhostedBlock(cut, 4, Ghosts((1, 0), (0, 0)))
    assert low_only.neighbours == {(-1, 0): 1, (1, 0): 7}
    assert GhostedBlock(cut, 4, uniform(0, 2)).neighbours == {}


def test_a_rank_may_be_its_own_neighbour() -> None:
    assert Domain((6, 5), periodic=True, corners=False).neighbours == dict.fromkeys(FACES, 0)
    assert Domain((6, 5)).neighbours == {}


def test_thick_layers_reach_beyond_neighbours() -> None:
    cut = Decomposition((8,), (8,), (False,))
    assert GhostedBlock(cut, 3, uniform(3, 1)).neighbours == {(-1,): 2, (1,): 4}


@pytest.mark.parametrize(
    "ghosts, words",
    [
        (2, "ghosts 2 with corners"),
        ((1, (0, 2)), "ghosts (1, (0, 2)) with corners"),
        (Ghosts((1, 1), (2, 2)), "ghosts (1, 2) with corners"),
        (Ghosts((1, 1), (2, 2), corners=False), "ghosts (1, 2) without corners"),
    ],
)
def test_domains_describe_themselves(ghosts: object, words: str) -> None:
    domain = Domain((6, 5), ghosts, periodic=(False, True), transport="mpi")  # type: ignore[arg-type]
    assert repr(domain) == (
        "<Domain: shape (6, 5), dims (1, 1), rank 0 of 1 at (0, 0) with [0:6, 0:5], "
        f"{words}, periodic (False, True), device cpu, transport mpi>"
    )
    assert domain.shape == (6, 5) and domain.periodic == (False, True)
